"""What frameworks call the settings that they hand on to torch. One file per framework.

Each has ROOT, the name of its package(s), and CALLS: the user's call that takes the setting, by its last name, with the
arguments for each change. An argument is (name, text of the value by the change's value); `None` as a text means that the
change has no value of its own there, and a function makes the text of any value.
"""
import importlib
import os

NAMES = sorted(
    os.path.splitext(entry)[0] for entry in os.listdir(os.path.dirname(os.path.abspath(__file__)))
    if entry.endswith(".py") and entry != "__init__.py"
)


def flag(name):
    """An argument that takes True or False."""
    return name, {"true": "True", "false": "False"}


def number(name):
    """An argument that takes the value as it is."""
    return name, str


def adapters():
    """All of them, by name."""
    return {name: importlib.import_module(f"{__name__}.{name}") for name in NAMES}
