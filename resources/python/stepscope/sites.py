"""Where in the user's files something happens: the place of the call, and of the calls around it.

A user's file is outside site-packages, the standard library and PyTorch. The hooks keep a `Call`: code objects and
instruction offsets, which are cheap to obtain; lines and columns are determined when the facts are written.
"""
import ast
import hashlib
import linecache
import os
import sys
import sysconfig

FRAMEWORKS = {
    "lightning": "lightning",
    "pytorch_lightning": "lightning",
    "lightning_fabric": "lightning",
    "transformers": "transformers",
    "accelerate": "accelerate",
    "timm": "timm",
    "fastai": "fastai",
}
_MOST_FRAMES = 5  # of the user's files, the innermost and those around it
_MOST_DEPTH = 80  # maximum number of frames that are examined
_MOST_BYTES = 4_000_000  # maximum bytes of a source file

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _library_folders():
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib") if paths.get(name)}
    folders |= {os.path.realpath(folder) for folder in folders}
    folders.add(os.path.dirname(os.__file__))
    return tuple(folder.rstrip(os.sep) + os.sep for folder in folders)


LIBRARIES = _library_folders()


def library_folders():
    """The folders without the user's files, as text for the libraries, which apply the rule of is_user_file()."""
    return os.fsencode("\n".join((*LIBRARIES, os.path.realpath(HERE) + os.sep, HERE)))


_known = {}  # by file name: whether it is a user's file
_passed = {}  # by file name: whether it is a file of these hooks or of PyTorch


def is_user_file(name):
    known = _known.get(name)
    if known is None:
        known = _known[name] = _is_user_file(name)
    return known


def _is_user_file(name):
    if name.startswith("<"):
        return name == "<stdin>" or name.startswith("<ipython")
    path = os.path.abspath(name)
    if path.startswith(HERE) or os.path.realpath(path).startswith(HERE):
        return False
    parts = path.split(os.sep)
    return "site-packages" not in parts and "dist-packages" not in parts and not path.startswith(LIBRARIES)


def _is_torch_or_hook(frame):
    name = frame.f_code.co_filename
    known = _passed.get(name)
    if known is None:
        module = frame.f_globals.get("__name__", "")
        known = module == "torch" or module.startswith("torch.") or os.path.abspath(name).startswith(HERE)
        known = _passed[name] = known or name.endswith((os.sep + "contextlib.py", os.sep + "functools.py"))
    return known


def caller(depth=2):
    """The innermost frame outside PyTorch and these hooks, which calls PyTorch, or None."""
    frame = sys._getframe(depth)
    while frame is not None:
        is_passed = _passed.get(frame.f_code.co_filename)
        if is_passed is None:
            is_passed = _is_torch_or_hook(frame)
        if not is_passed:
            break
        frame = frame.f_back
    return frame


class Call:
    """Where a call was made: (code, offset, line) of the user's frames, innermost first, and the framework in between."""

    __slots__ = ("frames", "framework")

    def __init__(self, frames, framework):
        self.frames, self.framework = frames, framework


def capture(frame):
    """The call that `frame` is making."""
    frames, framework = [], None
    for _ in range(_MOST_DEPTH):
        if frame is None or len(frames) == _MOST_FRAMES:
            break
        code = frame.f_code
        if is_user_file(code.co_filename):
            frames.append((code, frame.f_lasti, frame.f_lineno))
        elif not frames and framework is None:
            framework = FRAMEWORKS.get(str(frame.f_globals.get("__name__", "")).partition(".")[0])
        frame = frame.f_back
    return Call(tuple(frames), framework)


def capture_construction(instance, depth=2):
    """The call that creates `instance`, seen from within its class's __init__: skips the frames of its own __init__ and
    those of its base classes."""
    frame = sys._getframe(depth)
    while frame is not None and (_is_init_of(frame, instance) or _is_torch_or_hook(frame)):
        frame = frame.f_back
    return capture(frame)


def _is_init_of(frame, instance):
    code = frame.f_code
    if code.co_name not in ("__init__", "__post_init__", "__call__", "__new__") or not code.co_argcount:
        return False
    return frame.f_locals.get(code.co_varnames[0]) is instance


