"""Diffs that are only proposed: their authors must check the effect on what the program learns or prints."""
import ast

from .arguments import Frame, frames_of
from .code import dotted
from .edits import Insert, Refusal, Remove, Replace, Wrap
from .loops import torch_in

_OPTIMIZERS = {"sgd": "SGD", "adam": "Adam", "adamw": "AdamW"}


def clip_norm(work, value):
    _before_step(work, lambda torch, model: f"{torch}.nn.utils.clip_grad_norm_({model}.parameters(), {value})")


def clip_value(work, value):
    _before_step(work, lambda torch, model: f"{torch}.nn.utils.clip_grad_value_({model}.parameters(), {value})")


def _before_step(work, line):
    if work.objects("scaler"):
        raise Refusal("by_hand", "Unscale gradients before clipping them: call scaler.unscale_(optimizer).")
    frame = _only(work, "optimizer_step", "the optimizer's step()")
    forward = _only(work, "forward", "the model")
    model = dotted(forward.call.func)
    if model is None or forward.code is not frame.code:
        raise Refusal("by_hand", "The model has no variable name at the optimizer step.")
    statement = frame.code.statement(frame.call)
    work.edit(frame.code, Insert(statement, line(torch_in(work, frame.code), model), before=True, rank=1))


def _only(work, kind, what):
    items = [item for item in work.objects(kind) if item.get("site") and item.get("role") != "validation"]
    if len(items) != 1:
        raise Refusal("no_site", f"Your files do not contain exactly one call of {what}.")
    return Frame(work, items[0]["site"])


def optimizer_kind(work, value):
    """Uses another class with the same arguments; the reader has to remove those that it does not accept."""
    name = _OPTIMIZERS.get(value)
    if name is None:
        raise Refusal("by_hand", f"torch has no {value.upper()}: use a separate package.")
    frame = _only_optimizer(work)
    torch = torch_in(work, frame.code)
    work.edit(frame.code, Replace(frame.call.func, f"{torch}.optim.{name}"))


def _only_optimizer(work):
    items = [item for item in work.objects("optimizer") if item.get("site")]
    if len(items) != 1:
        raise Refusal("no_site", "Your files do not contain exactly one optimizer.")
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
        raise Refusal("no_variable", "The optimizer is not stored in a variable where it is constructed.")
    torch = torch_in(work, frame.code)
    line = f"scheduler = {torch}.optim.lr_scheduler." + kinds[value].format(optimizer=target)
    work.edit(frame.code, Insert(statement, line + "  # call scheduler.step() once per unit that it counts"))


def accumulation(work, count):
    """Accumulates gradients over several batches: divides the loss, and runs the code after backward() only on the last
    batch."""
    if count == 1:
        raise Refusal("by_hand", "A loop without accumulation already uses one batch per optimizer step.")
    if work.objects("scaler"):
        raise Refusal("by_hand",
                      "With a GradScaler, call scaler.step() and scaler.update() only for the last batch, and divide "
                      "the loss before it is scaled.")
    step = _only(work, "optimizer_step", "the optimizer's step()")
    backward = _only(work, "backward", "backward()")
    zero = _only(work, "zero_grad", "zero_grad()")
    code = step.code
    loss = backward.call.func.value if isinstance(backward.call.func, ast.Attribute) else None
    if loss is None or backward.call.func.attr != "backward" or backward.call.args:
        raise Refusal("by_hand",
                      "The loss has no backward() call of its own: divide it by the number of batches manually.")
    if backward.code is not code or zero.code is not code:
        raise Refusal("by_hand", "backward(), step() and zero_grad() are in several files.")
    loop = next((node for node in code.ancestors(step.call) if isinstance(node, (ast.For, ast.While))), None)
    frames = (step, backward, zero)
    if loop is None or any(code.function(frame.call) is not code.function(loop) for frame in frames):
        raise Refusal("by_hand", "backward(), step() and zero_grad() are not in one loop of one function.")
    clips = [Frame(work, item["site"]) for item in work.objects("clip") if item.get("site")]
    name = "micro_batches"
    while name in code.names():
        name += "_"
    condition = f"if {name} % {count} == 0:"
    work.edit(code, Insert(loop, f"{name} = 0", before=True))
    work.edit(code, Replace(loss, f"({code.source.segment(loss)} / {count})"))
    work.edit(code, Insert(code.statement(backward.call), f"{name} += 1"))
    for frame in [step, zero, *(clip for clip in clips if clip.code is code and code.contains(loop, clip.call))]:
        statement = code.statement(frame.call)
        work.edit(code, Wrap(statement, statement, condition))


