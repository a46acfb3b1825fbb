"""The table of changes: one row per key. A new change needs one row here, and a function if no existing one fits.

Keys and values are those of the project's configuration.
"""
import ast

from . import flags, loops, models, proposals
from .arguments import frames_of, set_argument
from .code import dotted
from .edits import Refusal

_DATALOADER = {"batch_size": 1, "num_workers": 5, "pin_memory": 7}


class Row:
    """One change.

    parse    converts the text of the value; raises Refusal
    source   changes the user's source: function of (work, value); None: not possible
    hook     whether a hook can make the change
    setting  (kind, name) of the recorded setting that the change is about, for values from the command line
    proposal a diff to read: function of (work, value)
    veto     function of (work, value); raises Refusal if the program must not get the value in any way
    """

    def __init__(self, key, parse, source=None, hook=False, setting=None, proposal=None, veto=None):
        self.key, self.parse, self.source, self.hook = key, parse, source, hook
        self.setting, self.proposal, self.veto = setting, proposal, veto


# Values

def _invalid(text, expected):
    return Refusal("value", f"{text} is not {expected}.")


def flag(text):
    if text in ("true", "True", "1", "on"):
        return True
    if text in ("false", "False", "0", "off"):
        return False
    raise _invalid(text, "true or false")


def count(least):
    def parse(text):
        try:
            value = int(text)
        except ValueError:
            raise _invalid(text, "a whole number") from None
        if value < least:
            raise _invalid(text, f"at least {least}")
        return value

    return parse


def real(text):
    try:
        return float(text)
    except ValueError:
        raise _invalid(text, "a number") from None


def choice(*values):
    def parse(text):
        if text not in values:
            raise _invalid(text, "one of " + ", ".join(values))
        return text

    return parse


def only(wanted, reason):
    """A flag that can be changed in only one direction."""

    def parse(text):
        if flag(text) is not wanted:
            raise Refusal("direction", reason)
        return wanted

    return parse


# Settings of loaders and optimizers

def _loaders(work):
    loaders = work.training("loader")
    if not loaders:
        raise Refusal("no_object", "The program has no DataLoader for training.")
    return loaders


def _loader(name):
    """Sets an argument of each training loader."""

    def change(work, value):
        for item in _loaders(work):
            sites = frames_of(work, item)
            _check_callee(work, sites[0], item, "DataLoader")
            set_argument(work, sites, name, _DATALOADER.get(name), repr(value), _given(item, name))

    return change


def _needs_workers(name):
    change = _loader(name)

    def checked(work, value):
        for item in _loaders(work):
            workers = work.wanted("loader.workers")
            workers = _value(item, "num_workers") if workers is None else int(workers)
            if value and not workers:
                raise Refusal("needs_workers",
                              f"A DataLoader without workers rejects {name}: set loader.workers as well.")
        change(work, value)

    return checked


def _workers(work, value):
    for item in _loaders(work):
        if value == 0 and (_value(item, "persistent_workers") or (_given(item, "prefetch_factor") and _value(item, "prefetch_factor"))):
            raise Refusal("needs_workers", "The DataLoader has arguments that it rejects without workers.")
    _loader("num_workers")(work, value)


def _no_repeated_samples(work, value):
    for item in work.training("loader"):
        dataset = item.get("dataset") or {}
        if dataset.get("sharded") is False and value > max(1, _value(item, "num_workers") or 0):
            raise Refusal("not_sharded", f"Each worker would read all samples of the streaming dataset {dataset.get('class')}: "
                                         "divide them among the workers with torch.utils.data.get_worker_info() first.")


def _batch(work, value):
    for item in _loaders(work):
        if _given(item, "batch_sampler"):
            raise Refusal("batch_sampler", "The program's own batch sampler determines the batches.")
    _loader("batch_size")(work, value)


def _given(item, name):
    return ((item.get("settings") or {}).get(name) or {}).get("given")


def _value(item, name):
    return ((item.get("settings") or {}).get(name) or {}).get("value")


def _check_callee(work, site, item, base):
    """Refuses calls of other functions that construct the object internally, because they may not accept its
    arguments."""
    frame_code = work.code(site["file"])
    call = frame_code.call_at(site)
    if call is None:
        return  # set_argument() reports this
    if not is_class_call(frame_code, call, item.get("class") or base, base):
        name = dotted(call.func) or "this function"
        raise Refusal("library", f"{name} constructs the {base} internally, and its arguments are unknown.")


