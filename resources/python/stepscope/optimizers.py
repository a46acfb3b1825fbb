"""Optimizers, schedulers, gradient scalers and clipping: their steps as phases, and their properties."""
import functools
import inspect

from . import sites, tracing
from .arguments import plain
from .guard import guarded, report
from .loaders import class_name, record_loader

_KEPT_OUT = ("params", "param_names")  # of a group's settings


def is_compiling():
    """Whether Dynamo traces this call: Python no longer calls what it compiles, so our calls must not be part of it."""
    return (_is_compiling or _find_is_compiling())()


_is_compiling = None  # PyTorch's function; known when torch has been imported


def _find_is_compiling():
    global _is_compiling
    import torch

    found = getattr(getattr(torch, "compiler", None), "is_compiling", None)
    if found is None:  # torch is still being imported
        return _not_compiling
    _is_compiling = found
    return found


def _not_compiling():
    return False


def as_phase(name, function, kind=None):
    """Wraps a function so that each call of it is a phase. kind: of the object that stands for its calls."""

    session = tracing.current()
    written = getattr(function, "__qualname__", name)

    @functools.wraps(function)
    def recorded(*arguments, **named):
        if (_is_compiling or _find_is_compiling())():
            return function(*arguments, **named)
        is_open = _zeroing_begins(session, kind, written, name, arguments, named)
        try:
            return function(*arguments, **named)
        finally:
            if is_open:
                _zeroing_ends(session)

    return recorded


# The functions that are called in each step catch their errors themselves: see Session.open().


def _zeroing_begins(session, kind, written, name, arguments, named):
    try:
        if kind is not None:
            entry = session.facts.called(kind, written)
            if entry is not None and not entry.settings:
                _note_zero_grad(entry, arguments, named)
        with session.lock:
            session.phases.zero_grad_began(session.now())
        return session.open("phase", name)
    except Exception as error:
        report("_zeroing_begins", error)
        return False


def _zeroing_ends(session):
    session.close()
    try:
        with session.lock:
            session.phases.zero_grad_ended(session.now())
    except Exception as error:
        report("_zeroing_ends", error)


def _note_zero_grad(entry, arguments, named):
    entry.parameters = ("set_to_none",)
    value = named.get("set_to_none", arguments[1] if len(arguments) > 1 else True)
    entry.settings = {"set_to_none": bool(value)}
    entry.given = {"set_to_none"} if len(arguments) > 1 or "set_to_none" in named else set()


def _outside_of(optimizer, closure):
    """The closure that an optimizer calls in its step, usually forward and backward, does not belong to the optimizer
    phase."""

    @functools.wraps(closure)
    def recorded(*arguments, **named):
        session = tracing.current()
        session.optimizer_ends()
        try:
            return closure(*arguments, **named)
        finally:
            session.optimizer_begins(optimizer)

    return recorded


def patch_optimizer(module):
    """torch.optim.optimizer: records each optimizer's step and zero_grad, including those of classes defined later."""
    session = tracing.current()
    session.facts.describers["optimizer"] = _describe
    module.Optimizer.zero_grad = as_phase("zero grad", module.Optimizer.zero_grad, "zero_grad")
    _patch_construction(module.Optimizer)

    # LibTorch's own hooks are called around step(), even if a class overrides it.
    def before(optimizer, arguments, named):
        if (_is_compiling or _find_is_compiling())():
            return None
        session.optimizer_begins(optimizer)
        if len(arguments) > 1 and callable(arguments[1]):
            return (arguments[0], _outside_of(optimizer, arguments[1]), *arguments[2:]), named
        if callable(named.get("closure")):
            return arguments, {**named, "closure": _outside_of(optimizer, named["closure"])}
        return None

    def after(optimizer, *_):
        if (_is_compiling or _find_is_compiling())():
            return
        innermost = session.optimizer_ends()
        # A wrapper (Lookahead, SAM) steps with the optimizer that it wraps: its own step is the one that counts.
        if innermost:
            stepped(session, optimizer)

    module.register_optimizer_step_pre_hook(before)
    module.register_optimizer_step_post_hook(after)


