"""Hooks into PyTorch, put in when its modules are imported: nothing is imported that the program does not import."""
import atexit
import importlib.abc
import os
import sys
import threading

from . import recording


def install():
    """Called once in each Python process that is recorded, before the program's first line."""
    session = recording.start()
    if session is None:
        return
    os.register_at_fork(after_in_child=_after_fork)
    atexit.register(_program_ends, session)
    sys.meta_path.insert(0, _AfterImport(_PATCHES))


def _program_ends(session):
    session.steps.program_ended(session.now())


def _after_fork():
    """A child by fork has the parent's objects, and a trace of its own from its first event on."""
    session = recording.current()
    if session is not None:
        session.lock = threading.RLock()  # another thread of the parent may have held it
        session.steps.loader_ended()


def _patch_processes(module):
    """multiprocessing.util: its processes, a loader's workers among them, leave by _exit, which runs no exit handlers but
    multiprocessing's own. Those of the parent are cleared in the child before this runs."""
    module.register_after_fork(
        recording.current(), lambda session: module.Finalize(None, session.end, exitpriority=-1000)
    )


class _AfterImport(importlib.abc.MetaPathFinder):
    """Runs a function once a module of a name was imported, by whatever finder finds it."""

    def __init__(self, patches):
        self._patches = dict(patches)

    def find_spec(self, name, path, target=None):
        patch = self._patches.pop(name, None)
        if patch is None:
            return None
        others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        spec = next((found for finder in others if (found := finder.find_spec(name, path, target))), None)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
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

    def __next__(self):
        session = recording.current()
        with session.lock:
            began = session.now()
            session.steps.batch_asked(began)
            session.asked_loader = self
            session.open("phase", "data wait", self._num_yielded)
        try:
            batch = ask(self)
        except StopIteration:
            with session.lock:
                session.close()
                session.steps.loader_ended()
            raise
        except BaseException:
            with session.lock:
                session.close()
            raise
        with session.lock:
            session.close()
        return batch

    base.__next__ = __next__

    make = module.DataLoader._get_iterator

    def _get_iterator(self):
        session = recording.current()
        with session.lock:
            if self.num_workers > 0:
                session.open("phase", "start workers")
        try:
            iterator = make(self)
        finally:
            with session.lock:
                if self.num_workers > 0:
                    session.close()
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
    facts = getattr(session.asked_loader, "_stepscope_facts", None)
    if facts and facts != session.told_facts:
        session.told_facts = facts
        for key, value in facts.items():
            session.metadata(key, value)


def _patch_fetch(module):
    """torch.utils.data._utils.fetch: reading samples and putting a batch together, in a worker or in the loop."""
    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        _patch_fetcher(getattr(module, name))


def _patch_fetcher(fetcher):
    fetch = fetcher.fetch
    state = {"batch": 0, "ended": None}

    def recorded_fetch(self, indices):
        session = recording.current()
        worker = _worker_number()
        collated = []
        collate = self.collate_fn

        def recorded_collate(samples):
            began = session.now()
            try:
                return collate(samples)
            finally:
                collated.append((began, session.now()))

        number = state["batch"]
        state["batch"] += 1
        began = session.now()
        self.collate_fn = recorded_collate
        try:
            return fetch(self, indices)
        finally:
            self.collate_fn = collate
            ended = session.now()
            put = session.complete if worker is None else (lambda *what: session.worker_complete(worker, *what))
            if worker is not None and state["ended"] is not None:
                put("loader_wait", "wait", state["ended"], began, number)
            state["ended"] = ended
            # Python's data sets read, decode and augment in one call: it cannot be told apart from outside.
            put("loader_stage", "read", began, collated[0][0] if collated else ended, number)
            for begin, end in collated:
                put("loader_stage", "collate", begin, end, number)

    fetcher.fetch = recorded_fetch


def _worker_number():
    worker = sys.modules.get("torch.utils.data._utils.worker")
    info = worker.get_worker_info() if worker else None
    return None if info is None else info.id


def _patch_optimizer(module):
    """torch.optim.optimizer: each optimizer's step and zero_grad, also of classes that are made later."""
    optimizer = module.Optimizer
    zero_grad = optimizer.zero_grad

    def recorded_zero_grad(self, *arguments, **named):
        session = recording.current()
        with session.lock:
            session.open("phase", "zero grad")
        try:
            return zero_grad(self, *arguments, **named)
        finally:
            with session.lock:
                session.close()

    optimizer.zero_grad = recorded_zero_grad

    # LibTorch's own hooks: whatever overrides step(), they are called around it.
    def before(*_):
        session = recording.current()
        with session.lock:
            session.open("phase", "optimizer")

    def after(*_):
        session = recording.current()
        with session.lock:
            session.close()
            session.steps.optimized(session.now())
            _tell_loader(session)

    module.register_optimizer_step_pre_hook(before)
    module.register_optimizer_step_post_hook(after)


def _patch_autograd(module):
    """torch.autograd: the backward pass as a phase."""
    backward = module.backward

    def recorded_backward(*arguments, **named):
        session = recording.current()
        with session.lock:
            session.open("phase", "backward")
        try:
            return backward(*arguments, **named)
        finally:
            with session.lock:
                session.close()

    module.backward = recorded_backward


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
        from . import operators

        operators.switch_on(session, module, shapes=os.environ.get("STEPSCOPE_LEVEL") == "full")


_PATCHES = {
    "multiprocessing.util": _patch_processes,
    "torch": _patch_torch,
    "torch.autograd": _patch_autograd,
    "torch.utils.data.dataloader": _patch_loader,
    "torch.utils.data._utils.fetch": _patch_fetch,
    "torch.optim.optimizer": _patch_optimizer,
}