def is_class_call(code, call, class_name, base):
    """Whether a call constructs a class directly: by its name, an import alias, a variable bound to it, partial(), the
    constructor of a subclass, or a lookup."""
    function = call.func
    if isinstance(function, (ast.Subscript, ast.Call)):
        inner = dotted(function.func) if isinstance(function, ast.Call) else None
        return inner is None or inner.split(".")[-1] in ("getattr", "partial")
    name = code.imported(function)
    if name is None:
        return isinstance(function, ast.Attribute) and function.attr == "__init__"  # super().__init__(…)
    last = name.split(".")[-1]
    if last in (class_name.split(".")[-1], base, "__init__", "cls", "type"):
        return True
    if isinstance(function, ast.Name):
        scope = code.home(function.id, call)
        for store in code.bindings(function.id, scope):
            statement = code.statement(store)
            value = getattr(statement, "value", None)
            if isinstance(value, ast.Call) and (dotted(value.func) or "").split(".")[-1] == "partial" and value.args:
                value = value.args[0]
            names = [value] if not isinstance(value, ast.IfExp) else [value.body, value.orelse]
            if all((code.imported(part) or "").split(".")[-1] in (class_name.split(".")[-1], base) for part in names if part is not None):
                return value is not None
    return False


_FUSED = ("Adam", "AdamW", "SGD", "Adagrad")


def _implementation(work, value):
    items = work.objects("optimizer")
    if not items:
        raise Refusal("no_object", "The program has no torch optimizer.")
    for item in items:
        name = (item.get("class") or "").split(".")[-1]
        if value == "fused" and name not in _FUSED:
            raise Refusal("no_fused", f"{name} has no fused implementation.")
        sites = frames_of(work, item)
        _check_callee(work, sites[0], item, name)
        wanted = {"fused": ("fused", True), "foreach": ("foreach", True), "for-loop": ("foreach", False)}[value]
        other = "foreach" if wanted[0] == "fused" else "fused"
        if _given(item, other) and _value(item, other):
            set_argument(work, sites, other, None, "False", True)
        set_argument(work, sites, wanted[0], None, repr(wanted[1]), _given(item, wanted[0]))


def _optimizer(name, position):
    def change(work, value):
        items = work.objects("optimizer")
        if len(items) != 1:
            raise Refusal("no_object", "The program does not have exactly one optimizer.")
        sites = frames_of(work, items[0])
        _check_callee(work, sites[0], items[0], (items[0].get("class") or "").split(".")[-1])
        set_argument(work, sites, name, position, repr(value), _given(items[0], name))

    return change


def _scale_rate(work, rule):
    """The learning rate for another batch size: proportional to the ratio of the sizes, or to its square root."""
    wanted = work.wanted("batch.size")
    loaders = _loaders(work)
    old = _value(loaders[0], "batch_size")
    items = work.objects("optimizer")
    rate = _value(items[0], "lr") if len(items) == 1 else None
    if rule == "none":
        raise Refusal("already", "The learning rate does not depend on the batch size.")
    if wanted is None or not isinstance(old, int) or not isinstance(rate, (int, float)):
        raise Refusal("needs_batch",
                      "The learning rate can be scaled only with a change of batch.size, if both values are known.")
    if any((item.get("class") or "").endswith(("OneCycleLR", "CyclicLR")) for item in work.objects("scheduler")):
        raise Refusal("schedule", "The schedule sets its own learning rates, which must be scaled manually.")
    ratio = int(wanted) / old
    scaled = rate * (ratio if rule == "linear" else ratio ** 0.5)
    _optimizer("lr", 1)(work, float(f"{scaled:.6g}"))


def _set_to_none(work, value):
    for item in _called(work, "zero_grad", "zero_grad() is not called in your files."):
        sites = frames_of(work, item)
        set_argument(work, sites, "set_to_none", 0, repr(value), _given(item, "set_to_none"))


def _non_blocking(work, value):
    for item in _called(work, "to", "Your files contain no copy to the GPU.", _is_upload):
        sites = frames_of(work, item)
        code = work.code(sites[0]["file"])
        call = code.call_at(sites[0])
        position = None
        if call is not None:
            flags = [i for i, part in enumerate(call.args) if i > 0 and isinstance(part, ast.Constant) and isinstance(part.value, bool)]
            position = flags[0] if flags else None
            if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("to", "cuda", "copy_"):
                raise Refusal("library", f"Line {call.lineno} does not copy directly.")
        set_argument(work, sites, "non_blocking", position, repr(value), False)


def _is_upload(item):
    """Whether a call moves a tensor from the host to a device, as far as known."""
    target = str(_value(item, "device") or "cuda").split(":")[0]
    return item.get("of") in (None, "tensor") and item.get("from") in (None, "cpu") and target != "cpu"


def _called(work, kind, otherwise, fits=lambda item: True):
    known = work.objects(kind)
    items = [item for item in known if item.get("site") and fits(item)]
    if known and not any(fits(item) for item in known):
        raise Refusal("no_object", otherwise)
    if not items:
        raise Refusal("no_site", otherwise)
    return items


def _amp(work, value):
    if value == "off":
        loops.autocast_off(work)
    else:
        loops.autocast_training(work, value)


def _memory_format(work, value):
    if value != "channels_last":
        raise Refusal("direction", "Models are contiguous unless the program changes them.")
    models.channels_last(work)


