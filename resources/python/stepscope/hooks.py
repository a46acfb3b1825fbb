"""Hooks into PyTorch, put in when its modules are imported: nothing is imported that the program does not import."""
import atexit
import importlib.abc
import functools
import itertools
import os
import sys

from . import arm, recording


def install():
    """Called once in each Python process that is recorded or takes part in an experiment, before the program's first
    line."""
    session = recording.start()
    if session is None:
        return
    os.register_at_fork(after_in_child=_after_fork)
    atexit.register(_program_ends, session)
    patches = {name: [patch] for name, patch in _PATCHES.items()}
    if arm.is_wanted():
        for name, patch in arm.install(session).items():
            patches.setdefault(name, []).append(patch)
    sys.meta_path.insert(0, _AfterImport(patches))


def _program_ends(session):
    session.steps.program_ended(session.now())


def _after_fork():
    """A child by fork has the parent's objects, and a trace of its own from its first event on."""
    session = recording.current()
    if session is not None:
        session.forked()
        arm.forked(session)


def _patch_processes(module):
    """multiprocessing.util: its processes, a loader's workers among them, leave by _exit, which runs no exit handlers but
    multiprocessing's own. Those of the parent are cleared in the child before this runs."""
    module.register_after_fork(
        recording.current(), lambda session: module.Finalize(None, session.end, exitpriority=-1000)
    )


class _AfterImport(importlib.abc.MetaPathFinder):
    """Runs functions once a module of a name was imported, by whatever finder finds it."""

    def __init__(self, patches):
        self._patches = dict(patches)

    def find_spec(self, name, path, target=None):
        if name not in self._patches:
            return None
        others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        spec = next((found for finder in others if (found := finder.find_spec(name, path, target))), None)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            # Not before: who only asks where a module is, as libraries do, does not import it.
            for patch in self._patches.pop(name, ()):
                try:
                    patch(module)
                except Exception as error:
                    print(f"stepscope: {name} is not recorded: {error!r}", file=sys.stderr)

        spec.loader.exec_module = exec_module
        return spec


def _patch_loader(module):
    """torch.utils.data.dataloader: the wait for each batch."""
    base = module._BaseDataLoaderIter
    ask = base.__next__
    numbers = itertools.count()

    def __next__(self):
        number = getattr(self, "_stepscope_number", None)
        if number is None:
            number = self._stepscope_number = next(numbers)
        session = recording.current()
        session.optimizers_raised()
        lane = session.lane(asks_only=True)
        with session.lock:
            session.steps.batch_asked(session.now(), number)
            session.asked_facts = getattr(self, "_stepscope_facts", None)
        session.open_on(lane, "phase", "data wait", self._num_yielded)
        try:
            return ask(self)
        except StopIteration:
            with session.lock:
                session.steps.loader_ended()
            raise
        finally:
            session.close_on(lane)

    base.__next__ = __next__

    make = module.DataLoader._get_iterator

    def _get_iterator(self):
        session = recording.current()
        lane = session.lane(asks_only=True)
        if self.num_workers > 0:
            session.open_on(lane, "phase", "start workers")
        try:
            iterator = make(self)
        finally:
            if self.num_workers > 0:
                session.close_on(lane)
        iterator._stepscope_facts = {
            "loader.workers": str(self.num_workers),
            "loader.batch_size": str(self.batch_size),
            "loader.pin_memory": str(bool(self.pin_memory)).lower(),
            "loader.prefetch_factor": str(self.prefetch_factor or 0),
        }
        return iterator

    module.DataLoader._get_iterator = _get_iterator


def _tell_loader(session):
    """Facts of the loader that an optimizer has just stepped for: the training's, not a validation's."""
    facts = session.asked_facts
    if facts and facts != session.told_facts:
        session.told_facts = facts
        for key, value in facts.items():
            session.metadata(key, value)


def _settings_text(optimizer):
    """The arguments that make such an optimizer, as Python writes them; those that have their default are left out."""
    import inspect

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


def _tell_optimizer(session, optimizer):
    """Facts of an optimizer that has just stepped for the first time: its class and its settings."""
    if id(optimizer) in session.told_optimizers:
        return
    session.told_optimizers.add(id(optimizer))
    session.metadata("optimizer.count", str(len(session.told_optimizers)))
    if len(session.told_optimizers) > 1:
        return
    kind = type(optimizer)
    of_torch = kind.__module__.startswith("torch.optim")
    session.metadata("optimizer.class", f"torch.optim.{kind.__qualname__}" if of_torch else kind.__qualname__)
    try:
        session.metadata("optimizer.settings", _settings_text(optimizer))
    except Exception as error:  # an optimizer of the user's own may have no groups
        session.metadata("optimizer.note", repr(error))


