"""Loads the patcher as its own program does, and creates facts documents for sources that are written in a test."""
import ast
import hashlib
import importlib
import importlib.util
import os
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")  # warnings of Python's parser about files that are not ours
sys.dont_write_bytecode = True
FOLDER = os.path.normpath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "resources", "python", "stepscope", "change")
)


def _load():
    spec = importlib.util.spec_from_file_location(
        "stepscope_change", os.path.join(FOLDER, "__init__.py"), submodule_search_locations=[FOLDER]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["stepscope_change"] = module
    spec.loader.exec_module(module)


_load()


def module(name):
    """A module of the patcher."""
    return importlib.import_module("stepscope_change." + name)


def site_of(path, call, function="main"):
    return {
        "file": path, "line": call.lineno, "column": call.col_offset, "end_line": call.end_lineno,
        "end_column": call.end_col_offset, "function": function,
    }


def called(call):
    """The last name of what a call calls; "()" for other expressions."""
    return getattr(call.func, "attr", None) or getattr(call.func, "id", None) or "()"


class Program:
    """Files in a temporary folder, and the facts about them."""

    def __init__(self, text="", name="train.py"):
        self._folder = tempfile.TemporaryDirectory(prefix="stepscope-change-")
        self.root = self._folder.name
        self.facts = {
            "schema": 1, "python": "3.11.7", "cwd": self.root, "script": None, "argv": ["python", name], "files": [],
            "objects": [], "arguments": [], "modules": [], "conv_bn": [],
        }
        self.path = self.add_file(name, text)
        self.facts["script"] = self.path

    def close(self):
        self._folder.cleanup()

    def add_file(self, name, text):
        data = text if isinstance(text, bytes) else text.encode("utf-8")
        path = os.path.join(self.root, name)
        with open(path, "wb") as file:
            file.write(data)
        lines = data.count(b"\n")
        self.facts["files"].append({"path": path, "sha256": hashlib.sha256(data).hexdigest(), "lines": lines})
        return path

    def read(self, path=None):
        with open(path or self.path, "rb") as file:
            return file.read()

    def calls(self, name, path=None):
        """Sites of the calls of a name, in the order of the file."""
        path = path or self.path
        found = [node for node in ast.walk(ast.parse(self.read(path))) if isinstance(node, ast.Call) and called(node) == name]
        return [site_of(path, call) for call in sorted(found, key=lambda call: (call.end_lineno, call.end_col_offset))]

    def add(self, kind, name, index=0, chain=(), settings=None, path=None, **fields):
        """An object of the facts at the index-th call of a name."""
        site = self.calls(name, path)[index] if name else None
        fields.setdefault("class", name)
        self.facts["objects"].append({
            "id": f"{kind}:{len(self.facts['objects'])}", "kind": kind, "framework": None, "site": site,
            "chain": list(chain), "settings": settings or {}, "role": None, "count": 1, **fields,
        })
        return self

    def answer(self, changes, **request):
        changes = [{"key": key, "to": to} for key, to in (changes.items() if isinstance(changes, dict) else changes)]
        return module("plan").answer({"schema": 1, "program": self.facts, "changes": changes, **request})

    def new_text(self, changes, path=None):
        """The text of a file after the changes; asserts that all of them were made in the source."""
        answer = self.answer(changes)
        for row in answer["changes"]:
            assert row["how"] == "source", row
        texts = {file["path"]: file["text"] for file in answer["files"]}
        return texts[path or self.path]


def setting(value, given=True, argument=None):
    return {"value": value, "given": given, "argument": argument}
