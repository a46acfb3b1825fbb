"""The backward pass as a phase, and the loss from which it starts.

A loss on the CPU is read at once. A loss on a device is kept there and read when a window of steps ends, because
reading it in each step would make the host wait for the device.
"""
import functools
import math

from . import tracing
from .guard import guarded, report
from .optimizers import is_compiling

_WINDOW = 64  # losses that are kept on their device


# Known when a backward pass begins.
_plain = None  # torch.Tensor: subclasses may read their values in their own way
_item = None  # PyTorch's own method, without the hook on the reads of tensors


class Losses:
    def __init__(self, session):
        self._session = session
        self.restart()

    def restart(self):
        self._kept = []  # (time, counter, tensor without its graph)
        self._scaled = None  # (scaled tensor's id, the loss that was scaled)
        self._names = {}  # counters, by the backward call's object
        self.count = self.nan = self.inf = 0
        self.first = self.last = None

    @guarded
    def scaled(self, scaled, outputs):
        """A GradScaler has scaled a loss: the loss is the value before scaling."""
        if hasattr(outputs, "detach"):
            self._scaled = (id(scaled), outputs.detach())

    def note(self, loss, entry):
        """A backward pass starts from the tensor."""
        scaled, self._scaled = self._scaled, None
        if scaled is not None and scaled[0] == id(loss):
            loss = scaled[1]
        if loss.numel() != 1 or not self._session.is_recording:
            return
        name = self._names.get(entry)
        if name is None:
            name = self._names[entry] = "loss" if not self._names else f"loss {len(self._names) + 1}"
        if loss.is_cpu:
            self._sample(self._session.now(), name, _item(loss) if type(loss) is _plain else float(loss.detach()))
            return
        # A copy, because a CUDA graph writes the loss of its next replay to the same memory.
        self._kept.append((self._session.now(), name, loss.detach().clone()))
        if len(self._kept) >= _WINDOW:
            self.read()

    def read(self):
        """Reads the losses that were kept. The host waits for the device once."""
        kept, self._kept = self._kept, []
        if not kept:
            return
        import torch

        values = torch.stack([tensor.reshape(()).float() for _, _, tensor in kept]).tolist()
        for (time, name, _), value in zip(kept, values):
            self._sample(time, name, value)

    def _sample(self, time, name, value):
        self.count += 1
        if math.isnan(value):
            self.nan += 1
        elif math.isinf(value):
            self.inf += 1
        else:
            self.first = value if self.first is None else self.first
            self.last = value
            self._session.counter(name, "", value, time)

    def add_section(self, document):
        document["loss"] = {
            "count": self.count,
            "nan": self.nan,
            "inf": self.inf,
            "first": self.first,
            "last": self.last,
            "backward_passes_per_step": {str(k): v for k, v in sorted(self._session.phases.accumulation.items())},
        }

    def forked(self):
        self._kept = []


def patch_autograd(module):
    """torch.autograd: records the backward pass as a phase."""
    backward, session = module.backward, tracing.current()

    @functools.wraps(backward)
    def recorded(tensors, *arguments, **named):
        if is_compiling():
            return backward(tensors, *arguments, **named)
        _begins(session, tensors)
        is_open = session.open("phase", "backward")
        try:
            return backward(tensors, *arguments, **named)
        finally:
            if is_open:
                session.close()

    module.backward = recorded


def _find_item():
    global _plain, _item
    import torch

    _plain, _item = torch.Tensor, torch._C.TensorBase.item


def _begins(session, tensors):
    try:
        _begins_at(session, tensors, session.facts.called("backward", "torch.Tensor.backward"))
    except Exception as error:
        report("_begins", error)


def _begins_at(session, tensors, entry):
    if _plain is None:
        _find_item()
    if session.models.forwards == 0:
        session.models.attach()
        session.models.watch_submodules()
    with session.lock:
        session.phases.backward_began(session.now())
    first = tensors if hasattr(tensors, "numel") else tensors[0] if isinstance(tensors, (list, tuple)) and tensors else None
    if first is not None and hasattr(first, "numel"):
        session.losses.note(first, entry)