class Sources:
    """The user's files that sites refer to, with their contents when they are first needed."""

    def __init__(self):
        self._files = {}
        self._configurations = set()  # paths

    def file(self, path):
        """(text, sha256, lines, syntax tree) of a file; None if it cannot be read."""
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path):
        try:
            if os.path.getsize(path) > _MOST_BYTES:
                return None
            with open(path, "rb") as source:
                text = source.read()
        except OSError:
            text = "".join(linecache.getlines(path)).encode("utf-8", "replace")  # a notebook cell
            if not text:
                return None
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            tree = None
        return text, hashlib.sha256(text).hexdigest(), text.count(b"\n") + (not text.endswith(b"\n")), tree

    def add_configuration(self, path):
        """A configuration file that contains one of the settings."""
        self._configurations.add(path)
        self.file(path)

    def list(self):
        return [
            {"path": path, "sha256": entry[1], "lines": entry[2]}
            | ({"configuration": True} if path in self._configurations else {})
            for path, entry in sorted(self._files.items())
            if entry
        ]

    def site(self, frame, names=()):
        """The place of a frame's call in the format of the document.

        names: of the possible callees, which distinguish calls on one line before Python 3.11.
        """
        code, offset, line = frame
        path = os.path.abspath(code.co_filename) if not code.co_filename.startswith("<") else code.co_filename
        place = _positions(code, offset)
        if place is None:
            node = self._call_of_line(path, line, names)
            place = (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) if node else None
        self.file(path)
        first, last, column, end_column = place or (line, line, 0, 0)
        return {
            "file": path,
            "line": first,
            "column": column,
            "end_line": last,
            "end_column": end_column,
            "function": getattr(code, "co_qualname", code.co_name),
        }

    def _call_of_line(self, path, line, names):
        entry = self.file(path)
        if not entry or entry[3] is None:
            return None
        calls = [
            node for node in ast.walk(entry[3]) if isinstance(node, ast.Call) and node.lineno <= line <= node.end_lineno
        ]
        named = [node for node in calls if _callee(node) in names]
        starting = [node for node in named or calls if node.lineno == line]
        found = starting or named or calls
        # Of a chain f(x).g(), the innermost call is the one that starts at the same place and ends first.
        return min(found, key=lambda node: (node.end_lineno - node.lineno, node.end_col_offset)) if found else None

    def call_node(self, site):
        """The call of the syntax tree at a site, or None."""
        entry = self.file(site["file"])
        if not entry or entry[3] is None:
            return None
        place = (site["line"], site["column"], site["end_line"], site["end_column"])
        for node in ast.walk(entry[3]):
            if isinstance(node, ast.Call) and (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) == place:
                return node
        return None


_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def loops(tree):
    """The loops of a file, outer ones first: (first line, last line, first line of the function that contains it)."""
    found, rest = [], [(tree, 0)]
    while rest:
        node, function = rest.pop()
        if isinstance(node, _FUNCTIONS):
            function = node.lineno
        elif isinstance(node, _LOOPS):
            found.append((node.lineno, node.end_lineno, function))
        rest += [(child, function) for child in ast.iter_child_nodes(node)]
    return sorted(found, key=lambda loop: (loop[0], -loop[1]))


def _positions(code, offset):
    """(line, last line, column, last column) of the instruction; None before Python 3.11 or if they were not stored."""
    positions = getattr(code, "co_positions", None)
    if positions is None or offset < 0:
        return None
    for number, place in enumerate(positions()):
        if number == offset // 2:
            return place if None not in place else None
    return None


def _callee(node):
    called = node.func
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def argument_expressions(sources, site, parameters):
    """The arguments of the call at a site: {parameter: expression}, and whether it also passes *args or **kwargs.
    Keywords from a dictionary are looked up in the dictionaries of the same file.

    parameters: names of the callee's parameters, in order, for positional arguments.
    """
    node = sources.call_node(site)
    if node is None:
        return {}, True
    passed = {}
    for name, value in zip(parameters, node.args):
        if isinstance(value, ast.Starred):
            break
        passed[name] = value
    for keyword in node.keywords:
        if keyword.arg is not None:
            passed[keyword.arg] = keyword.value
    starred = any(keyword.arg is None for keyword in node.keywords) or any(isinstance(a, ast.Starred) for a in node.args)
    return passed, starred


def dictionary_values(tree, key):
    """Expressions that a file stores under a key: {"key": value}, dict(key=value) and name["key"] = value."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            found += [v for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant) and k.value == key]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            index = node.targets[0].slice
            if isinstance(index, ast.Constant) and index.value == key:
                found.append(node.value)
        elif isinstance(node, ast.Call) and _callee(node) == "dict":
            found += [keyword.value for keyword in node.keywords if keyword.arg == key]
    return found


def assigned_values(tree, name):
    """Expressions that a file assigns to a simple name."""
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
    ]
