"""Calls of the program that take the host's time, with their places: calls by which it waits for a device (.item(), .cpu(),
.numpy(), .tolist(), float(), bool(), and print of a tensor on a device), moves of tensors to a device, saving, and
calls that log metrics (TensorBoard, Weights & Biases, MLflow, the loggers of Lightning and of Accelerate).
"""
import functools
import sys
import threading

from . import tracing
from .guard import guarded
from .optimizers import is_compiling

# Methods of a tensor that read its values back, and the expressions that call them in a program.
_READS = {
    "item": ".item()",
    "cpu": ".cpu()",
    "numpy": ".numpy()",
    "tolist": ".tolist()",
    "__bool__": "bool()",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "int()",
    "__repr__": "print()",
    "__format__": "print()",
}
# All moves to a device appear in the first steps.
_STEPS_OF_MOVES = 30
_modules_moving = []
_inside = threading.local()  # whether the thread is in a recorded logger: Lightning's calls TensorBoard's, which then does not count


def patch(torch):
    """torch.Tensor."""
    for name, written in _READS.items():
        if hasattr(torch.Tensor, name):
            _patch_read(torch, name, written)
    for name in ("to", "cuda"):
        _patch_move(torch, torch.Tensor, name, "tensor")
        _patch_move(torch, torch.nn.Module, name, "module")
    save = torch.save
    torch.save = torch.serialization.save = _saving(save, "torch.save")


# Tensor subclasses and modes receive the called function and compare it with the attribute of torch.Tensor, so our
# method passes itself to them, like PyTorch's own methods that are written in Python.


def _patch_read(torch, name, written):
    read = getattr(torch.Tensor, name)
    has_override, override = torch.overrides.has_torch_function_unary, torch.overrides.handle_torch_function

    @functools.wraps(read)
    def recorded(self, *arguments, **named):
        if has_override(self):
            return override(recorded, (self,), self, *arguments, **named)
        if not self.is_cpu and not is_compiling():
            _note_read(self, written)
        return read(self, *arguments, **named)

    setattr(torch.Tensor, name, recorded)


@guarded
def _note_read(tensor, written):
    if tensor.device.type == "meta":
        return
    entry = tracing.current().facts.called("sync", written, depth=3)
    if entry is not None and entry.count == 1:
        entry.fields["what"] = written
        entry.fields["device"] = str(tensor.device)


def _patch_move(torch, holder, name, kind):
    move = getattr(holder, name)
    text_or_device = (str, torch.device, int)
    has_override, override = torch.overrides.has_torch_function_unary, torch.overrides.handle_torch_function

    @functools.wraps(move)
    def recorded(self, *arguments, **named):
        if kind == "tensor" and has_override(self):
            return override(recorded, (self,), self, *arguments, **named)
        target = arguments[0] if arguments else named.get("device")
        if not (isinstance(target, text_or_device) or name == "cuda") or is_compiling():
            return move(self, *arguments, **named)
        _note_move(self, kind, name, target, arguments, named, sys._getframe(1))
        if kind == "tensor":
            return move(self, *arguments, **named)
        _modules_moving.append(self)  # a module that moves its tensors
        try:
            return move(self, *arguments, **named)
        finally:
            _modules_moving.pop()

    setattr(holder, name, recorded)


@guarded
def _note_move(moved, kind, name, target, arguments, named, frame):
    session = tracing.current()
    caller = frame.f_globals.get("__name__", "")
    if caller == "torch" or caller.startswith("torch."):  # within PyTorch: part of a call by the program
        return
    if kind == "tensor" and (_modules_moving or session.steps.count > _STEPS_OF_MOVES):
        return
    entry = session.facts.called("to", f"torch.Tensor.{name}" if kind == "tensor" else f"torch.nn.Module.{name}", depth=3)
    if entry is None or entry.count > 1:
        return
    blocking = named.get("non_blocking")
    if blocking is None and name == "to" and len(arguments) > 2 and isinstance(arguments[2], bool):
        blocking = arguments[2]
    entry.settings = {"non_blocking": bool(blocking), "device": str(target) if target is not None else name}
    entry.given = {"non_blocking"} if blocking is not None else set()
    entry.given |= {"device"}
    entry.parameters = ("device", "dtype", "non_blocking") if name == "to" else ("device", "non_blocking")
    entry.fields["of"] = kind
    if kind == "tensor":
        entry.fields["from"] = moved.device.type
        entry.fields["pinned"] = bool(moved.device.type == "cpu" and moved.numel() and _is_pinned(moved))


def _is_pinned(tensor):
    torch = sys.modules["torch"]
    # The query would initialize CUDA, which is up to the program.
    return torch.cuda.is_initialized() and tensor.is_pinned()


def _saving(save, name):
    @functools.wraps(save)
    def recorded(*arguments, **named):
        opened = _saving_begins(name)
        try:
            return save(*arguments, **named)
        finally:
            if opened is not None:
                _saving_ends(*opened)

    return recorded


@guarded
def _saving_begins(name):
    session = tracing.current()
    entry = session.facts.called("save", name)
    began = session.now()
    with session.lock:
        session.steps.outside_began(began)
    return entry, began, session.open("phase", "checkpoint")


@guarded
def _saving_ends(entry, began, is_open):
    session = tracing.current()
    if is_open:
        session.close()
    ended = session.now()
    with session.lock:
        session.steps.outside_ended(ended)
    add_time(entry, began, ended)


def add_time(entry, began, ended):
    """Adds to the time of an object's calls; times in ns."""
    if entry is not None:
        entry.fields["time_us"] = round(entry.fields.get("time_us", 0) + (ended - began) / 1000, 1)


def patch_safetensors(module):
    """safetensors.torch, which Hugging Face's libraries use to save."""
    for name in ("save_file", "save_model"):
        setattr(module, name, _saving(getattr(module, name), f"safetensors.torch.{name}"))


def patch_tensorboard(module):
    """torch.utils.tensorboard.writer."""
    for name in ("add_scalar", "add_scalars", "add_histogram", "add_image", "add_images", "add_figure"):
        _patch_log(module.SummaryWriter, name, f"torch.utils.tensorboard.SummaryWriter.{name}")


def patch_wandb(module):
    """wandb.sdk.wandb_run."""
    _patch_log(module.Run, "log", "wandb.log")


def patch_mlflow(module):
    """mlflow.tracking.fluent, whose functions `mlflow` re-exports when its own module is executed after this one."""
    for name in ("log_metric", "log_metrics", "log_artifact", "log_artifacts", "log_image", "log_figure"):
        if hasattr(module, name):
            _patch_log(module, name, f"mlflow.{name}")


def patch_lightning(module):
    """The part of Lightning's Trainer that passes metrics to all of its loggers."""
    _patch_log(module._LoggerConnector, "log_metrics", "lightning.Trainer.log_metrics")


def patch_accelerate(module):
    """accelerate.accelerator."""
    _patch_log(module.Accelerator, "log", "accelerate.Accelerator.log")


def _patch_log(holder, name, written):
    log = getattr(holder, name)

    @functools.wraps(log)
    def recorded(*arguments, **named):
        if getattr(_inside, "on", False):
            return log(*arguments, **named)
        opened = _begins(written)
        _inside.on = True
        try:
            return log(*arguments, **named)
        finally:
            _inside.on = False
            if opened is not None:
                _ends(*opened)

    setattr(holder, name, recorded)


@guarded
def _begins(written):
    session = tracing.current()
    return session.facts.called("log", written), session.now()


@guarded
def _ends(entry, began):
    add_time(entry, began, tracing.current().now())
