"""Configuration files: which of them the program reads, and where the value of a setting is written in them.

Hooks in the parsers of common packages report the files that they read; the command line may name further ones. The
places of values are determined when the facts are written.
"""
import ast
import functools
import os

from . import sites

_MOST = 50  # maximum number of files


class Configurations:
    def __init__(self):
        self._paths = {}  # in the order in which they were read
        self._texts = None

    def add(self, source):
        """Records a file, or its name, that a parser reads. Files that are not configuration files are ignored."""
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
        """Records files that the command line or the default value of an option names."""
        for word in arguments.words:
            self.add(word.rpartition("=")[2])
        for entry in arguments.list():
            if isinstance(entry["value"], str):
                self.add(entry["value"])

    def files(self):
        """(path, text) of the readable files."""
        if self._texts is None:
            self._texts = []
            for path in self._paths:
                text = _text(path)
                if text is not None:
                    self._texts.append((path, text))
        return self._texts

    def place(self, expressions, name, value):
        """(path, entry of config_values) of the setting `name` with this value, or None.

        @param expressions  passed to the call; none: the setting comes from a mapping or from the caller
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
    """["config", "data", "batch_size"] for config["data"].batch_size and for int(config.data.get("batch_size", 1));
    empty for any other expression."""
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
    """Reports the file that is passed to a parser's function."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def parse(*args, **named):
        try:
            if len(args) > position:
                configurations.add(args[position])
        except Exception:  # an error in our code must not break the program
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
