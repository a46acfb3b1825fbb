"""Diffs to read: changes whose effect on what the program learns or prints is for its author to judge."""
import ast

from .arguments import Frame, frames_of
from .code import dotted
from .edits import Insert, Replace
from .loops import torch_in
from .refusal import Refusal

_OPTIMIZERS = {"sgd": "SGD", "adam": "Adam", "adamw": "AdamW"}


def clip_norm(work, value):
    _before_step(work, lambda torch, model: f"{torch}.nn.utils.clip_grad_norm_({model}.parameters(), {value})")


def clip_value(work, value):
    _before_step(work, lambda torch, model: f"{torch}.nn.utils.clip_grad_value_({model}.parameters(), {value})")


def _before_step(work, line):
    if work.objects("scaler"):
        raise Refusal("by_hand", "Gradients must be unscaled before they are clipped: scaler.unscale_(optimizer).")
    frame = _only(work, "optimizer_step", "step() of the optimizer")
    forward = _only(work, "forward", "the model")
    model = dotted(forward.call.func)
    if model is None or forward.code is not frame.code:
        raise Refusal("by_hand", "The model has no name where the optimizer steps.")
    statement = frame.code.statement(frame.call)
    work.edit(frame.code, Insert(statement, line(torch_in(work, frame.code), model), before=True, rank=1))


def _only(work, kind, what):
    items = [item for item in work.objects(kind) if item.get("site") and item.get("role") != "validation"]
    if len(items) != 1:
        raise Refusal("no_site", f"There is not exactly one call of {what} in the user's own files.")
    return Frame(work, items[0]["site"])


def optimizer_kind(work, value):
    """Another class with the arguments that are written: what it does not take is for the reader to remove."""
    name = _OPTIMIZERS.get(value)
    if name is None:
        raise Refusal("by_hand", f"torch has no {value.upper()}: it comes from a package of its own.")
    frame = _only_optimizer(work)
    torch = torch_in(work, frame.code)
    work.edit(frame.code, Replace(frame.call.func, f"{torch}.optim.{name}"))


def _only_optimizer(work):
    items = [item for item in work.objects("optimizer") if item.get("site")]
    if len(items) != 1:
        raise Refusal("no_site", "There is not exactly one optimizer in the user's own files.")
    return Frame(work, frames_of(work, items[0])[0])


def schedule(work, value):
    kinds = {
        "cosine": "CosineAnnealingLR({optimizer}, T_max=EPOCHS)",
        "one_cycle": "OneCycleLR({optimizer}, max_lr={optimizer}.param_groups[0]['lr'], total_steps=STEPS)",
        "step": "StepLR({optimizer}, step_size=EPOCHS // 3)",
        "linear": "LinearLR({optimizer}, start_factor=1.0, end_factor=0.001, total_iters=STEPS)",
    }
    if value not in kinds:
        raise Refusal("by_hand", f"There is no proposal for the schedule {value}.")
    frame = _only_optimizer(work)
    statement = frame.code.statement(frame.call)
    target = dotted(statement.targets[0]) if isinstance(statement, ast.Assign) else None
    if target is None:
        raise Refusal("no_variable", "The optimizer is not kept in a variable where it is constructed.")
    torch = torch_in(work, frame.code)
    line = f"scheduler = {torch}.optim.lr_scheduler." + kinds[value].format(optimizer=target)
    work.edit(frame.code, Insert(statement, line + "  # call scheduler.step() as often as it counts"))


def read_later(work, _):
    """`total += loss.item()` with the sum kept on the device: one wait when it is read, none in each step."""
    for item in work.objects("sync"):
        if not item.get("site"):
            continue
        frame = Frame(work, item["site"])
        statement = frame.code.statement(frame.call)
        is_item = isinstance(frame.call.func, ast.Attribute) and frame.call.func.attr == "item"
        if is_item and isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
            text = frame.code.source.segment(frame.call.func.value)
            work.edit(frame.code, Replace(frame.call, f"{text}.detach()"))
    if not work.has_edits():
        raise Refusal("by_hand", "The program uses the value: read it every so many steps, or after the epoch, from a "
                                 "tensor that stays on the device.")


def data_parallel(work, _):
    """DistributedDataParallel needs one process per GPU, so that more than this line changes."""
    items = [item for item in work.objects("data_parallel") if item.get("site")]
    if not items:
        raise Refusal("no_site", "DataParallel is not constructed in the user's own files.")
    frame = Frame(work, items[0]["site"])
    torch = torch_in(work, frame.code)
    if not frame.call.args:
        raise Refusal("no_call", f"Line {frame.call.lineno} does not construct DataParallel directly.")
    model = frame.code.source.segment(frame.call.args[0])
    rank = 'int(os.environ["LOCAL_RANK"])'
    text = f"{torch}.nn.parallel.DistributedDataParallel({model}, device_ids=[{rank}])"
    statement = frame.code.statement(frame.call)
    work.edit(frame.code, Insert(statement, "import os", before=True, rank=0))
    work.edit(frame.code, Insert(statement, f'{torch}.distributed.init_process_group("nccl")', before=True, rank=1))
    work.edit(frame.code, Insert(statement, f"{torch}.cuda.set_device({rank})", before=True, rank=2))
    work.edit(frame.code, Replace(frame.call, text))
