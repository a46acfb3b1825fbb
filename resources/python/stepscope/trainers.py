"""Trainers of frameworks: the objects through whose arguments a user configures PyTorch's objects."""
import dataclasses
import functools
import inspect

from . import frameworks, sites, tracing
from .guard import guarded


def patches():
    """{module: function that patches it}, for each module that contains trainers."""
    return {
        module: functools.partial(_patch, framework=framework, names=names)
        for module, (framework, names) in frameworks.modules().items()
    }


def _patch(module, framework, names):
    session = tracing.current()
    if _add_framework_arguments not in session.facts.sections:
        session.facts.sections.append(_add_framework_arguments)
    for name in names:
        holder = getattr(module, name, None)
        if inspect.isclass(holder):
            _patch_class(holder, name, framework)
        elif callable(holder):
            setattr(module, name, _recorded_function(holder, name, framework))


def _patch_class(holder, name, framework):
    if dataclasses.is_dataclass(holder):
        _patch_dataclass(holder, name, framework)
        return
    make = holder.__init__
    parameters = [parameter for parameter in inspect.signature(make).parameters if parameter != "self"]

    @functools.wraps(make)
    def __init__(self, *arguments, **named):
        _trainer_made(self, f"{holder.__module__}.{name}", framework, parameters, arguments, named)
        make(self, *arguments, **named)

    holder.__init__ = __init__


@guarded
def _trainer_made(trainer, written, framework, parameters, arguments, named):
    facts = tracing.current().facts
    entry = facts.of(trainer)
    if entry is None:
        entry = _add(facts, written, sites.capture_construction(trainer), framework, trainer)
    if entry is not None and not entry.settings:
        _fill(entry, parameters, arguments, named)


def _patch_dataclass(holder, name, framework):
    """Arguments in the form of a dataclass: derived classes have their own __init__."""
    check = holder.__post_init__
    tables = frameworks.table(framework).ARGUMENTS.values()
    wanted = {argument for table in tables for owner, argument in table.values() if owner == name}

    @functools.wraps(check)
    def __post_init__(self):
        _arguments_made(self, holder, name, framework, wanted)
        check(self)

    holder.__post_init__ = __post_init__


@guarded
def _arguments_made(instance, holder, name, framework, wanted):
    facts = tracing.current().facts
    if facts.of(instance) is not None:
        return
    entry = _add(facts, f"{holder.__module__}.{name}", sites.capture_construction(instance), framework, instance)
    if entry is not None:
        values = {field: getattr(instance, field) for field in wanted if hasattr(instance, field)}
        entry.parameters = [field.name for field in dataclasses.fields(holder) if field.init]
        entry.settings = {field: getattr(value, "value", value) for field, value in values.items()}
        entry.count = 1


def _recorded_function(function, name, framework):
    parameters = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def recorded(*arguments, **named):
        _function_called(f"{function.__module__}.{name}", framework, parameters, arguments, named)
        return function(*arguments, **named)

    return recorded


@guarded
def _function_called(written, framework, parameters, arguments, named):
    facts = tracing.current().facts
    entry = _add(facts, written, sites.capture(sites.caller(2)), framework)
    if entry is not None:
        _fill(entry, parameters, arguments, named)


def _add(facts, name, call, framework, instance=None):
    entry = facts.add("trainer", name, call, instance)
    if entry is not None:
        entry.fields["framework"] = framework
    return entry


def _fill(entry, parameters, arguments, named):
    entry.parameters = parameters
    passed = {**dict(zip(parameters, arguments)), **named}
    entry.settings = {
        name: value
        for name, value in passed.items()
        if isinstance(value, (bool, int, float, str, type(None), list, tuple)) or name in ("precision", "optim")
    }
    entry.given = set(passed)
    entry.count = 1


def _add_framework_arguments(document):
    """For each object, the framework's argument from which a setting comes, and the object that has the argument."""
    trainers = {}
    for entry in document["objects"]:
        if entry["kind"] == "trainer":
            trainers.setdefault((entry["framework"], entry["class"].rpartition(".")[2]), entry)
    for framework in {key[0] for key in trainers}:
        table = frameworks.table(framework).ARGUMENTS
        for entry in document["objects"]:
            names = table.get(entry["kind"])
            if not names or (entry["framework"] not in (framework, None) and entry["kind"] != "trainer"):
                continue
            found = {
                setting: {"object": trainers[framework, owner]["id"], "argument": argument}
                for setting, (owner, argument) in names.items()
                if (framework, owner) in trainers
            }
            if found and entry["framework"] == framework:
                entry["framework_arguments"] = found