def patch_module(module, has_optimizers):
    """torch.nn.modules.module: zero_grad() of a model. In a program without an optimizer, it ends a training step,
    because the manual update of the parameters comes before it.

    has_optimizers: returns whether the program has created an optimizer
    """
    kind = module.Module
    zero = as_phase("zero grad", kind.zero_grad, "zero_grad")

    @functools.wraps(zero)
    def zero_grad(self, *arguments, **named):
        if not has_optimizers() and not is_compiling():
            _stepped_without_optimizer(self)
        return zero(self, *arguments, **named)

    kind.zero_grad = zero_grad


@guarded
def _stepped_without_optimizer(module):
    session = tracing.current()
    with session.lock:
        if not session.phases.has_backwards():
            return
        now = session.now()
        session.phases.optimizer_stepped(now)
        session.phases.count_backwards(None)
        session.models.trained_without_optimizer(module)
        session.lines.trained()
        session.steps.optimized(now, module)
        record_loader(session)
        session.facts.optimizer_stepped()


def patch_fastai(module):
    """fastai.optimizer: optimizers that are not derived from PyTorch's, and whose steps PyTorch's hooks do not see."""
    kind = module.Optimizer
    _patch_construction(kind)
    kind.zero_grad = as_phase("zero grad", kind.zero_grad)  # which has no argument set_to_none
    step = kind.step

    @functools.wraps(step)
    def recorded(self, *arguments, **named):
        session = tracing.current()
        session.optimizer_begins(self)
        is_innermost = False
        try:
            result = step(self, *arguments, **named)
            is_innermost = session.optimizer_ends()
        except BaseException:
            session.close_raised_optimizers()
            raise
        if is_innermost:
            stepped(session, self)
        return result

    kind.step = recorded


def stepped(session, optimizer):
    """An optimizer has stepped, or would have stepped if a gradient scaler had not skipped it."""
    try:
        _stepped(session, optimizer)
    except Exception as error:
        report("stepped", error)


def _stepped(session, optimizer):
    with session.lock:
        now = session.now()
        session.phases.optimizer_stepped(now)
        entry = session.facts.of(optimizer)
        if entry is None:
            entry = _register(session.facts, optimizer, None)
        if entry is not None:
            entry.count += 1
            session.steps.names[id(optimizer)] = entry.id
            session.phases.count_backwards(entry)
            session.facts.called("optimizer_step", entry.name, depth=3)
            session.models.attach()
            session.lines.trained()
        session.steps.optimized(now, optimizer)
        record_loader(session)
        _record_optimizer(session, optimizer)
        session.facts.optimizer_stepped()


def _register(facts, optimizer, call):
    entry = facts.add("optimizer", class_name(type(optimizer)), call, optimizer)
    if entry is not None:
        signature = inspect.signature(type(optimizer).__init__)
        entry.parameters = [name for name in signature.parameters if name != "self"]
    return entry


def _patch_construction(optimizer_class):
    make = optimizer_class.__init__

    @functools.wraps(make)
    def __init__(self, *arguments, **named):
        make(self, *arguments, **named)
        optimizer_made(self)

    optimizer_class.__init__ = __init__


@guarded
def optimizer_made(optimizer):
    session = tracing.current()
    session.steps.optimizer_made(optimizer)
    if session.facts.of(optimizer) is None:
        _register(session.facts, optimizer, sites.capture_construction(optimizer))
    session.models.optimizer_made(optimizer)


def optimizer_found(optimizer):
    """Registers an optimizer that was created before the hooks were installed."""
    session = tracing.current()
    session.steps.optimizer_made(optimizer)
    _register(session.facts, optimizer, None)
    session.models.optimizer_made(optimizer)


