"""The parts of the program: the document `program` in the trace's metadata.

The hooks register objects (loaders, optimizers, models) and calls (zero_grad, autocast, torch.save) when they occur,
which costs little; the document is written after the first steps, again when something new is known, and when the
program ends. The last one counts. Its fields:

  schema, interpreter, python, torch, argv, cwd, script, module
  files      the user's files that sites refer to: path, sha256, lines; configuration files: configuration, true
  objects    id, kind, class, framework, site, chain, settings {name: {value, given, argument (the option that sets
             it), configuration (the place in a configuration file that sets it: file, line, column, end_column,
             key)}}, role, count, and by kind:
    loader      dataset {class, length, iterable, in_memory, and for a streaming one: sharded (among workers)}, sampler,
                collate_fn, made_by (id of the trainer object), framework_arguments {setting: argument of the trainer
                object}
    optimizer   groups [{setting: value}], parameters, bytes (of its state), implementation, backward_passes (for each of
                its steps: accumulation), skipped (steps that a GradScaler skipped)
    scheduler   optimizer (id)
    model       parameters, trainable, bytes, name_of_class, compiled, parallel
    clip        norm or value
    validation  grad (whether gradients were recorded), forwards, time_us, model
    backward    per_step
    cast        (double() of a module)
    flag        setting and value
    sync        what, device; count
    save, log   time_us
  arguments  options of the command line: dest, options, value, default, given, type
  environment, precision, loss, memory, seeds, modules, conv_bn, attention, training_phases
  forward_lines  lines that call a function of PyTorch repeatedly in the first forward pass: site, count (of all
             functions), function (the one called most), repeats (of it, for one layer)
"""
import json
import os
import sys
import time
import weakref

from . import sites
from .arguments import Arguments, plain
from .configs import Configurations

_MOST_OBJECTS = 500
_MOST_BYTES = 900_000  # of the document
_FIRST_STEPS = 4  # number of optimizer steps after which the document is written for the first time
_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "TORCH_CUDNN_V8_API_DISABLED",
    "NVIDIA_TF32_OVERRIDE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "TOKENIZERS_PARALLELISM",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
)


class Object:
    """An object that the program created, or a call site."""

    def __init__(self, kind, name, call, instance=None):
        self.kind, self.name, self.call = kind, name, call
        self.id = None
        self.settings = {}  # name: value, as passed or as found in the object
        self.given = None  # names of the arguments that were passed; None: determined from the call in the file
        self.parameters = ()  # names of the callee's parameters, for positional arguments
        self.fields = {}
        self.role = None
        self.count = 0
        self._instance = None
        if instance is not None:
            try:
                self._instance = weakref.ref(instance)
            except TypeError:
                pass

    @property
    def instance(self):
        return self._instance() if self._instance else None


