"""Changes around the statements of a training or validation loop: autocast, gradient scaling, no_grad."""
import ast

from .arguments import Frame, set_argument
from .code import FUNCTIONS, dotted, mentions
from .edits import Insert, Refusal, Replace, Wrap


def torch_in(work, code):
    """The name of the `torch` module in a file; adds an import if there is none."""
    name = code.torch_name()
    if name is not None:
        return name
    if any(isinstance(node, ast.Name) and node.id == "torch" and not isinstance(node.ctx, ast.Load) for node in ast.walk(code.tree)):
        raise Refusal("no_torch", f"{code.source.path} uses the name torch for another object.")
    work.edit(code, Insert(code.first_import(), "import torch", before=True, rank=-10))
    return "torch"


def _own_statement(code, call):
    """The statement of a call that can be wrapped: not the header of a loop or of a `with`."""
    statement = code.statement(call)
    if isinstance(statement, FUNCTIONS + (ast.ClassDef, ast.For, ast.While, ast.If, ast.With, ast.Try, ast.AsyncFor)):
        raise Refusal("in_header", f"Line {call.lineno} of {code.source.path} is the header of a block.")
    return statement


def device_type(program):
    """"cuda" or "cpu": the device of the model's weights."""
    devices = [str(module.get("device") or "") for module in program.get("modules") or []]
    devices += [str(item.get("device") or "") for item in program.get("objects") or [] if item.get("kind") in ("model", "forward")]
    return next((device.split(":")[0] for device in devices if device and device != "None"), "cpu")


# Autocast

def autocast_training(work, kind):
    """Puts autocast of "bf16" or "fp16" around the forward pass and the loss of each training step."""
    dtype = {"bf16": "bfloat16", "fp16": "float16"}[kind]
    known = work.objects("autocast")
    if known:
        for item in known:
            _change_autocast(work, item, dtype)
        if kind == "fp16" and not work.objects("scaler"):
            _scale_gradients(work)
        return
    forwards = [item for item in work.objects("forward") if item.get("role") != "validation"]
    if not forwards:
        raise Refusal("no_site", "The call of the model in the training loop is not in your files.")
    for item in forwards:
        frame = Frame(work, _frames(item)[0])
        first, last = _forward_and_loss(work, frame)
        torch = torch_in(work, frame.code)
        header = f'with {torch}.autocast(device_type="{device_type(work.program)}", dtype={torch}.{dtype}):'
        work.edit(frame.code, Wrap(first, last, header))
    if kind == "fp16":
        _scale_gradients(work)


def autocast_off(work):
    """Turns off every autocast of the program."""
    known = work.objects("autocast")
    if not known:
        raise Refusal("already", "The program does not use autocast.")
    for item in known:
        set_argument(work, _frames(item), "enabled", None, "False")


def _frames(item):
    if not item.get("site"):
        raise Refusal("no_site", f"The call of {item.get('class') or item['kind']} is not in your files.")
    return [item["site"]] + list(item.get("chain") or [])


def _change_autocast(work, item, dtype):
    sites = _frames(item)
    frame = Frame(work, sites[0])
    torch = torch_in(work, frame.code)
    of_device = (dotted(frame.call.func) or "").endswith(("cuda.amp.autocast", "cpu.amp.autocast"))
    set_argument(work, sites, "dtype", 1, f"{torch}.{dtype}", None)
    settings = item.get("settings") or {}
    if (settings.get("enabled") or {}).get("value") is False:
        set_argument(work, sites, "enabled", 0 if of_device else 2, "True", True)


def _forward_and_loss(work, frame):
    """The consecutive statements of a step from the model's call to the loss."""
    code = frame.code
    first = _own_statement(code, frame.call)
    if mentions(first, ("backward",)):
        raise Refusal("one_statement", f"Line {first.lineno} computes the loss and its gradients in one statement.")
    block = code.block(first)
    start = block.index(first)
    end = start
    limit = len(block)
    for index in range(start + 1, len(block)):
        if mentions(block[index], ("backward", "step")):
            limit = index
            break
    losses = [site for item in work.objects("loss") if (site := item.get("site")) and site["file"] == code.source.path]
    for site in losses:
        call = code.call_at(site)
        statement = code.statement(call) if call is not None else None
        if statement in block[start:limit]:
            end = max(end, block.index(statement))
    if limit < len(block):
        end = max(end, _last_store(block, start, limit, _names_of_loss(block[limit])))
    else:
        end = max(end, _last_user(code, block, start, limit))
    _refuse_yields(code, block[start: end + 1])
    return first, block[end]


