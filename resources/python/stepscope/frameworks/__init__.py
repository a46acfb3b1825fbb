"""The framework arguments that are passed to PyTorch's objects. One file for each framework.

Each file contains
  TRAINERS   {module: {class: ...}}: classes whose construction is recorded as an object of kind "trainer"
  ARGUMENTS  {kind of object: {setting: (class, argument)}}: the framework's argument from which a setting comes
  ROOTS      packages that the user's files import if they use the framework
  CALLS      {last name of the user's call: {key of a change: [(argument, text of each of the change's values)]}}: where a
             change is made. The texts are a function of the value, or a dictionary, in which None means a value that
             cannot be expressed

The hooks read these files, and so does the patcher, which runs without torch: they import nothing from their framework.
"""
import importlib

_NAMES = ("lightning", "transformers", "accelerate", "timm", "fastai")


def flag(name):
    """An argument of CALLS that accepts True or False."""
    return name, {"true": "True", "false": "False"}


def number(name):
    """An argument of CALLS that accepts the value unchanged."""
    return name, str


def tables():
    """The modules of all frameworks."""
    return [table(name) for name in _NAMES]


def table(name):
    """The module of a framework."""
    return importlib.import_module(f"{__name__}.{name}")


def modules():
    """{module: (framework, classes)} of all frameworks: their trainers are recorded after the module is imported."""
    found = {}
    for name in _NAMES:
        for module, classes in table(name).TRAINERS.items():
            found[module] = (name, classes)
    return found
