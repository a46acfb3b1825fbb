"""What the arguments of each framework are called that reach PyTorch's objects. One file for each framework.

Each file has
  TRAINERS   {module: {class: ...}}: classes whose construction is recorded as an object of kind "trainer"
  ARGUMENTS  {kind of object: {setting: (class, argument)}}: the framework's argument that a setting comes from
"""
import importlib

_NAMES = ("lightning", "transformers", "accelerate", "timm", "fastai")


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