class Facts:
    def __init__(self, session):
        self._session = session
        self.sources = sites.Sources()
        self.arguments = Arguments()
        self.configurations = Configurations()
        self.objects = []
        self._numbers = {}
        self._calls = {}  # objects that stand for calls, by kind and place
        self._codes = []
        self._by_instance = {}
        self.sections = []  # functions that add to the document
        self.describers = {}  # by kind: functions that update an object from its instance
        self.changed = False
        self.notes = []
        self._written_at = 0.0
        self._pause = 0.0
        self.seconds = 0.0  # processor time for describing the objects and writing the document
        self._is_child = False  # by fork
        self._main = None
        self._cwd = _cwd()  # where the program was started; it may change its directory
        self._steps = 0  # optimizer steps

    def restart(self):
        """Called when a recording begins: keeps living objects, with the places of their construction, and forgets
        calls."""
        self.objects = [entry for entry in self.objects if entry.instance is not None]
        for entry in self.objects:
            entry.count, entry.role = 0, None
            for name in ("backward_passes", "skipped", "first_lr", "lr_changed"):
                entry.fields.pop(name, None)
        self._by_instance = {id(entry.instance): entry for entry in self.objects}
        self._calls, self._codes, self.notes = {}, [], []
        self.sources = sites.Sources()
        self.changed = True
        self._written_at = self._pause = self.seconds = 0.0
        self._steps = 0

    def forked(self):
        """In a forked child, the objects are known, but the counts belong to the parent."""
        self._is_child = True
        self._steps = 0
        self._written_at = self._pause = self.seconds = 0.0
        for entry in self.objects:
            entry.count = 0

    @property
    def has_trained(self):
        return self._steps > 0

    # ---- registering ----

    def add(self, kind, name, call, instance=None):
        """A new object; None if there are already too many."""
        if len(self.objects) >= _MOST_OBJECTS:
            return None
        entry = Object(kind, name, call, instance)
        number = self._numbers[kind] = self._numbers.get(kind, -1) + 1
        entry.id = f"{kind}:{number}"
        self.objects.append(entry)
        if self._main is None:
            self._main_file()
        if instance is not None:
            self._by_instance[id(instance)] = entry
        self.changed = True
        return entry

    def of(self, instance):
        """The object of an instance, or None."""
        entry = self._by_instance.get(id(instance))
        return entry if entry is not None and entry.instance is instance else None

    def called(self, kind, name, depth=2):
        """Counts a call from its place; the first call from a place creates the object.

        For a known place, this costs only a dictionary lookup.
        """
        frame = sites.caller(depth + 1)
        # By identity: hashing a code object would visit all of its instructions.
        key = (kind, name, id(frame.f_code), frame.f_lasti) if frame is not None else (kind, name)
        entry = self._calls.get(key)
        if entry is None:
            if key in self._calls:
                return None
            if frame is not None:
                self._codes.append(frame.f_code)  # keeps the object alive, so that its identity is not reused
            entry = self._calls[key] = self.add(kind, name, sites.capture(frame))
            if entry is None:
                return None
        entry.count += 1
        return entry

    def note(self, text):
        if text not in self.notes and len(self.notes) < 20:
            self.notes.append(text)

    # ---- writing ----

    def optimizer_stepped(self):
        """Called after each optimizer step: describes the objects at the first step, because they may be gone when the
        program ends; writes the document after the first steps, and again if something new is known, at growing
        intervals."""
        self._steps += 1
        if self._steps == 1:
            self._describe_all()
            return
        if self._steps < _FIRST_STEPS or not self.changed:
            return
        at = time.monotonic()
        if self._written_at and at < self._written_at + self._pause:
            return
        self._pause = min(300.0, self._pause * 3 or 5.0)
        self.write()

    def _describe_all(self):
        began = time.thread_time()
        for entry in list(self.objects):
            self._describe(entry)
        self._session.models.describe()
        self.seconds += time.thread_time() - began

    def _describe(self, entry):
        """Updates an object from its instance, if it still exists."""
        describe, instance = self.describers.get(entry.kind), entry.instance
        if describe is not None and instance is not None:
            try:
                describe(entry, instance)
            except Exception as error:
                self.note(f"{entry.id}: {error!r}")

    def write(self):
        """Never raises: recording must not make a program fail."""
        if not self._session.is_recording or not self.objects:
            return
        if self._is_child and not self._steps:  # a loader worker, or another helper
            return
        began = time.thread_time()
        self.changed = False
        try:
            text = self._text()
            self._session.metadata("program", text)
            # Of several processes, the one that trained describes the program.
            self._session.metadata("program.steps", str(self._steps))
            self.seconds += time.thread_time() - began
            self._session.metadata("program.cost_us", str(round(self.seconds * 1e6)))
        except Exception as error:
            self._session.metadata("program.note", f"the program's facts could not be written: {error!r}")
        self._written_at = time.monotonic()

    def _text(self):
        document = self.document()
        text = json.dumps(document, separators=(",", ":"), allow_nan=False, default=str)
        for section in ("modules", "chain", "conv_bn"):
            if len(text) <= _MOST_BYTES:
                return text
            if section == "chain":
                for entry in document["objects"]:
                    entry["chain"] = []
            else:
                document["cut"] = document.get("cut", []) + [section]
                document[section] = document.get(section, [])[:100]
            text = json.dumps(document, separators=(",", ":"), allow_nan=False, default=str)
        return text

    def document(self):
        document = {
            "schema": 1,
            "interpreter": sys.executable,
            "python": sys.version.split()[0],
            "torch": str(getattr(sys.modules.get("torch"), "__version__", "")) or None,
            "argv": self.arguments.words,
            "cwd": self._cwd,
            **self._main_file(),
        }
        self.configurations.add_words(self.arguments)
        objects = []
        for entry in list(self.objects):
            if entry.kind == "validation" and not entry.count:
                continue  # a place from which a copy of a model was called in training
            try:
                objects.append(self._object(entry))
            except Exception as error:
                self.note(f"{entry.id}: {error!r}")
        document["objects"] = [entry for entry in objects if entry is not None]
        document["arguments"] = self.arguments.list()
        document["environment"] = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
        for section in self.sections:
            try:
                section(document)
            except Exception as error:
                self.note(f"{getattr(section, '__qualname__', section)}: {error!r}")
        document["training_phases"] = self._training_phases()
        document["files"] = self.sources.list()
        if self.notes:
            document["notes"] = list(self.notes)
        return document

    def _training_phases(self):
        """Which optimizers took which steps: models that are trained one after another are phases of the program."""
        return [
            {"optimizers": names, "first_step": first, "last_step": last}
            for names, first, last in self._session.steps.phases
        ]

    def _main_file(self):
        """The script, or the module that `python -m` runs, because Python has forgotten it when the program ends."""
        main = sys.modules.get("__main__")
        path = getattr(main, "__file__", None)
        if path and self._main is None:
            spec = getattr(main, "__spec__", None)
            module = spec.name if spec is not None else None
            if module is not None and module.endswith(".__main__"):
                module = module[: -len(".__main__")]
            self._main = {"script": os.path.abspath(path), "module": module}
        return self._main or {"script": None, "module": None}

    def _object(self, entry):
        self._describe(entry)
        names = (entry.name.rpartition(".")[2], entry.kind)
        places = [self.sources.site(frame, names) for frame in entry.call.frames] if entry.call else []
        return {
            "id": entry.id,
            "kind": entry.kind,
            "class": entry.name,
            "framework": entry.call.framework if entry.call else None,
            "site": places[0] if places else None,
            "chain": places[1:],
            "settings": self._settings(entry, places[0] if places else None),
            "role": entry.role,
            "count": entry.count,
            **entry.fields,
        }

    def _settings(self, entry, site):
        written, starred = (
            sites.argument_expressions(self.sources, site, entry.parameters)
            if site and not (entry.call and entry.call.framework)
            else ({}, False)
        )
        settings = {}
        for name, value in entry.settings.items():
            given = name in entry.given if entry.given is not None else name in written
            expressions = [written[name]] if name in written else []
            if not expressions and given and starred and site:
                expressions = sites.dictionary_values(self.sources.file(site["file"])[3], name)
            expressions = self._with_assigned(expressions, site)
            argument = self._argument(expressions, value)
            settings[name] = {"value": plain(value), "given": bool(given), "argument": argument}
            configuration = None
            if given and argument is None and site:
                configuration = self._configuration(expressions, name, value)
            if configuration is not None:
                settings[name]["configuration"] = configuration
        return settings

    def _with_assigned(self, expressions, site):
        """The expressions, and those that the file assigns to simple names among them."""
        import ast

        found = list(expressions)
        for expression in expressions:
            if isinstance(expression, ast.Name):
                found += sites.assigned_values(self.sources.file(site["file"])[3], expression.id)
        return found

    def _configuration(self, expressions, name, value):
        """The place in a configuration file from which the value comes, or None."""
        found = self.configurations.place(expressions, name, plain(value))
        if found is None:
            return None
        path, entry = found
        self.sources.add_configuration(path)
        return {
            "file": path,
            "line": entry.line,
            "column": entry.column,
            "end_column": entry.end_column,
            "key": ".".join(entry.keys),
        }

    def _argument(self, expressions, value):
        """The command-line option whose value was passed to the call, if one of the expressions is that option."""
        import ast

        for expression in expressions:
            while isinstance(expression, ast.Call) and len(expression.args) == 1:  # int(args.workers)
                expression = expression.args[0]
            if isinstance(expression, ast.Attribute):
                name = expression.attr
            elif isinstance(expression, ast.Name):
                name = expression.id
            else:
                continue
            if name in self.arguments and self.arguments.value(name) == plain(value):
                return name
        return None


def _cwd():
    try:
        return os.getcwd()
    except OSError:
        return None
