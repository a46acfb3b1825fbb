"""Loaders: waits for batches, the creation of batches, and the properties of each DataLoader."""
import functools
import inspect
import itertools
import sys
import time

from . import sites, tracing
from .guard import guarded, report

_SETTINGS = (
    "batch_size",
    "num_workers",
    "pin_memory",
    "persistent_workers",
    "prefetch_factor",
    "drop_last",
    "timeout",
    "multiprocessing_context",
    "in_order",
)


def patch_loader(module):
    """torch.utils.data.dataloader: records the wait for each batch, and each loader's construction."""
    session = tracing.current()
    session.facts.describers["loader"] = _describe
    session.facts.sections.append(_join_wrapped)
    _patch_construction(module.DataLoader)
    _patch_waits(module._BaseDataLoaderIter)
    _patch_iterators(module.DataLoader)


def _patch_construction(loader_class):
    make = loader_class.__init__
    parameters = [name for name in inspect.signature(make).parameters if name != "self"]

    @functools.wraps(make)
    def __init__(self, *arguments, **named):
        make(self, *arguments, **named)
        _register(self, parameters, {*parameters[: len(arguments)], *named})

    loader_class.__init__ = __init__


@guarded
def _register(loader, parameters, given):
    facts = tracing.current().facts
    entry = facts.of(loader)
    if entry is None:
        entry = facts.add("loader", class_name(type(loader)), sites.capture_construction(loader), loader)
        if entry is not None:
            entry.parameters = parameters
            entry.given = given
            # Do it now, because the object that a library wraps is often gone before the first step.
            _describe_settings(entry, loader)
    return entry


def class_name(kind):
    """The name under which a program would import PyTorch's own classes; otherwise module and name."""
    module = kind.__module__
    if module == "torch.utils.data.dataloader":
        module = "torch.utils.data"
    elif module.startswith("torch.optim.") and not module.startswith("torch.optim.lr_scheduler"):
        module = "torch.optim"
    elif module.startswith("torch.nn.modules."):
        module = "torch.nn"
    return f"{module}.{kind.__qualname__}"


def _describe(entry, loader):
    _describe_settings(entry, loader)
    if getattr(loader, "dataset", None) is not None:
        entry.fields["dataset"] = described_dataset(loader)


def _describe_settings(entry, loader):
    entry.fields["of"] = id(getattr(loader, "dataset", None))  # for _join_wrapped()
    stand_in = getattr(loader, "fake_l", None)  # fastai's loader stores PyTorch's object there
    holder = loader if stand_in is None else stand_in
    entry.settings = {name: getattr(holder, name) for name in _SETTINGS if hasattr(holder, name)}
    context = entry.settings.get("multiprocessing_context")
    if context is not None and not isinstance(context, str):
        entry.settings["multiprocessing_context"] = getattr(context, "_name", None) or str(context)
    sampler = getattr(loader, "sampler", None)
    if stand_in is not None:
        entry.settings["drop_last"] = bool(getattr(loader, "drop_last", False))
    if entry.settings.get("batch_size") is None:
        entry.settings["batch_size"] = batch_size_of(loader)
    shuffle = type(sampler).__name__ == "RandomSampler" if stand_in is None else bool(getattr(loader, "shuffle", False))
    entry.settings["shuffle"] = shuffle
    entry.fields["sampler"] = class_name(type(sampler)) if sampler is not None else None
    entry.fields["collate_fn"] = getattr(getattr(loader, "collate_fn", None), "__qualname__", None)


def described_dataset(loader):
    """The facts about a loader's dataset."""
    dataset = loader.dataset
    kind = type(dataset)
    # PyTorch's base class gives every dataset a __getitem__, which raises an error in streaming ones.
    iterable = isinstance(dataset, sys.modules["torch.utils.data"].IterableDataset) or (
        hasattr(dataset, "__iter__") and not hasattr(dataset, "__getitem__")
    )
    try:
        length = None if iterable else len(dataset)
    except Exception:  # a dataset without a length, or one that has to count its files
        length = None
    described = {
        "class": class_name(kind),
        "length": length,
        "iterable": iterable,
        "in_memory": kind.__name__ == "TensorDataset",
    }
    if iterable:
        described["sharded"] = None if getattr(loader, "worker_init_fn", None) is not None else _is_sharded(dataset)
    return described


