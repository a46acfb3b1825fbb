"""Applies the rows of the table: from a request to the answer."""
import ast
import base64
import difflib
import hashlib
import importlib.util
import os
import sys

from . import command
from .arguments import set_argument
from .code import Code, site_of
from .edits import ConfigurationCode, ConfigurationEdits, ConfigurationSource, Edits, Refusal, SetValue
from .source import Source
from .table import ROWS

SCHEMA = 1
# Reasons that also rule out a hook.
_FINAL = ("change.already", "change.no_object", "change.no_fused", "change.direction", "change.batch_sampler")
_LARGEST = 16 << 20  # maximum bytes of a source file; larger files are data


class Work:
    """The user's files and the edits made to them so far. A change is tried on a copy."""

    def __init__(self, program, changes, root, originals=None):
        self.program = program
        self._wanted = changes
        self._root = root
        self._originals = originals or {}
        files = program.get("files") or []
        self._hashes = {entry["path"]: entry.get("sha256") for entry in files}
        self._configurations = {entry["path"] for entry in files if entry.get("configuration")}
        self._codes = {}
        self.replaced = set()  # files of which the original was read
        self._edits = {}

    def attempt(self):
        other = object.__new__(Work)
        other.__dict__.update(self.__dict__)
        other._edits = {path: edits.copy() for path, edits in self._edits.items()}
        return other

    # What the facts say

    def wanted(self, key):
        """The value that the request sets for a key; None if it does not change it."""
        return self._wanted.get(key)

    def objects(self, kind):
        return [item for item in self.program.get("objects") or [] if item.get("kind") == kind]

    def training(self, kind):
        """The objects used for training; all of them if no roles are known."""
        items = self.objects(kind)
        return [item for item in items if item.get("role") == "training"] or [
            item for item in items if item.get("role") != "validation"
        ]

    # Files

    def paths(self):
        """The readable Python files of the user, by name."""
        found = []
        for path in sorted(self._hashes.keys() - self._configurations):
            try:
                self.code(path)
            except Refusal:
                continue
            found.append(path)
        return found

    def text(self, path):
        return self.code(path).source.text

    def code(self, path):
        known = self._codes.get(path)
        if known is None:
            try:
                is_configuration = path in self._configurations
                known = (ConfigurationCode if is_configuration else Code)(self._read(path))
            except Refusal as refusal:
                known = refusal
            self._codes[path] = known
        if isinstance(known, Refusal):
            raise known
        return known

    def _read(self, path):
        if path not in self._hashes:
            raise Refusal("not_recorded", f"{path} is not one of the recorded files.")
        place = self.place(path)
        try:
            if os.path.getsize(place) > _LARGEST:
                raise Refusal("cannot_read", f"{place} is too large for a source file.")
            with open(place, "rb") as file:
                source = self._source(path, file.read())
        except OSError as error:
            raise Refusal("cannot_read", f"{place} cannot be read: {error.strerror}.") from None
        if self._hashes[path] and source.sha256 != self._hashes[path]:
            source = self._original(path)
        return source

    def _original(self, path):
        """The recorded text of a file that was changed by patches since."""
        data = self._originals.get(path)
        if data is None or hashlib.sha256(data).hexdigest() != self._hashes[path]:
            raise Refusal("file_changed", f"{path} has changed since it was recorded. Record the program again.")
        self.replaced.add(path)
        return self._source(path, data)

    def _source(self, path, data):
        return (ConfigurationSource if path in self._configurations else Source)(path, data)

    def place(self, path):
        """The path from which a file is read: below `root` instead of the program's working directory."""
        base = self.program.get("cwd")
        if self._root and base and os.path.commonpath([base, path]) == base:
            return os.path.join(self._root, os.path.relpath(path, base))
        return path

    # Edits

    def edit(self, code, edit):
        path = code.source.path
        if path not in self._edits:
            self._edits[path] = (ConfigurationEdits if path in self._configurations else Edits)(code)
        self._edits[path].add(edit)

    def has_edits(self):
        return any(self._edits.values())

    def new_texts(self):
        """New texts by path; only files that change."""
        texts = {path: edits.render() for path, edits in sorted(self._edits.items())}
        return {path: text for path, text in texts.items() if text != self._codes[path].source.text}

    def sites_not_in(self, other):
        """Places of the edits that `other` does not contain."""
        sites = []
        for path, edits in sorted(self._edits.items()):
            for first, last in edits.nodes_not_in(other._edits.get(path)):
                sites.append(site_of(path, first, last))
        return sorted(sites, key=lambda site: (site["file"], site["line"], site["column"]))

    def texts(self):
        """By path: each file that was read, after the edits."""
        read = {path: code.source.text for path, code in self._codes.items() if not isinstance(code, Refusal)}
        return {**read, **self.new_texts()}

    def diff(self, other=None):
        """The diff from the recorded files, or from those of `other`, to the new ones."""
        before = other.texts() if other else {}
        texts = self.new_texts()
        for path in before:
            texts.setdefault(path, self.text(path))
        pairs = ((path, before.get(path, self.text(path)), text) for path, text in sorted(texts.items()))
        return "".join(_unified(path, old, new) for path, old, new in pairs if old != new)