def save_in_background(work, _):
    """Saves a copy with torch.save() on another thread, so that training does not wait for the disk. One thread writes all
    of them, so that two never write the same file, and the files are complete when the program ends."""
    for item in work.objects("save"):
        if not item.get("site"):
            continue
        frame = Frame(work, item["site"])
        code, call, statement = frame.code, frame.call, frame.code.statement(frame.call)
        if not isinstance(statement, ast.Expr) or statement.value is not call or len(call.args) < 2 or call.keywords:
            continue
        writer = "checkpoint_writer"
        while writer in code.names():
            writer += "_"
        what, *where = (code.source.segment(part) for part in call.args)
        text = f"{writer}.submit({code.source.segment(call.func)}, copy.deepcopy({what}), {', '.join(where)})"
        # The callback's error is logged with its traceback; that of the future alone is not.
        work.edit(code, Replace(call, text + ".add_done_callback(lambda done: done.result())"))
        first, last = code.first_import(), code.last_import()
        for module in ("copy", "concurrent.futures"):
            work.edit(code, Insert(first, f"import {module}", before=True, rank=-10))
        created = f"{writer} = concurrent.futures.ThreadPoolExecutor(max_workers=1)"
        work.edit(code, Insert(last or first, created, before=last is None, rank=-5))
    if not work.has_edits():
        raise Refusal("by_hand", "Move logging and checkpoints to a thread that keeps their order, and pass it "
                                 "tensors that training no longer changes.")


def fused_attention(work, _):
    """Replaces softmax(q @ kᵀ · scale [, mask]) @ v by one call. The reader has to check mask, scale and dropout."""
    places = [entry["site"] for entry in work.program.get("attention") or [] if entry["kind"] == "written out" and entry["site"]]
    for site in places:
        frame = Frame(work, site)
        code = frame.code
        softmax = code.statement(frame.call)
        block = code.block(softmax)
        at = block.index(softmax)
        # The matmul that uses the softmax is in the same statement or a later one; the first matmul is in the same or
        # an earlier one.
        uses = (i for i in range(at, len(block)) for part in _products(block[i]) if i > at or code.contains(part, frame.call))
        last = next(uses, None)
        first = next((i for i in range(at - 1, -1, -1) if _products(block[i])), None)
        if first is None or last is None:
            continue
        query, key = _factors(_products(block[first])[0])
        _, value = _factors(_products(block[last])[-1])
        between = " ".join(code.source.segment(part) for part in block[first : last + 1])
        is_causal = "triu" in between or "tril" in between
        mask = ", is_causal=True" if is_causal else ", attn_mask=MASK" if "mask" in between else ""
        texts = [code.source.segment(part) for part in (query, _untransposed(key), value)]
        torch = torch_in(work, code)
        call = f"{torch}.nn.functional.scaled_dot_product_attention({', '.join(texts)}{mask})"
        for statement in block[first:last]:
            work.edit(code, Remove(statement))
        work.edit(code, Replace(_products(block[last])[-1], call))
    if not work.has_edits():
        raise Refusal("by_hand",
                      "The model implements attention with separate operators: replace matmul, softmax and matmul with "
                      "torch.nn.functional.scaled_dot_product_attention, which gives the same result within rounding.")


def _products(statement):
    """Matmuls of two operands in a statement."""
    found = []
    for node in ast.walk(statement):
        called = isinstance(node, ast.Call) and (dotted(node.func) or "").split(".")[-1] in ("matmul", "bmm")
        if called and len(node.args) == 2 or isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found.append(node)
    return found


def _factors(product):
    return (product.left, product.right) if isinstance(product, ast.BinOp) else product.args


def _untransposed(key):
    """Returns k for k.transpose(-2, -1), k.mT and k.T."""
    if isinstance(key, ast.Call) and isinstance(key.func, ast.Attribute) and key.func.attr == "transpose":
        return key.func.value
    if isinstance(key, ast.Attribute) and key.attr in ("mT", "T"):
        return key.value
    raise Refusal("by_hand", "The keys of the attention are transposed in another place: pass the untransposed keys to "
                             "scaled_dot_product_attention.")


def read_later(work, _):
    """Keeps the sum of `total += loss.item()` on the device: one wait when it is read instead of one per step."""
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
        raise Refusal("by_hand", "The program uses the value: read it only every n steps, or after the epoch, from a "
                                 "tensor that stays on the device.")


def data_parallel(work, _):
    """DistributedDataParallel needs one process per GPU, so more than this line has to change."""
    items = [item for item in work.objects("data_parallel") if item.get("site")]
    if not items:
        raise Refusal("no_site", "DataParallel is not constructed in your files.")
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
