"""Changes to a model after its construction and inside its class."""
import ast

from .arguments import Frame, frames_of, set_argument
from .code import FUNCTIONS, dotted, mentions, site_of
from .edits import Insert, Refusal, Remove, Replace
from .loops import torch_in

_CONVOLUTION_BIAS = 7  # position of `bias` among the arguments of ConvNd


def after_model(work, line, rank):
    """Adds a line after the statement that creates the model. line: a function of (torch's name, the model's
    variable)."""
    models = [item for item in work.objects("model") if item.get("site")]
    if len(models) != 1:
        raise Refusal("no_site", "The model is not constructed in exactly one place of your files.")
    frame, target = _assignment(work, frames_of(work, models[0]))
    code = frame.code
    statement = _last_of_construction(code, code.statement(frame.call), target)
    work.edit(code, Insert(statement, line(torch_in(work, code), target), rank=rank))


def _assignment(work, sites):
    """The innermost frame in which the model is assigned to a variable."""
    for index in range(len(sites)):
        try:
            frame = Frame(work, sites[index])
        except Refusal:
            break
        statement = frame.code.statement(frame.call)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = dotted(statement.targets[0])
            if target is not None and _is_the_value(statement.value, frame.call):
                return frame, target
        if not isinstance(statement, ast.Return):  # the caller of a factory may store what it returns
            break
    raise Refusal("no_variable", "The model is not stored in a variable where it is constructed.")


def _is_the_value(value, call):
    """Whether an expression is the object that a call creates: the call itself, or methods on it that return the
    model."""
    while value is not call:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if value.func.attr not in ("to", "cuda", "cpu", "float", "train", "double", "half", "bfloat16"):
                return False
            value = value.func.value
        else:
            return False
    return True


def _last_of_construction(code, statement, target):
    """Skips directly following statements that only move the model: `model.to(device)`, `model = model.cuda()`."""
    block = code.block(statement)
    index = block.index(statement)
    while index + 1 < len(block):
        following = block[index + 1]
        value = getattr(following, "value", None)
        moved = (
            isinstance(following, (ast.Expr, ast.Assign)) and isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda", "train", "float")
            and dotted(value.func.value) == target
        )
        if not moved:
            break
        index += 1
    return block[index]


def channels_last(work):
    after_model(work, lambda torch, model: f"{model} = {model}.to(memory_format={torch}.channels_last)", rank=1)
    if not _takes_images(work.program):
        return
    for item in work.objects("forward"):
        if not item.get("site"):
            continue
        frame = Frame(work, item["site"])
        call = frame.call
        if call.args and isinstance(call.args[0], (ast.Name, ast.Attribute, ast.Subscript)):
            torch = torch_in(work, frame.code)
            text = frame.code.source.segment(call.args[0])
            work.edit(frame.code, Replace(call.args[0], f"{text}.to(memory_format={torch}.channels_last)"))


def _takes_images(program):
    """Whether the model's first weights belong to a two-dimensional convolution, so that its input has four
    dimensions."""
    for module in program.get("modules") or []:
        name = str(module.get("class") or "").split(".")[-1]
        if name == "Conv2d":
            return True
        if name in ("Linear", "Embedding", "Conv1d", "Conv3d", "LSTM", "GRU"):
            return False
    return False


def compile_model(work):
    # torch.compile() wraps the model, which changes the names in its state_dict; Module.compile() keeps them.
    def line(torch, model):
        if any("state_dict" in work.text(path) or "torch.save" in work.text(path) for path in work.paths()):
            return f"{model}.compile()"
        return f"{model} = {torch}.compile({model})"

    if work.objects("compile"):
        raise Refusal("already", "The program already compiles its model.")
    after_model(work, line, rank=2)