def _unified(path, before, after):
    """A unified diff for patch(1) and git apply: line ends are preserved, and a missing one at the end is marked."""
    name = path.lstrip("/")
    lines = []
    for line in difflib.unified_diff(_lines(before), _lines(after), "a/" + name, "b/" + name, n=3):
        lines.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(lines)


def _lines(text):
    """Lines as in patch(1): only a line feed ends a line."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


class _Plan:
    def __init__(self, request, changes=None, originals=None):
        self._program = request["program"]
        self._changes = _changes_of(request) if changes is None else changes
        self._argv = list(request.get("argv") or self._program.get("argv") or [])
        self._first_argv = list(self._argv)
        self._work = Work(self._program, self._changes, request.get("root"), originals)
        self._hooks = {}

    def answer(self, wanted=None, before=None):
        """@param wanted  keys to report; None: all
        @param before  a completed plan: the diff starts from its files"""
        rows = self.rows()
        texts = self._work.new_texts()
        return {
            "schema": SCHEMA,
            "changes": [
                {**rows[key], "from": self._recorded(key)} for key in self._changes if wanted is None or key in wanted
            ],
            "files": [self._file(path, text) for path, text in texts.items()],
            "diff": self._work.diff(before._work if before else None),
            "command": self._argv if self._argv != self._first_argv else None,
            "hooks": self._hooks,
            "applied": None,
        }

    def rows(self):
        """The result of each change, by key."""
        rows = {}
        # In the order of the table, independent of the order of the request.
        for key in [key for key in ROWS if key in self._changes]:
            rows[key] = self._one(ROWS[key], self._changes[key])
        for key in self._changes:
            if key not in ROWS:
                reason = Refusal("unknown", f"{key} applies only to Stepscope's own trainer.")
                rows[key] = _row(key, self._changes[key], "to read", reason)
        return rows

    def is_on_disk(self):
        """Whether the user's files are the result of this plan for the recorded files, and at least one file
        differs."""
        self._work.paths()
        for path, text in self._work.texts().items():
            with open(self._work.place(path), "rb") as file:
                if file.read() != self._work.code(path).source.encode(text):
                    return False
        return bool(self._work.replaced)

    def _recorded(self, key):
        """The value in the recorded program, as text; None if it is not a single setting."""
        kind, name = ROWS[key].setting or (None, None) if key in ROWS else (None, None)
        values = {str(_setting(item, name)) for item in self._work.training(kind)} if kind else set()
        text = values.pop() if len(values) == 1 else "None"
        return None if text == "None" else {"True": "true", "False": "false"}.get(text, text)

    def _has(self, row, value):
        """Whether all recorded objects have the value."""
        kind, name = row.setting or (None, None)
        items = self._work.training(kind) if kind else []
        return bool(items) and all(_setting(item, name) == value for item in items)

    def _file(self, path, text):
        source = self._work.code(path).source
        before, after = (base64.b64encode(source.encode(part)).decode("ascii") for part in (source.text, text))
        return {"path": path, "sha256": source.sha256, "text": text, "before": before, "content": after}

    def _one(self, row, text):
        try:
            value = row.parse(text)
            if row.veto is not None:
                row.veto(self._work, value)
        except Refusal as refusal:
            return _row(row.key, text, "to read", refusal)
        reason = None
        for attempt in (self._by_argument, self._by_configuration, self._by_framework, self._by_source):
            try:
                done = attempt(row, text, value)
            except Refusal as refusal:
                if refusal.id in _FINAL:
                    return _row(row.key, text, "to read", refusal)
                reason = refusal
                continue
            if done is not None:
                return done
        if row.hook:
            self._hooks[row.key] = text
            return _row(row.key, text, "hook", reason, measurable=True)
        return self._to_read(row, text, value, reason)

    # The command line

    def _by_argument(self, row, text, value):
        if row.setting is None:
            return None
        kind, name = row.setting
        destinations = set()
        for item in self._work.training(kind):
            setting = (item.get("settings") or {}).get(name) or {}
            destinations.add(setting.get("argument"))
        if len(destinations) != 1 or None in destinations:
            return None
        return self._set_option(row, text, value, destinations.pop())

    def _set_option(self, row, text, value, destination):
        argument = next((a for a in self._program.get("arguments") or [] if a.get("dest") == destination), None)
        if argument is None or not self._argv:
            return None
        if argument.get("value") == value:
            raise Refusal("already", f"{row.key} is {text} in the recorded program.")
        # Look it up in the original command: changed options do not move the start of the program.
        start = command.program_start(self._first_argv, self._program)
        self._argv = command.set_option(self._argv, argument, text, start)
        return _row(row.key, text, "argument", None, measurable=True)

    # A configuration file

    def _by_configuration(self, row, text, value):
        """Changes the value in the configuration file from which all objects of the training get it."""
        if row.setting is None:
            return None
        kind, name = row.setting
        settings = [(item.get("settings") or {}).get(name) or {} for item in self._work.training(kind)]
        places = [setting.get("configuration") for setting in settings]
        if not places or not all(place is not None and place == places[0] for place in places):
            return None
        return self._set_in_file(row, text, value, places[0], settings[0].get("value"))

    def _set_in_file(self, row, text, value, place, recorded):
        if recorded == value and isinstance(recorded, bool) == isinstance(value, bool):
            raise Refusal("already", f"{row.key} is {text} in the recorded program.")
        code = self._work.code(place["file"])
        entry = code.entry_at(place)
        if entry is None:
            return None
        work = self._work.attempt()
        work.edit(code, SetValue(entry, value))
        return self._keep(row, text, work)

    # A framework's own argument

    def _by_framework(self, row, text, value):
        reason = None
        for adapter in _frameworks().tables():
            for last, arguments in adapter.CALLS.items():
                if row.key not in arguments:
                    continue
                names = [(name, _text_of(texts, text)) for name, texts in arguments[row.key]]
                calls = list(_framework_calls(self._work, adapter.ROOTS, last))
                if not calls or any(source is None for _, source in names):
                    continue
                if len(calls) > 1:
                    calls = self._calls_of_training(row, calls)
                if len(calls) != 1:
                    reason = Refusal("several", f"{last} is called in several places.")
                    continue
                place = self._trainer_setting(calls[0], names[0][0]).get("configuration")
                literal = _literal(names[0][1])
                if place is not None and literal is not None:
                    return self._set_in_file(row, text, literal, place, None)
                destination = self._destination(calls[0], names[0][0])
                try:
                    done = self._set_option(row, text, value, destination) if destination is not None else None
                except Refusal as refusal:
                    if refusal.id != "change.launcher":
                        raise
                    done = None  # in the source, which works however the program is started
                return done or self._framework_argument(row, text, calls[0], names)
        if reason is not None:
            raise reason
        return None

    def _calls_of_training(self, row, calls):
        """The calls that created the training's own objects, because a program may call create_loader() twice."""
        kind = row.setting[0] if row.setting else None
        recorded = [site for item in self._work.training(kind) for site in [item.get("site"), *(item.get("chain") or [])]]
        return [found for found in calls if any(_is_at(site, *found) for site in recorded)]

    def _destination(self, found, name):
        """The command-line option that sets a framework's argument; None if there is none. Hugging Face's parser has an
        option for each argument; other options are passed to a call whose arguments are recorded."""
        for argument in self._program.get("arguments") or []:
            if argument.get("dest") == name:
                return name
        return self._trainer_setting(found, name).get("argument")

    def _trainer_setting(self, found, name):
        """The recorded value of an argument of a framework's call; empty if nothing is recorded."""
        for item in self._work.objects("trainer"):
            if _is_at(item.get("site"), *found):
                return (item.get("settings") or {}).get(name) or {}
        return {}

    def _framework_argument(self, row, text, found, names):
        code, call = found
        work = self._work.attempt()
        present = {keyword.arg for keyword in call.keywords}
        for name, source in names:
            # An option that is off by default need not be turned off.
            if source != "False" or name in present or len(names) == 1:
                set_argument(work, [site_of(code.source.path, call)], name, None, source)
        return self._keep(row, text, work)

    # The user's source

    def _by_source(self, row, text, value):
        if row.source is None:
            return None
        if self._has(row, value):
            raise Refusal("already", f"{row.key} is {text} in the recorded program.")
        work = self._work.attempt()
        row.source(work, value)
        return self._keep(row, text, work)

    def _keep(self, row, text, work):
        work.new_texts()  # raises Refusal if the edits conflict
        sites = work.sites_not_in(self._work)
        if not sites:
            raise Refusal("already", f"{row.key} is {text} in the recorded program.")
        self._work = work
        return _row(row.key, text, "source", None, measurable=True, sites=sites)

    def _to_read(self, row, text, value, reason):
        answer = _row(row.key, text, "to read", reason)
        if row.proposal is None:
            return answer
        work = Work(self._program, self._changes, self._work._root, self._work._originals)
        try:
            row.proposal(work, value)
            answer["proposal"] = work.diff()
            answer["sites"] = work.sites_not_in(Work(self._program, {}, None))
            answer["why_not"] = Refusal("not_measured", "The diff is a proposal: it changes what the program does.").message()
        except Refusal as refusal:
            answer["why_not"] = refusal.message()
        return answer