def _names_of_loss(statement):
    """Names before `.backward` in a statement."""
    names = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
            names.update(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
    return names


def _last_store(block, start, limit, names):
    last = start
    for index in range(start, limit):
        for node in ast.walk(block[index]):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names:
                last = index
    return last


def _last_user(code, block, start, limit):
    """If the step's function only computes the loss: up to the last statement that uses the model's output."""
    names = {node.id for node in ast.walk(block[start]) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    last = start
    for index in range(start + 1, limit):
        used = {node.id for node in ast.walk(block[index]) if isinstance(node, ast.Name)}
        if used & names:
            names |= {
                node.id for node in ast.walk(block[index]) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
            last = index
    return last


def _refuse_yields(code, statements):
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, (ast.Yield, ast.YieldFrom)) and code.function(node) is code.function(statement):
                raise Refusal("generator",
                              f"Line {node.lineno} of {code.source.path} yields a value inside the block to wrap.")


def _scale_gradients(work):
    """Adds a GradScaler: around backward, the optimizer step, and unscaling before clipping."""
    backwards = [item for item in work.objects("backward") if item.get("site")]
    steps = [item for item in work.objects("optimizer_step") if item.get("site")]
    optimizers = [item for item in work.objects("optimizer") if item.get("site")]
    if len(backwards) != 1 or len(steps) != 1 or len(optimizers) != 1:
        raise Refusal("scaler",
                      "Gradient scaling needs exactly one optimizer, one backward pass and one step() in your files.")
    backward, step = Frame(work, backwards[0]["site"]), Frame(work, steps[0]["site"])
    made = Frame(work, optimizers[0]["site"])
    code = step.code
    if backward.code is not code or made.code is not code:
        raise Refusal("scaler", "The optimizer is created and used in different files.")
    home = code.function(made.call)
    if not isinstance(home, ast.Module) and home is not code.function(step.call):
        raise Refusal("scaler",
                      "The optimizer is created in one function and used in another: there is no place for a scaler.")
    loss, optimizer = _receiver(backward.call, "backward"), _receiver(step.call, "step")
    if backward.call.args or step.call.args or step.call.keywords or backward.call.keywords:
        raise Refusal("scaler", "backward() or step() has arguments.")
    torch = torch_in(work, code)
    name = next(name for name in ("scaler", "grad_scaler", "amp_scaler") if name not in code.names())
    work.edit(code, Insert(code.statement(made.call), f'{name} = {torch}.amp.GradScaler("{device_type(work.program)}")'))
    work.edit(code, Replace(loss, f"{name}.scale({code.source.segment(loss)})"))
    statement = code.statement(step.call)
    if not isinstance(statement, ast.Expr) or statement.value is not step.call:
        raise Refusal("scaler", "The value that step() returns is used.")
    text = code.source.segment(optimizer)
    work.edit(code, Replace(step.call, f"{name}.step({text})"))
    work.edit(code, Insert(statement, f"{name}.update()"))
    for item in work.objects("clip"):
        clip = Frame(work, _frames(item)[0])
        if clip.code is not code:
            raise Refusal("scaler", "Gradients are clipped in another file.")
        work.edit(code, Insert(code.statement(clip.call), f"{name}.unscale_({text})", before=True))


def _receiver(call, method):
    if not isinstance(call.func, ast.Attribute) or call.func.attr != method:
        raise Refusal("scaler", f"Line {call.lineno} does not call {method}() on an object.")
    return call.func.value


# Validation

_TRAINING = ("backward", "step")


def no_grad_in_validation(work):
    """Puts no_grad around the validation loops."""
    sites = [item for item in work.objects("validation") if item.get("grad") is not False]
    if not sites:
        raise Refusal("no_site", "No validation with gradients was recorded.")
    for item in sites:
        frame = Frame(work, _frames(item)[0])
        code = frame.code
        chosen = _own_or_loop(code, frame.call)
        torch = torch_in(work, code)
        work.edit(code, Wrap(chosen, chosen, f"with {torch}.no_grad():"))


def _own_or_loop(code, call):
    """The outermost loop of the function that contains the call but does not train; the call's statement if there is
    none."""
    chosen = None
    for node in [code.statement(call)] + list(code.ancestors(code.statement(call))):
        if isinstance(node, FUNCTIONS + (ast.ClassDef, ast.Module, ast.Lambda)):
            break
        if isinstance(node, ast.stmt) and mentions(node, _TRAINING):
            break
        if chosen is None or isinstance(node, (ast.For, ast.While)):
            chosen = node
    if chosen is None:
        raise Refusal("trains", f"Line {call.lineno} of {code.source.path} is part of a statement that trains.")
    _refuse_yields(code, [chosen])
    return chosen
