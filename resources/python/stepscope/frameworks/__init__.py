"""What the arguments of each framework are called that reach PyTorch's objects. One file for each framework.

Each file has
  TRAINERS   {module: {class: ...}}: classes whose construction is recorded as an object of kind "trainer"
  ARGUMENTS  {kind of object: {setting: (class, argument)}}: the framework's argument that a setting comes from
  ROOTS      the packages that a file of the user's imports who uses it
  CALLS      {last name of the user's call: {key of a change: [(argument, text of each of the change's values)]}}: where a
             change is made. The texts are a dictionary, in which None is a value without a text, or a function of the value

The hooks read these files, and the patcher does, which has no torch: they import nothing of their framework's.
"""
import importlib

_NAMES = ("lightning", "transformers", "accelerate", "timm", "fastai")


def flag(name):
    """An argument of CALLS that takes True or False."""
    return name, {"true": "True", "false": "False"}


def number(name):
    """An argument of CALLS that takes the value as it is."""
    return name, str


def tables():
    """The files of all frameworks."""
    return [table(name) for name in _NAMES]


def table(name):
    """The file of a framework."""
    return importlib.import_module(f"{__name__}.{name}")


def modules():
    """{module: (framework, classes)} of all frameworks: their trainers are recorded once the module is imported."""
    found = {}
    for name in _NAMES:
        for module, classes in table(name).TRAINERS.items():
            found[module] = (name, classes)
    return found