def _is_sharded(dataset):
    """Whether a streaming dataset of the program divides its samples among workers: whether its modules, or functions of
    the program that they import, ask for the worker. None: unknown, because a library or another dataset is involved."""
    data = sys.modules["torch.utils.data"]
    modules = set()
    for kind in type(dataset).__mro__:
        module = sys.modules.get(kind.__module__)
        file = getattr(module, "__file__", None) or ("<stdin>" if kind.__module__ == "__main__" else None)
        if file is not None and sites.is_user_file(file):
            modules.add(module)
        elif kind is not object and not kind.__module__.startswith(("torch.utils.data", "typing", "abc", "collections")):
            return None
    if not modules or any(isinstance(part, data.IterableDataset) for part in getattr(dataset, "__dict__", {}).values()):
        return None
    values = [value for module in modules for value in list(vars(module).values())]
    return any(value is data.get_worker_info or _asks_for_worker(value) for value in values)


def _asks_for_worker(value):
    """Whether a function of the program, or a method of a class, calls get_worker_info()."""
    parts = list(vars(value).values()) if isinstance(value, type) else [value]
    codes = [getattr(getattr(part, "__func__", getattr(part, "fget", part)), "__code__", None) for part in parts]
    while codes:
        code = codes.pop()
        if getattr(code, "co_names", None) is None or not sites.is_user_file(code.co_filename):
            continue
        if "get_worker_info" in code.co_names:
            return True
        codes.extend(part for part in code.co_consts if hasattr(part, "co_names"))
    return False


def _join_wrapped(document):
    """A library that wraps a loader (accelerate's prepare) creates another one over the same data: the construction in
    the program belongs to the first one, but role and count belong to the second one."""
    facts = tracing.current().facts
    loaders = [entry for entry in facts.objects if entry.kind == "loader"]
    described = {entry["id"]: entry for entry in document["objects"]}
    # By identity: the wrapper keeps the data alive, so that its identity is not reused.
    data = {entry.id: described[entry.id].pop("of", None) for entry in loaders if entry.id in described}
    for entry in loaders:
        if entry.call is None or not entry.call.framework or not entry.count:
            continue
        for other in loaders:
            same = data.get(other.id) is not None and data.get(other.id) == data.get(entry.id)
            if other is entry or other.count or not same or other.id not in described or entry.id not in described:
                continue
            if other.call is None or other.call.framework == entry.call.framework:
                continue
            made, wrapper = described[other.id], described.pop(entry.id)
            made["role"], made["count"] = wrapper["role"], wrapper["count"]
            made.setdefault("dataset", wrapper.get("dataset"))
            made["wrapped_by"] = {"class": wrapper["class"], "framework": wrapper["framework"]}
            break
    document["objects"] = [entry for entry in document["objects"] if entry["id"] in described]


def _patch_waits(base):
    make, ask, session = base.__init__, base.__next__, tracing.current()

    @functools.wraps(make)
    def __init__(self, loader, *arguments, **named):
        _iteration_begins(self, loader)
        make(self, loader, *arguments, **named)

    @functools.wraps(ask)
    def __next__(self):
        track = _wait_begins(session, self)
        try:
            return ask(self)
        except StopIteration:
            _loader_ended(self)
            raise
        finally:
            if track is not None:
                session.close_on(track)

    base.__init__, base.__next__ = __init__, __next__


_numbers = itertools.count()  # of iterators


@guarded
def _iteration_begins(iterator, loader):
    """Patches an iterator of any loader, including loaders that are not PyTorch's: those of fastai and PyTorch
    Geometric are derived from it, or pass their own object to PyTorch's iterators."""
    iterator._stepscope_number = next(_numbers)
    facts = tracing.current().facts
    owner = owner_of(loader)
    entry = facts.of(owner)
    if entry is None or entry.kind != "loader":  # not PyTorch's class: its construction was recorded by its framework
        entry = facts.add("loader", class_name(type(owner)), entry.call if entry is not None else None, owner)
    iterator._stepscope_facts = LoaderFacts(loader, entry)


def owner_of(loader):
    """The loader that the program created: fastai passes a stand-in that knows it to PyTorch's iterators."""
    default = getattr(loader, "default", None)
    return default if hasattr(default, "fake_l") else loader