def _compile(work, value):
    (models.compile_model if value else models.do_not_compile)(work)


def _checkpointing(work, value):
    if value == "off":
        raise Refusal("direction", "It is not recorded which calls recompute activations.")
    models.checkpoint_blocks(work)


def _by_hand(text):
    def proposal(work, value):
        raise Refusal("by_hand", text)

    return proposal


_OFF_ONLY = "Only turning it off affects nothing but the program's speed."

ROWS = {
    row.key: row
    for row in (
        Row("loader.workers", count(0), _workers, True, ("loader", "num_workers"),
            veto=_no_repeated_samples),
        Row("loader.prefetch_factor", count(1), _needs_workers("prefetch_factor"), True, ("loader", "prefetch_factor")),
        Row("loader.persistent_workers", flag, _needs_workers("persistent_workers"), True, ("loader", "persistent_workers")),
        Row("loader.pin_memory", flag, _loader("pin_memory"), True, ("loader", "pin_memory")),
        Row("batch.size", count(1), _batch, True, ("loader", "batch_size")),
        Row("optimizer.lr_scaling", choice("none", "linear", "sqrt"), _scale_rate),
        Row("optimizer.learning_rate", real, _optimizer("lr", 1), False, ("optimizer", "lr")),
        Row("optimizer.weight_decay", real, _optimizer("weight_decay", None), False, ("optimizer", "weight_decay")),
        Row("optimizer.implementation", choice("for-loop", "foreach", "fused"), _implementation, True),
        Row("zero_grad.set_to_none", flag, _set_to_none, True, ("zero_grad", "set_to_none")),
        Row("transfer.non_blocking", flag, _non_blocking, True),
        Row("cudnn.benchmark", flag, flags.cudnn_benchmark, True),
        Row("precision.tf32", flag, flags.tf32, True),
        Row("precision.amp", choice("off", "bf16", "fp16"), _amp, True),
        Row("memory_format", choice("contiguous", "channels_last"), _memory_format, True),
        Row("compile", flag, _compile, True),
        Row("checkpointing", choice("off", "all", "cheap"), _checkpointing, True),
        Row("eval.no_grad", only(True, "Validation is faster without gradients."),
            lambda work, _: loops.no_grad_in_validation(work), True),
        Row("debug.anomaly", only(False, _OFF_ONLY), lambda work, _: flags.anomaly_off(work), True),
        Row("debug.autograd_profiler", only(False, _OFF_ONLY), lambda work, _: flags.profiler_off(work), True),
        Row("debug.emit_nvtx", only(False, _OFF_ONLY), lambda work, _: flags.emit_nvtx_off(work), True),
        Row("debug.gradcheck", only(False, _OFF_ONLY), lambda work, _: flags.gradient_check_off(work, "gradcheck"), True),
        Row("debug.gradgradcheck", only(False, _OFF_ONLY), lambda work, _: flags.gradient_check_off(work, "gradgradcheck"), True),
        Row("model.conv_bias", only(False, "A bias before a batch norm has no effect."),
            lambda work, _: models.no_bias_before_norm(work)),
        Row("attention", choice("math", "sdpa"), lambda work, _: models.scaled_dot_product(work),
            proposal=proposals.fused_attention),
        Row("gradient.clip_norm", real, proposal=proposals.clip_norm),
        Row("gradient.clip_value", real, proposal=proposals.clip_value),
        Row("optimizer.kind", str, proposal=proposals.optimizer_kind),
        Row("schedule.kind", str, proposal=proposals.schedule),
        Row("sync.every_n_steps", count(0), proposal=proposals.read_later),
        Row("parallel.kind", choice("ddp"), proposal=proposals.data_parallel),
        Row("gradient.accumulation", count(1), proposal=proposals.accumulation),
        Row("host.async_work", flag, proposal=proposals.save_in_background),
        Row("batch.find_max", flag, proposal=_by_hand("Increase batch.size until memory is full, and measure each value.")),
        Row("tensors.create_on_device", flag, proposal=_by_hand(
            "Pass device= to the functions that create the tensor instead of copying the result.")),
        Row("tensors.share_memory", flag, proposal=_by_hand(
            "Use torch.as_tensor() or torch.from_numpy() instead of torch.tensor() for arrays that are not modified "
            "afterwards.")),
        Row("augment.device", flag, proposal=_by_hand(
            "Apply the transforms to whole batches on the GPU, after the copy, instead of to each sample in the dataset.")),
        Row("fuse.pointwise", flag, proposal=_by_hand("Compile the model, or the function with the pointwise operators.")),
        Row("work.unused", flag, proposal=_by_hand("Remove code whose results are not used.")),
        Row("data.normalize", flag, proposal=_by_hand(
            "Subtract the mean of the training samples from the inputs and divide by their standard deviation.")),
        Row("model.norm", str, proposal=_by_hand("Add normalization after the layers.")),
    )
}