def _patch_fetch(module):
    """torch.utils.data._utils.fetch: reading samples and putting a batch together, in a worker or in the loop."""
    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        _patch_fetcher(getattr(module, name))


def _patch_fetcher(fetcher):
    fetch = fetcher.fetch

    def recorded_fetch(self, indices):
        session = recording.current()
        lane = session.fetch_begins()
        collate = self.collate_fn

        def recorded_collate(samples):
            session.collate_begins(lane)
            return collate(samples)

        self.collate_fn = recorded_collate
        try:
            return fetch(self, indices)
        finally:
            self.collate_fn = collate
            session.fetch_ends(lane)

    fetcher.fetch = recorded_fetch


def _is_compiling():
    """Whether Dynamo follows this call: what it compiles is no longer called by Python, and must not have our calls."""
    import torch

    return torch.compiler.is_compiling() if hasattr(torch.compiler, "is_compiling") else False


def _as_phase(name, function):
    """The function, each call of which is a phase."""

    @functools.wraps(function)
    def recorded(*arguments, **named):
        if _is_compiling():
            return function(*arguments, **named)
        session = recording.current()
        session.open("phase", name)
        try:
            return function(*arguments, **named)
        finally:
            session.close()

    return recorded


def _outside_of(optimizer, closure):
    """The closure that an optimizer calls in its step, forward and backward as a rule: they are no optimizing."""

    @functools.wraps(closure)
    def recorded(*arguments, **named):
        session = recording.current()
        session.optimizer_ends()
        try:
            return closure(*arguments, **named)
        finally:
            session.optimizer_begins(optimizer)

    return recorded


def _patch_optimizer(module):
    """torch.optim.optimizer: each optimizer's step and zero_grad, also of classes that are made later."""
    module.Optimizer.zero_grad = _as_phase("zero grad", module.Optimizer.zero_grad)

    # LibTorch's own hooks: whatever overrides step(), they are called around it.
    def before(optimizer, arguments, named):
        if _is_compiling():
            return None
        recording.current().optimizer_begins(optimizer)
        if len(arguments) > 1 and callable(arguments[1]):
            return (arguments[0], _outside_of(optimizer, arguments[1]), *arguments[2:]), named
        if callable(named.get("closure")):
            return arguments, {**named, "closure": _outside_of(optimizer, named["closure"])}
        return None

    def after(optimizer, *_):
        if _is_compiling():
            return
        session = recording.current()
        session.optimizer_ends()
        with session.lock:
            session.steps.optimized(session.now(), optimizer)
            _tell_loader(session)
            _tell_optimizer(session, optimizer)

    module.register_optimizer_step_pre_hook(before)
    module.register_optimizer_step_post_hook(after)


def _patch_autograd(module):
    """torch.autograd: the backward pass as a phase."""
    module.backward = _as_phase("backward", module.backward)


def _tell_libraries(module, session):
    """Versions of cuDNN and NCCL, as PyTorch's build has them."""
    if not getattr(module.version, "cuda", None):
        return
    try:
        number = module.backends.cudnn.version() or 0
        major = 10000 if number >= 90000 else 1000  # 91900 is 9.19.0, 8907 is 8.9.7
        if number:
            session.metadata("versions.cudnn", f"{number // major}.{number % major // 100}.{number % 100}")
        session.metadata("versions.nccl", ".".join(str(part) for part in module.cuda.nccl.version()))
    except Exception as error:  # a build without one of them is recorded all the same
        session.metadata("versions.missing", repr(error))


def _patch_torch(module):
    """torch itself, once it is whole: facts for the trace, and operators when they are asked for."""
    session = recording.current()
    versions = module.version
    session.metadata("versions.torch", module.__version__)
    session.metadata("versions.python", sys.version.split()[0])
    if getattr(versions, "cuda", None):
        session.metadata("versions.cuda_runtime", versions.cuda)
    _tell_libraries(module, session)
    session.metadata("host.cores", str(os.cpu_count() or 0))
    if os.environ.get("STEPSCOPE_OPS") == "1":
        _record_operators(session, module)


def _record_operators(session, torch):
    from . import operators, windows

    shapes = os.environ.get("STEPSCOPE_LEVEL") == "full"
    every, length = (os.environ.get("STEPSCOPE_OPS_" + name) for name in ("EVERY", "WINDOW"))
    if every and length:
        switches = operators.source(session, torch, shapes)
        session.steps.windows = windows.Windows(session, int(every), int(length), switches)
    else:
        operators.switch_on(session, torch, shapes)


_PATCHES = {
    "multiprocessing.util": _patch_processes,
    "torch": _patch_torch,
    "torch.autograd": _patch_autograd,
    "torch.utils.data.dataloader": _patch_loader,
    "torch.utils.data._utils.fetch": _patch_fetch,
    "torch.optim.optimizer": _patch_optimizer,
}
