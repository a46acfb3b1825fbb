"""Loaders: waits for batches, the making of batches, and what each DataLoader is."""
import functools
import inspect
import itertools

from . import recording, sites

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
    """torch.utils.data.dataloader: the wait for each batch, and each loader's construction."""
    session = recording.current()
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
        facts = recording.current().facts
        if facts.of(self) is not None:
            return
        entry = facts.add("loader", class_name(type(self)), sites.capture_construction(self), self)
        if entry is not None:
            entry.parameters = parameters
            entry.given = {*parameters[: len(arguments)], *named}

    loader_class.__init__ = __init__


def class_name(kind):
    """The name by which a program would import the class, for PyTorch's own; else module and name."""
    module = kind.__module__
    if module == "torch.utils.data.dataloader":
        module = "torch.utils.data"
    elif module.startswith("torch.optim.") and not module.startswith("torch.optim.lr_scheduler"):
        module = "torch.optim"
    elif module.startswith("torch.nn.modules."):
        module = "torch.nn"
    return f"{module}.{kind.__qualname__}"


def _describe(entry, loader):
    entry.settings = {name: getattr(loader, name) for name in _SETTINGS if hasattr(loader, name)}
    context = entry.settings.get("multiprocessing_context")
    if context is not None and not isinstance(context, str):
        entry.settings["multiprocessing_context"] = getattr(context, "_name", None) or str(context)
    sampler = getattr(loader, "sampler", None)
    batch_sampler = getattr(loader, "batch_sampler", None)
    inner = getattr(batch_sampler, "batch_size", None)
    if entry.settings.get("batch_size") is None and isinstance(inner, int):
        entry.settings["batch_size"] = inner
    entry.settings["shuffle"] = type(sampler).__name__ == "RandomSampler"
    entry.fields["sampler"] = class_name(type(sampler)) if sampler is not None else None
    entry.fields["collate_fn"] = getattr(getattr(loader, "collate_fn", None), "__qualname__", None)
    dataset = getattr(loader, "dataset", None)
    if dataset is not None:
        entry.fields["dataset"] = _dataset(dataset)


def _dataset(dataset):
    kind = type(dataset)
    iterable = hasattr(dataset, "__iter__") and not hasattr(dataset, "__getitem__")
    try:
        length = None if iterable else len(dataset)
    except Exception:  # a dataset without a length, or one that counts its files
        length = None
    return {
        "class": class_name(kind),
        "length": length,
        "iterable": iterable,
        "in_memory": kind.__name__ == "TensorDataset",
    }


def _join_wrapped(document):
    """A library that wraps a loader (accelerate's prepare) makes one of its own over the same data: what the program
    wrote is the first one's construction, and the second one's role and count are its."""
    facts = recording.current().facts
    loaders = [(entry, entry.instance) for entry in facts.objects if entry.kind == "loader"]
    described = {entry["id"]: entry for entry in document["objects"]}
    for entry, loader in loaders:
        if loader is None or entry.call is None or not entry.call.framework or not entry.count:
            continue
        for other, first in loaders:
            same = first is not None and getattr(first, "dataset", 0) is getattr(loader, "dataset", 1)
            if other is entry or other.count or not same or other.id not in described or entry.id not in described:
                continue
            if other.call is None or other.call.framework == entry.call.framework:
                continue
            made, wrapper = described[other.id], described.pop(entry.id)
            made["role"], made["count"] = wrapper["role"], wrapper["count"]
            made["wrapped_by"] = {"class": wrapper["class"], "framework": wrapper["framework"]}
            break
    document["objects"] = [entry for entry in document["objects"] if entry["id"] in described]


def _patch_waits(base):
    ask = base.__next__
    numbers = itertools.count()

    def __next__(self):
        number = getattr(self, "_stepscope_number", None)
        if number is None:
            number = self._stepscope_number = next(numbers)
        session = recording.current()
        session.optimizers_raised()
        lane = session.lane(asks_only=True)
        now = session.now()
        facts = getattr(self, "_stepscope_facts", None)
        with session.lock:
            session.steps.batch_asked(now, number)
            session.asked_facts = facts
            session.phases.batch_asked(now, number, facts.loader if facts else None)
        session.open_on(lane, "phase", "data wait", self._num_yielded)
        try:
            return ask(self)
        except StopIteration:
            with session.lock:
                session.steps.loader_ended()
                session.phases.loader_ended(session.now(), number)
            raise
        finally:
            session.close_on(lane)

    base.__next__ = __next__


class LoaderFacts:
    """What the rules ask about the loader of an iterator. Not the iterator: its workers live as long as it does."""

    def __init__(self, loader, entry):
        self.loader = entry
        self.metadata = {
            "loader.workers": str(loader.num_workers),
            "loader.batch_size": str(loader.batch_size),
            "loader.pin_memory": str(bool(loader.pin_memory)).lower(),
            "loader.prefetch_factor": str(loader.prefetch_factor or 0),
            "loader.persistent_workers": str(bool(getattr(loader, "persistent_workers", False))).lower(),
        }


def _patch_iterators(loader_class):
    make = loader_class._get_iterator

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
        iterator._stepscope_facts = LoaderFacts(self, session.facts.of(self))
        return iterator

    loader_class._get_iterator = _get_iterator


def tell_loader(session):
    """Facts of the loader that an optimizer has just stepped for: the training's, not a validation's."""
    asked = session.asked_facts
    if asked is None or asked is session.told_facts:
        return
    if asked.loader is not None and asked.loader.role is None:
        asked.loader.role = "training"
    if session.told_facts is None or asked.metadata != session.told_facts.metadata:
        for key, value in asked.metadata.items():
            session.metadata(key, value)
    session.told_facts = asked


def patch_fetch(module):
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