def _wait_begins(session, iterator):
    """Returns the track on which the wait was opened; None: it was not. Catches its errors itself: see Session.open()."""
    try:
        session.close_raised_optimizers()
        track = session.track(asks_only=True)
        now = session.now()
        number = getattr(iterator, "_stepscope_number", None)
        facts = getattr(iterator, "_stepscope_facts", None)
        with session.lock:
            session.steps.batch_requested(now, number)
            session.asked_facts = facts
            session.phases.batch_requested(now, number, facts.loader if facts else None)
        return track if session.open_on(track, "phase", "data wait", getattr(iterator, "_num_yielded", 0)) else None
    except Exception as error:
        report("_wait_begins", error)
        return None


@guarded
def _loader_ended(iterator):
    session = tracing.current()
    with session.lock:
        session.steps.loader_ended()
        session.phases.loader_ended(session.now(), getattr(iterator, "_stepscope_number", None))


class LoaderFacts:
    """Facts about the loader of an iterator that rules need. Does not keep the iterator, because its workers live as
    long as it does."""

    def __init__(self, loader, entry):
        self.loader = entry
        self.metadata = {
            "loader.workers": str(getattr(loader, "num_workers", 0)),
            "loader.batch_size": str(batch_size_of(owner_of(loader))),
            "loader.pin_memory": str(bool(getattr(loader, "pin_memory", False))).lower(),
            "loader.prefetch_factor": str(getattr(loader, "prefetch_factor", None) or 0),
            "loader.persistent_workers": str(bool(getattr(loader, "persistent_workers", False))).lower(),
        }


def batch_size_of(loader):
    """The batch size of PyTorch's loaders, of batch samplers, and of fastai's loaders, which call it `bs`; None:
    unknown."""
    sources = (loader, "batch_size"), (getattr(loader, "batch_sampler", None), "batch_size"), (loader, "bs")
    found = (getattr(source, name, None) for source, name in sources)
    return next((size for size in found if isinstance(size, int)), None)


def _patch_iterators(loader_class):
    make = loader_class._get_iterator

    @functools.wraps(make)
    def _get_iterator(self):
        track = _start_of_workers(self)
        try:
            return make(self)
        finally:
            if track is not None:
                tracing.current().close_on(track)

    loader_class._get_iterator = _get_iterator


@guarded
def _start_of_workers(loader):
    """Returns the track on which it was opened; None: there are no workers to start."""
    if not getattr(loader, "num_workers", 0):
        return None
    session = tracing.current()
    track = session.track(asks_only=True)
    return track if session.open_on(track, "phase", "start workers") else None


def record_loader(session):
    """Facts about the loader for which an optimizer has just stepped: the training loader, not that of a validation."""
    asked = session.asked_facts
    if asked is None or asked is session.reported_facts:
        return
    if asked.loader is not None and asked.loader.role is None:
        asked.loader.role = "training"
    if session.reported_facts is None or asked.metadata != session.reported_facts.metadata:
        for key, value in asked.metadata.items():
            session.metadata(key, value)
    session.reported_facts = asked


class _FetchCost:
    """The share of processor work in the time in which the training loop creates its batches itself; the rest is
    waiting for a disk or a network. Workers can wait in parallel, but only as many can compute at once as there are
    cores."""

    def __init__(self):
        self._count = self._work = self._time = 0

    @guarded
    def add(self, session, work, passed):
        self._count += 1
        if self._count == 1:  # opens files and loads libraries
            return
        self._work += work
        self._time += passed
        if self._count >= 8 and self._count & (self._count - 1) == 0 and self._time > 0:  # 8, 16, 32, …
            session.metadata("loader.load_cpu_share", f"{min(1.0, self._work / self._time):.3f}")


_fetch_cost = _FetchCost()


def patch_fetch(module):
    """torch.utils.data._utils.fetch: reading samples and collating a batch, in a worker or in the loop."""
    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        _patch_fetcher(getattr(module, name))


def _patch_fetcher(fetcher):
    fetch = fetcher.fetch

    @functools.wraps(fetch)
    def recorded_fetch(self, indices):
        session = tracing.current()
        track = session.fetch_begins()
        if track is None:
            return fetch(self, indices)
        collate = self.collate_fn

        def recorded_collate(samples):
            session.collate_begins(track)
            return collate(samples)

        self.collate_fn = recorded_collate
        begun, work = time.monotonic_ns(), time.thread_time_ns()
        try:
            return fetch(self, indices)
        finally:
            work, passed = time.thread_time_ns() - work, time.monotonic_ns() - begun
            self.collate_fn = collate
            session.fetch_ends(track)
            if not session.is_loader_worker:
                _fetch_cost.add(session, work, passed)

    fetcher.fetch = recorded_fetch