def _is_at(site, code, call):
    """Whether a recorded site is this call."""
    return bool(site) and site["file"] == code.source.path and code.call_at(site) is call


def _frameworks():
    """The framework tables, which the hooks use as well: the folder next to this one, without its other modules."""
    name = "stepscope_frameworks"
    if name not in sys.modules:
        folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "frameworks")
        spec = importlib.util.spec_from_file_location(
            name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def _framework_calls(work, roots, last):
    for path in work.paths():
        code = work.code(path)
        imported = set()
        for node in ast.walk(code.tree):
            if isinstance(node, ast.Import):
                imported.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.split(".")[0])
        if not imported.intersection(roots):
            continue
        for node in ast.walk(code.tree):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
                if called == last:
                    yield code, node


def _text_of(texts, text):
    return texts(text) if callable(texts) else texts.get(text)


def _literal(source):
    """The value of a Python literal; None for other expressions."""
    try:
        return ast.literal_eval(source)
    except (ValueError, SyntaxError):
        return None


def _setting(item, name):
    return ((item.get("settings") or {}).get(name) or {}).get("value")


def _row(key, text, how, reason, measurable=False, sites=()):
    return {
        "key": key, "to": text, "how": how, "measurable": measurable, "proposal": None,
        "why_not": reason.message() if reason else None, "sites": list(sites),
    }