def do_not_compile(work):
    known = work.objects("compile")
    if not known:
        raise Refusal("already", "The program does not compile its model.")
    for item in known:
        frame = Frame(work, frames_of(work, item)[0])
        code, call = frame.code, frame.call
        statement = code.statement(call)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "compile" and not call.args:
            if isinstance(statement, ast.Expr) and statement.value is call:
                work.edit(code, Remove(statement))
                continue
        if not call.args:
            raise Refusal("no_call", f"Line {call.lineno} does not compile a model directly.")
        text = code.source.segment(call.args[0])
        simple = isinstance(call.args[0], (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
        work.edit(code, Replace(call, text if simple else f"({text})"))


# Inside the model's class

def no_bias_before_norm(work):
    """Sets `bias=False` for each convolution that a batch norm directly follows."""
    pairs = work.program.get("conv_bn") or []
    wanted = [pair for pair in pairs if pair.get("bias", True)]
    if not wanted:
        raise Refusal("already", "No convolution with a bias is directly followed by a batch norm.")
    names = {_conv_name(pair) for pair in pairs}
    classes = {str(module.get("name")): str(module.get("class")).split(".")[-1] for module in work.program.get("modules") or []}
    calls = {}
    for pair in wanted:
        if isinstance(pair, dict) and pair.get("site"):
            frame = Frame(work, pair["site"])
            if (dotted(frame.call.func) or "").split(".")[-1].startswith("Conv"):
                calls[id(frame.call)] = [pair["site"]] + list(pair.get("chain") or [])
                continue
        site = _construction(work, _conv_name(pair), classes, names)
        calls[(site["file"], site["end_line"], site["end_column"])] = [site]
    for sites in calls.values():
        set_argument(work, sites, "bias", _CONVOLUTION_BIAS, "False")


def _conv_name(pair):
    return str(pair.get("conv") or pair.get("name") or "")


def _construction(work, name, classes, all_names):
    """The place where a convolution of the model is constructed, found by its attribute in the class of its parent
    module."""
    parent, _, attribute = name.rpartition(".")
    owner = classes.get(parent)
    if owner is None or not attribute:
        raise Refusal("no_site", f"It is unknown where {name} is constructed.")
    for sibling, kind in classes.items():
        other = f"{sibling}.{attribute}" if sibling else attribute
        if kind == owner and other in classes and other not in all_names:
            raise Refusal("shared", f"Another module of the class {owner} has no batch norm after {attribute}.")
    if attribute.isdigit():
        outer, _, sequence = parent.rpartition(".")
        return _site_of(*_child_call(work, classes.get(outer), sequence, int(attribute), name))
    return _site_of(*_attribute_call(work, owner, attribute, name))


def _attribute_call(work, owner, attribute, name):
    for path in work.paths():
        code = work.code(path)
        for node in ast.walk(code.tree):
            if isinstance(node, ast.ClassDef) and node.name == owner:
                found = [
                    part.value for part in ast.walk(node)
                    if isinstance(part, ast.Assign) and dotted(part.targets[0]) == "self." + attribute
                ]
                if len(found) == 1 and isinstance(found[0], ast.Call):
                    return code, found[0]
    raise Refusal("no_site", f"{name} is not constructed in your files.")


def _child_call(work, owner, sequence, index, name):
    code, call = _attribute_call(work, owner, sequence, name)
    if (dotted(call.func) or "").split(".")[-1] == "Sequential" and len(call.args) > index:
        child = call.args[index]
        if isinstance(child, ast.Call) and not any(isinstance(part, ast.Starred) for part in call.args):
            return code, child
    raise Refusal("no_site", f"{name} is not constructed in your files.")


def _site_of(code, call):
    last = (dotted(call.func) or "").split(".")[-1]
    if not last.startswith("Conv"):
        raise Refusal("no_site", f"Line {call.lineno} of {code.source.path} does not construct a convolution directly.")
    return site_of(code.source.path, call)


def checkpoint_blocks(work):
    """Recomputes activations: with the framework's own switch, or around each block of a list that the forward pass
    runs in order."""
    model = next((item for item in work.objects("model") if item.get("site")), None)
    switch = {"transformers": "gradient_checkpointing_enable", "timm": "set_grad_checkpointing"}.get(
        model.get("framework") if model else None
    )
    if switch:
        after_model(work, lambda _, variable: f"{variable}.{switch}()", rank=3)
        return
    for path in work.paths():
        code = work.code(path)
        calls = [call for node in ast.walk(code.tree) if isinstance(node, ast.For) for call in _block_calls(code, node)]
        if calls:
            if "import torch.utils.checkpoint" not in code.source.text:
                line = "import torch.utils.checkpoint"
                work.edit(code, Insert(code.first_import(), line, before=True, rank=-9))
            for call in calls:
                arguments = ", ".join(code.source.segment(part) for part in [call.func] + call.args)
                work.edit(code, Replace(call, f"torch.utils.checkpoint.checkpoint({arguments}, use_reentrant=False)"))
            return
    raise Refusal("no_blocks", "Your files contain no list of blocks that the model runs in order.")


def _block_calls(code, loop):
    """Returns the calls in `for block in self.blocks: x = block(x)`."""
    function = code.function(loop)
    if not isinstance(function, FUNCTIONS) or function.name != "forward" or not isinstance(loop.target, ast.Name):
        return []
    if not (dotted(loop.iter) or "").startswith("self.") or mentions(loop, ("checkpoint",)):
        return []
    return [
        statement.value for statement in loop.body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Name) and statement.value.func.id == loop.target.id
        and statement.value.args and not statement.value.keywords
        and not any(isinstance(part, ast.Starred) for part in statement.value.args)
    ]


def scaled_dot_product(work):
    """Hugging Face models choose their attention with an argument of from_pretrained() or from_config()."""
    model = next((item for item in work.objects("model") if item.get("site")), None)
    if not model or model.get("framework") != "transformers":
        raise Refusal("by_hand",
                      "The model implements attention with separate operators: replace matmul, softmax and matmul with "
                      "torch.nn.functional.scaled_dot_product_attention, which gives the same result within rounding.")
    sites = frames_of(work, model)
    frame = Frame(work, sites[0])
    if (dotted(frame.call.func) or "").split(".")[-1] not in ("from_pretrained", "from_config", "_from_config"):
        raise Refusal("no_call", "The model is not constructed by from_pretrained() or from_config().")
    set_argument(work, sites, "attn_implementation", None, '"sdpa"')