def _describe(entry, optimizer):
    groups = []
    count = size = 0
    for group in optimizer.param_groups:
        groups.append({name: plain(_value(value)) for name, value in group.items() if name not in _KEPT_OUT})
        for parameter in group["params"]:
            count += parameter.numel()
            size += parameter.numel() * parameter.element_size()
    first = dict(groups[0]) if groups else {}
    # Schedules change the learning rate: the argument is its initial value.
    begun = entry.fields.setdefault("first_lr", first.get("initial_lr", first.get("lr")))
    entry.fields["lr_changed"] = first.get("lr") != begun
    first.pop("initial_lr", None)
    if begun is not None:
        first["lr"] = begun
    if "wd" in first:  # fastai's name
        first.setdefault("weight_decay", first.pop("wd"))
    entry.settings = first
    entry.fields["groups"] = groups[:20]
    entry.fields["parameters"] = count
    entry.fields["parameter_bytes"] = size
    entry.fields["tensors"] = sum(len(group["params"]) for group in optimizer.param_groups)
    entry.fields["implementation"] = _implementation(optimizer)
    entry.fields["bytes"] = sum(
        value.numel() * value.element_size()
        for state in list(optimizer.state.values())[:5000]
        if isinstance(state, dict)
        for value in state.values()
        if hasattr(value, "element_size")
    )


def _value(value):
    if hasattr(value, "device") and hasattr(value, "item"):  # a learning rate that is a tensor
        return value.item() if value.device.type == "cpu" and value.numel() == 1 else "a tensor"
    return value


def _implementation(optimizer):
    """The implementation that PyTorch chooses: fused, foreach or a loop over the tensors; None: not a PyTorch
    optimizer."""
    if not type(optimizer).__module__.startswith("torch.optim"):
        return None
    group = optimizer.param_groups[0]
    if group.get("fused"):
        return "fused"
    if group.get("foreach") is not None:
        return "foreach" if group["foreach"] else "for-loop"
    if "foreach" not in group:
        return None
    parameters = [parameter for g in optimizer.param_groups for parameter in g["params"]]
    # PyTorch's own default: foreach if all parameters are on a device that supports it.
    on_device = all(parameter.device.type in ("cuda", "xpu", "mtia") for parameter in parameters)
    return "foreach" if parameters and on_device else "for-loop"


def _settings_text(optimizer):
    """The arguments that create such an optimizer, in Python syntax; arguments with default values are omitted."""
    group = optimizer.param_groups[0]
    texts = []
    for name, parameter in inspect.signature(type(optimizer).__init__).parameters.items():
        if name in ("self", "params", "foreach", "fused", "capturable") or name not in group:
            continue
        value = group.get("initial_lr", group["lr"]) if name == "lr" else group[name]
        plain = value if isinstance(value, (tuple, list)) else (value,)
        if not all(isinstance(part, (bool, int, float, str, type(None))) for part in plain):
            value = value.item() if name == "lr" and hasattr(value, "item") and value.device.type == "cpu" else None
            if value is None:
                continue
        if name == "lr" or value != parameter.default:
            texts.append(f"{name}={value!r}")
    return ", ".join(texts)


def _record_optimizer(session, optimizer):
    """Facts about an optimizer that has just stepped for the first time: its class and its settings."""
    if id(optimizer) in session.reported_optimizers:
        return
    session.reported_optimizers.add(id(optimizer))
    session.metadata("optimizer.count", str(len(session.reported_optimizers)))
    if len(session.reported_optimizers) > 1:
        return
    kind = type(optimizer)
    of_torch = kind.__module__.startswith("torch.optim")
    session.metadata("optimizer.class", f"torch.optim.{kind.__qualname__}" if of_torch else kind.__qualname__)
    try:
        session.metadata("optimizer.settings", _settings_text(optimizer))
    except Exception as error:  # a user-defined optimizer may have no groups
        session.metadata("optimizer.note", repr(error))


def patch_schedulers(module):
    """torch.optim.lr_scheduler: records which scheduler controls which optimizer."""
    base = getattr(module, "LRScheduler", None) or module._LRScheduler
    for kind in {base, module.ReduceLROnPlateau, *_own_constructors(module, base)}:
        _patch_scheduler(kind)


def _own_constructors(module, base):
    """Schedulers that do not call the __init__ of the base class."""
    return [kind for kind in (module.SequentialLR, module.ChainedScheduler) if "__init__" in vars(kind)]