def _changes_of(request):
    return {change["key"]: str(change["to"]) for change in request["changes"]}


def _plan_of_request(request):
    """The plan of a request. If changes were applied to the files since the recording, the requested ones are added to
    them."""
    wanted = _changes_of(request)
    done, originals = _applied(request)
    now = _Plan(request, done, originals)
    now.rows()
    if not now.is_on_disk():
        return _Plan(request).answer()
    without = request["applied"].get("without") or []
    if without:
        before, kept = now, {key: to for key, to in done.items() if key not in without}
    else:
        # A change that is already applied is reported with the diff that it makes.
        before, kept = _Plan(request, {key: to for key, to in done.items() if key not in wanted}, originals), done
        before.rows()
    answer = _Plan(request, {**kept, **wanted}, originals).answer(wanted, before)
    answer["applied"] = {"changes": [{"key": key, "to": to} for key, to in done.items()], "files": sorted(originals)}
    return answer


def _applied(request):
    """The changes that were applied to the recorded files, and the originals of those files."""
    hashes = {entry["path"]: entry.get("sha256") for entry in request["program"].get("files") or []}
    changes, originals = {}, {}
    for path, file in sorted(((request.get("applied") or {}).get("files") or {}).items()):
        data = base64.b64decode(file["original"])
        if hashes.get(path) == hashlib.sha256(data).hexdigest():
            changes.update(_changes_of(file))
            originals[path] = data
    return changes, originals


def answer(request):
    """The answer to a request; with "each", one answer per change.

    A request may contain "applied": {"files": {path: {"original": Base64, "changes": [{key, to}]}}, "without": [key]}:
    the changes that were applied to files, the previous contents of the files, and the changes to revert. It is used
    only if the originals are the recorded files, and the files are the result of the changes. The answer's "applied"
    then names the changes and the files, the diff starts from the files without the requested changes, and "files"
    contains all changes.

    @raises Refusal if the request itself is invalid
    """
    if request.get("schema") != SCHEMA or not isinstance(request.get("program"), dict):
        raise Refusal("request", "The request contains no program of schema 1.")
    if request.get("each"):
        answers = [_plan_of_request({**request, "changes": [change]}) for change in request["changes"]]
        return {"schema": SCHEMA, "answers": answers}
    return _plan_of_request(request)
