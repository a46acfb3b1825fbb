"""Configuration files: which of them the program reads, and where a setting's value is written in them.

The parsers of the program's packages say which files they read; the command line names further ones. Where a value is
written is worked out when the facts are written.
"""
import ast
import functools
import os

from . import sites

_MOST = 50  # files


class Configurations:
    def __init__(self):
        self._paths = {}  # in the order in which they were read
        self._texts = None

    def add(self, source):
        """A parser reads this: a file, or its name. Others, and what is not a configuration file, are left out."""
        from .change import config_values

        name = getattr(source, "name", source)
        if not isinstance(name, (str, os.PathLike)):
            return
        name = os.fspath(name)
        if not isinstance(name, str) or not config_values.is_configuration(name) or len(self._paths) >= _MOST:
            return
        path = os.path.abspath(name)
        if path not in self._paths and sites.is_user_file(path):
            self._paths[path] = None
            self._texts = None

    def add_words(self, arguments):
        """Files that the command line or the default of an option names."""
        for word in arguments.words:
            self.add(word.rpartition("=")[2])
        for entry in arguments.list():
            if isinstance(entry["value"], str):
                self.add(entry["value"])

    def files(self):
        """(path, text) of those that can be read."""
        if self._texts is None:
            self._texts = []
            for path in self._paths:
                text = _text(path)
                if text is not None:
                    self._texts.append((path, text))
        return self._texts

    def place(self, expressions, name, value):
        """(path, entry of config_values) of the setting `name` with this value; None.

        @param expressions  that reach the call; none: the setting comes out of a mapping or from the caller
        """
        from .change import config_values

        if not self.files():
            return None
        chains = [names for names in map(_names, expressions) if names] if expressions else [[name]]
        for names in chains:
            found = config_values.find(self.files(), names, value)
            if found is not None:
                return found
        return None


def _text(path):
    from .change import config_values

    try:
        if os.path.getsize(path) > config_values.LARGEST:
            return None
        with open(path, "rb") as file:
            return file.read().decode("utf-8")
    except (OSError, ValueError):
        return None


def _names(expression):
    """["config", "data", "batch_size"] of config["data"].batch_size and of int(config.data.get("batch_size", 1)); empty
    where the expression is something else."""
    while isinstance(expression, ast.Call) and len(expression.args) == 1 and isinstance(expression.func, ast.Name):
        expression = expression.args[0]  # int(…)
    names = []
    while True:
        if isinstance(expression, ast.Attribute):
            names.append(expression.attr)
            expression = expression.value
        elif isinstance(expression, ast.Subscript):
            index = getattr(expression.slice, "value", expression.slice)
            index = index.value if isinstance(index, ast.Constant) else index
            if not isinstance(index, str):
                return []
            names.append(index)
            expression = expression.value
        elif isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute) and expression.func.attr == "get":
            key = expression.args[0] if expression.args else None
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                return []
            names.append(key.value)
            expression = expression.func.value
        elif isinstance(expression, ast.Name):
            names.append(expression.id)
            return names[::-1]
        else:
            return names[::-1]


def _wrap(owner, name, configurations, position=0):
    """Reports the file that a parser's function gets as its argument."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def parse(*args, **named):
        try:
            if len(args) > position:
                configurations.add(args[position])
        except Exception:  # whatever the program parses, it is not to fail because of us
            pass
        return function(*args, **named)

    setattr(owner, name, parse)


def patch_load(module, configurations):
    """json, yaml, tomllib, tomli and toml: load(file)."""
    _wrap(module, "load", configurations)


def patch_ruamel(module, configurations):
    """ruamel.yaml.main: YAML().load(file or path)."""
    _wrap(module.YAML, "load", configurations, 1)


def patch_configparser(module, configurations):
    """configparser: read() and read_file() call _read(file, name)."""
    _wrap(module.RawConfigParser, "_read", configurations, 2)