def _patch_scheduler(kind):
    make = kind.__init__

    @functools.wraps(make)
    def __init__(self, *arguments, **named):
        make(self, *arguments, **named)
        _scheduler_made(self)

    kind.__init__ = __init__


@guarded
def _scheduler_made(scheduler):
    facts = tracing.current().facts
    if facts.of(scheduler) is not None:
        return
    entry = facts.add("scheduler", class_name(type(scheduler)), sites.capture_construction(scheduler), scheduler)
    if entry is None:
        return
    entry.parameters = [name for name in inspect.signature(type(scheduler).__init__).parameters if name != "self"]
    entry.settings = {
        name: value
        for name, value in vars(scheduler).items()
        if not name.startswith("_")
        and name not in ("optimizer", "last_epoch", "base_lrs", "verbose")
        and isinstance(value, (bool, int, float, str, list, tuple))
    }
    optimizer = facts.of(getattr(scheduler, "optimizer", None))
    entry.fields["optimizer"] = optimizer.id if optimizer is not None else None


def patch_scaler(module):
    """torch.amp.grad_scaler: a step that the scaler skips also ends a training step."""
    scaler = module.GradScaler
    make, scale, step = scaler.__init__, scaler.scale, scaler.step

    @functools.wraps(make)
    def __init__(self, *arguments, **named):
        make(self, *arguments, **named)
        _scaler_made(self, make)

    @functools.wraps(scale)
    def recorded_scale(self, outputs):
        scaled = scale(self, outputs)
        tracing.current().losses.scaled(scaled, outputs)
        return scaled

    @functools.wraps(step)
    def recorded_step(self, optimizer, *arguments, **named):
        if is_compiling():
            return step(self, optimizer, *arguments, **named)
        entry, before = _steps_of(optimizer) or (None, 0)
        result = step(self, optimizer, *arguments, **named)
        if entry is not None and entry.count == before:
            _step_skipped(self, optimizer, entry)
        return result

    scaler.__init__, scaler.scale, scaler.step = __init__, recorded_scale, recorded_step


@guarded
def _scaler_made(scaler, make):
    facts = tracing.current().facts
    if facts.of(scaler) is None:
        entry = facts.add("scaler", class_name(type(scaler)), sites.capture_construction(scaler), scaler)
        if entry is not None:
            entry.settings = {"enabled": scaler.is_enabled(), "init_scale": getattr(scaler, "_init_scale", None)}
            entry.parameters = [name for name in inspect.signature(make).parameters if name != "self"]


@guarded
def _steps_of(optimizer):
    """The optimizer's object, and the number of its steps; None if it is unknown."""
    entry = tracing.current().facts.of(optimizer)
    return None if entry is None else (entry, entry.count)


@guarded
def _step_skipped(scaler, optimizer, entry):
    if scaler.is_enabled():
        entry.fields["skipped"] = entry.fields.get("skipped", 0) + 1
        stepped(tracing.current(), optimizer)


def patch_clipping(module, other):
    """torch.nn.utils.clip_grad, and torch.nn.utils, which re-exports the same functions."""
    for name, limit in (("clip_grad_norm_", "max_norm"), ("clip_grad_value_", "clip_value")):
        function = getattr(module, name)
        recorded = _clipping(function, limit)
        for holder in (module, other):
            if getattr(holder, name, None) is function:
                setattr(holder, name, recorded)


def _clipping(function, limit):
    @functools.wraps(function)
    def recorded(*arguments, **named):
        if not is_compiling():
            _note_clipping(function.__name__, limit, arguments, named)
        return function(*arguments, **named)

    return recorded


@guarded
def _note_clipping(name, limit, arguments, named):
    entry = tracing.current().facts.called("clip", name)
    if entry is not None and not entry.settings:
        value = named.get(limit, arguments[1] if len(arguments) > 1 else None)
        entry.parameters = ("parameters", limit)
        entry.settings = {limit: value, "foreach": named.get("foreach")}
