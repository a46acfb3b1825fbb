"""Changes of a program that cannot be made in the user's source: STEPSCOPE_CHANGES is a JSON object of keys and values
from the project's configuration. They are applied to torch when the program imports it, also without a recording.

If a change cannot be applied, one line on standard error says so, and the program runs without the change.
"""
import contextlib
import functools
import importlib
import importlib.abc
import inspect
import json
import os
import sys
import threading
import types
import weakref

_installed = False


def install():
    """Called before the program's first line. Does nothing if no change is requested."""
    global _installed
    if _installed or not os.environ.get("STEPSCOPE_CHANGES"):
        return
    _installed = True
    wanted = json.loads(os.environ["STEPSCOPE_CHANGES"])
    if "torch" in sys.modules:
        apply(sys.modules["torch"], wanted)
    else:
        sys.meta_path.insert(0, _AfterTorch(wanted))


class _AfterTorch(importlib.abc.MetaPathFinder):
    """Applies the changes after torch is imported, whatever finder finds it."""

    def __init__(self, wanted):
        self._wanted = wanted
        self._searching = False

    def find_spec(self, name, path, target=None):
        if name != "torch" or self._searching or self._wanted is None:
            return None
        self._searching = True  # another finder may query all finders, including this one
        try:
            others = [finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec")]
            spec = next((found for finder in others if (found := finder.find_spec(name, path, target))), None)
        finally:
            self._searching = False
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            wanted, self._wanted = self._wanted, None
            if wanted is not None:
                apply(module, wanted)

        spec.loader.exec_module = exec_module
        return spec


def apply(torch, wanted):
    """Applies changes to an imported torch."""
    groups = {}
    for key, text in wanted.items():
        change = _CHANGES.get(key)
        if change is None:
            print(f"stepscope: no hook can change {key}", file=sys.stderr)
        else:
            groups.setdefault(change, {})[key] = str(text)
    for change, values in groups.items():
        try:
            change(torch, values)
        except Exception as error:
            print(f"stepscope: {', '.join(values)} is not changed: {error!r}", file=sys.stderr)


def _is_on(text):
    return text in ("true", "True", "1", "on")


# Loaders

_LOADER_ARGUMENTS = {
    "loader.workers": ("num_workers", int),
    "loader.prefetch_factor": ("prefetch_factor", int),
    "loader.persistent_workers": ("persistent_workers", _is_on),
    "loader.pin_memory": ("pin_memory", _is_on),
}


def _change_loaders(torch, values):
    """Sets arguments of every DataLoader, whatever constructs it; the batch size only of those that shuffle or
    sample."""
    loader = importlib.import_module("torch.utils.data.dataloader").DataLoader
    construct = loader.__init__
    signature = inspect.signature(construct)

    @functools.wraps(construct)
    def __init__(self, *arguments, **named):
        bound = signature.bind(self, *arguments, **named)
        given = bound.arguments
        for key, (name, read) in _LOADER_ARGUMENTS.items():
            if key in values:
                given[name] = read(values[key])
        if "batch.size" in values and _trains(given):
            given["batch_size"] = int(values["batch.size"])
        if not given.get("num_workers"):  # rejected without workers
            for name in ("prefetch_factor", "persistent_workers"):
                given.pop(name, None)
        construct(*bound.args, **bound.kwargs)

    loader.__init__ = __init__


def _trains(given):
    """Whether these are the arguments of a training loader that creates batches."""
    if given.get("batch_sampler") is not None or given.get("batch_size", 1) is None:
        return False
    return bool(given.get("shuffle")) or given.get("sampler") is not None


def _change_copies(torch, values):
    """Makes copies from the host to a device asynchronous; copies to the host remain synchronous, because their values
    are read right after."""
    if not _is_on(values["transfer.non_blocking"]):
        return
    for name in ("to", "cuda"):
        setattr(torch.Tensor, name, _without_waiting(torch, getattr(torch.Tensor, name), name == "cuda"))


def _without_waiting(torch, method, always_to_device):
    def to_device(arguments, named):
        target = named.get("device", arguments[0] if arguments else None)
        if isinstance(target, torch.Tensor):
            return target.device.type != "cpu"
        if isinstance(target, (str, torch.device)):
            return torch.device(target).type != "cpu"
        return isinstance(target, int)

    @functools.wraps(method)
    def copy(self, *arguments, **named):
        if "non_blocking" not in named and self.device.type == "cpu":
            if not any(isinstance(part, bool) for part in arguments) and (always_to_device or to_device(arguments, named)):
                named["non_blocking"] = True
        return method(self, *arguments, **named)

    return copy


# Backends

def _change_benchmark(torch, values):
    on = _is_on(values["cudnn.benchmark"])
    torch.backends.cudnn.benchmark = on
    # Later assignments by the program have no effect.
    type(torch.backends.cudnn).benchmark = property(lambda _: on, lambda *_: None)


def _change_tf32(torch, values):
    on = _is_on(values["precision.tf32"])
    torch.set_float32_matmul_precision("high" if on else "highest")
    torch.set_float32_matmul_precision = lambda _: None
    matmul = type(torch.backends.cuda.matmul)
    assign = matmul.__setattr__
    matmul.__setattr__ = lambda self, name, value: None if name == "allow_tf32" else assign(self, name, value)


# Optimizers

def _change_zero_grad(torch, values):
    on = _is_on(values["zero_grad.set_to_none"])
    for owner in (torch.optim.Optimizer, torch.nn.Module):
        owner.zero_grad = _zeroing(owner.zero_grad, on)


def _zeroing(method, on):
    @functools.wraps(method)
    def zero_grad(self, set_to_none=True):
        return method(self, set_to_none=on)

    return zero_grad


def _change_implementation(torch, values):
    """Sets the arguments `foreach` and `fused` of each torch optimizer that has them."""
    wanted = values["optimizer.implementation"]
    for kind in vars(torch.optim).values():
        if not inspect.isclass(kind) or not issubclass(kind, torch.optim.Optimizer):
            continue
        signature = inspect.signature(kind.__init__)
        if ("fused" if wanted == "fused" else "foreach") in signature.parameters:
            kind.__init__ = _implemented(kind.__init__, signature, wanted)


def _implemented(construct, signature, wanted):
    @functools.wraps(construct)
    def __init__(self, *arguments, **named):
        bound = signature.bind(self, *arguments, **named)
        if "fused" in signature.parameters:
            bound.arguments["fused"] = wanted == "fused"
        if "foreach" in signature.parameters:
            bound.arguments["foreach"] = wanted == "foreach"
        if "params" in bound.arguments:  # the first attempt would exhaust a generator
            bound.arguments["params"] = list(bound.arguments["params"])
        try:
            construct(*bound.args, **bound.kwargs)
        except (RuntimeError, ValueError) as error:
            print(f"stepscope: {type(self).__name__} is not {wanted}: {error}", file=sys.stderr)
            for name in ("fused", "foreach"):
                bound.arguments.pop(name, None)
            construct(*bound.args, **bound.kwargs)

    return __init__


# The outermost module

class _Roots:
    """Finds the outermost modules with parameters when they are called, and changes their calls.

    Calls of all modules are watched until an optimizer has stepped twice; from then on, only those of the classes that
    were found, so that inner layers have no overhead.
    """

    def __init__(self, torch):
        self._torch = torch
        self._inside = threading.local()
        self._call = torch.nn.Module.__call__
        self._steps = 0
        self._classes = set()
        self._known = weakref.WeakKeyDictionary()  # whether the modules have parameters
        self.once = []  # functions of a module, called before its first call
        self.contexts = []  # functions of a module that return a context for its call, or None
        self.inputs = []  # functions of (module, tensor) that return the tensor to pass
        self.outputs = []  # the same for the returned tensors

    def watch(self):
        roots = self

        def __call__(module, *arguments, **named):
            if roots._steps >= 2:
                return roots._call(module, *arguments, **named)
            return roots.called(module, roots._call, arguments, named)

        self._watcher = self._torch.nn.Module.__call__ = __call__
        importlib.import_module("torch.optim.optimizer").register_optimizer_step_post_hook(self._stepped)

    def _stepped(self, *_):
        self._steps += 1
        # A recording may have wrapped it.
        if self._steps == 2 and self._torch.nn.Module.__call__ is self._watcher:
            self._torch.nn.Module.__call__ = self._call

    def called(self, module, call, arguments, named):
        if getattr(self._inside, "on", False) or self._torch.compiler.is_compiling():
            return call(module, *arguments, **named)
        known = self._known.get(module)
        if known is None:
            known = self._known[module] = next(module.parameters(), None) is not None
            if known:
                self._found(module)
        if not known:  # a loss
            return call(module, *arguments, **named)
        self._inside.on = True
        try:
            with contextlib.ExitStack() as stack:
                for make in self.contexts:
                    context = make(module)
                    if context is not None:
                        stack.enter_context(context)
                if self.inputs:
                    arguments, named = self._mapped(module, self.inputs, (arguments, named))
                result = call(module, *arguments, **named)
            return self._mapped(module, self.outputs, result) if self.outputs else result
        finally:
            self._inside.on = False

    def _found(self, module):
        for change in self.once:
            try:
                change(module)
            except Exception as error:
                print(f"stepscope: {type(module).__name__} is not changed: {error!r}", file=sys.stderr)
        kind = type(module)
        if kind not in self._classes:
            self._classes.add(kind)
            roots, call = self, kind.__call__
            original = self._call if call is self._watcher else call
            kind.__call__ = lambda module, *arguments, **named: roots.called(module, original, arguments, named)

    def _mapped(self, module, functions, value):
        """Applies the functions to tensors, also within tuples, lists and dictionaries; other objects are returned
        unchanged."""
        if isinstance(value, self._torch.Tensor):
            for function in functions:
                value = function(module, value)
            return value
        if isinstance(value, dict):
            mapped = {key: self._mapped(module, functions, part) for key, part in value.items()}
            if type(value) is dict:
                return mapped
            for key, part in mapped.items():  # outputs of transformers are dictionaries with attributes
                value[key] = part
            return value
        if type(value) in (tuple, list):
            return type(value)(self._mapped(module, functions, part) for part in value)
        return value


_roots = None


def _roots_of(torch):
    global _roots
    if _roots is None:
        _roots = _Roots(torch)
        _roots.watch()
    return _roots


def _device_type(module):
    return next(module.parameters()).device.type


def _change_precision(torch, values):
    """Runs the outermost forward pass under autocast and converts its outputs to FP32, for losses that are computed
    outside."""
    wanted = values["precision.amp"]
    if wanted == "off":
        enter = torch.autocast.__init__

        @functools.wraps(enter)
        def __init__(self, *arguments, **named):
            enter(self, *arguments, **named)
            self._enabled = False

        torch.autocast.__init__ = __init__
        return
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}[wanted]
    roots = _roots_of(torch)
    roots.contexts.append(lambda module: torch.autocast(device_type=_device_type(module), dtype=dtype))
    roots.outputs.append(lambda _, tensor: tensor.float() if tensor.dtype == dtype else tensor)
    if wanted == "fp16":
        _Scaling(torch)


class _Scaling:
    """Adds gradient scaling to a program that has none: the loss is scaled in backward(), gradients are unscaled before
    they are clipped or used, and a step whose gradients overflowed is skipped."""

    def __init__(self, torch):
        self._torch = torch
        self._scaler = None
        self._stepping = False
        self._optimizers = []
        self._unscaled = set()
        self._patch_backward()
        self._patch_optimizers()
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            self._patch_clipping(name)

    def _patch_backward(self):
        tensor, scaling = self._torch.Tensor, self
        backward = tensor.backward

        @functools.wraps(backward)
        def scaled(self, *arguments, **named):
            if scaling._stepping or self.numel() != 1 or arguments or named.get("gradient") is not None:
                return backward(self, *arguments, **named)
            if scaling._scaler is None:
                scaling._scaler = scaling._torch.amp.GradScaler(self.device.type)
            return backward(scaling._scaler.scale(self), **named)

        tensor.backward = scaled

    def _patch_optimizers(self):
        scaling, optimizer = self, self._torch.optim.Optimizer
        construct = optimizer.__init__

        @functools.wraps(construct)
        def __init__(self, *arguments, **named):
            construct(self, *arguments, **named)
            scaling._optimizers.append(self)
            step = self.step.__func__

            def scaled_step(self, *arguments, **named):
                return scaling._step(self, step, arguments, named)

            # Schedulers access the function of the bound method and check whether it has been wrapped.
            self.step = types.MethodType(functools.wraps(step)(scaled_step), self)

        optimizer.__init__ = __init__

    def _has_gradients(self, optimizer):
        return any(p.grad is not None for group in optimizer.param_groups for p in group["params"])

    def _unscale(self, optimizer):
        if id(optimizer) not in self._unscaled:
            self._unscaled.add(id(optimizer))
            self._scaler.unscale_(optimizer)

    def _step(self, optimizer, step, arguments, named):
        ours = self._scaler is not None and not arguments and not named and self._has_gradients(optimizer)
        if self._stepping or not ours:
            return step(optimizer, *arguments, **named)
        self._stepping = True
        try:
            self._unscale(optimizer)
            result = self._scaler.step(optimizer)
            self._scaler.update()
            self._unscaled.discard(id(optimizer))
            return result
        finally:
            self._stepping = False

    def _patch_clipping(self, name):
        utilities = self._torch.nn.utils
        clip = getattr(utilities, name)

        @functools.wraps(clip)
        def unscaled(parameters, *arguments, **named):
            parameters = [parameters] if isinstance(parameters, self._torch.Tensor) else list(parameters)
            if self._scaler is not None:
                ids = {id(parameter) for parameter in parameters}
                for optimizer in self._optimizers:
                    own = (id(p) for group in optimizer.param_groups for p in group["params"])
                    if self._has_gradients(optimizer) and not ids.isdisjoint(own):
                        self._unscale(optimizer)
            return clip(parameters, *arguments, **named)

        setattr(utilities, name, unscaled)
        setattr(utilities.clip_grad, name, unscaled)


def _change_memory_format(torch, values):
    if values["memory_format"] != "channels_last":
        return
    images = weakref.WeakSet()

    def convert(module):
        if any(parameter.dim() == 4 for parameter in module.parameters()):
            module.to(memory_format=torch.channels_last)
            images.add(module)

    def convert_input(module, tensor):
        if tensor.dim() == 4 and module in images:
            return tensor.contiguous(memory_format=torch.channels_last)
        return tensor

    roots = _roots_of(torch)
    roots.once.append(convert)
    roots.inputs.append(convert_input)


def _compile_models(torch, values):
    """Compiles outermost modules; modules that cannot be compiled run uncompiled."""
    if not _is_on(values["compile"]):
        torch.compile = lambda model=None, **_: model if model is not None else (lambda function: function)
        torch.nn.Module.compile = lambda self, *_, **__: None
        return

    def compile_module(module):
        importlib.import_module("torch._dynamo").config.suppress_errors = True
        module.compile()

    _roots_of(torch).once.append(compile_module)


def _validate_without_gradients(torch, values):
    """Calls models in eval mode without recording gradients."""
    if _is_on(values["eval.no_grad"]):
        _roots_of(torch).contexts.append(lambda module: None if module.training else torch.no_grad())


def _checkpoint_blocks(torch, values):
    """Recomputes activations with the framework's own switch, or around the modules of a list of equal blocks."""
    if values["checkpointing"] == "off":
        return
    checkpoint = importlib.import_module("torch.utils.checkpoint").checkpoint

    def recomputed(block):
        forward = block.forward

        @functools.wraps(forward)
        def run(*arguments, **named):
            if block.training and torch.is_grad_enabled():
                return checkpoint(forward, *arguments, use_reentrant=False, **named)
            return forward(*arguments, **named)

        block.forward = run

    def change(module):
        for switch in ("gradient_checkpointing_enable", "set_grad_checkpointing"):
            if hasattr(module, switch):
                getattr(module, switch)()
                return
        for part in module.modules():
            blocks = list(part.children())
            is_list = isinstance(part, (torch.nn.ModuleList, torch.nn.Sequential))
            if is_list and len(blocks) > 1 and len({type(block) for block in blocks}) == 1 and list(blocks[0].children()):
                for block in blocks:
                    recomputed(block)
                return
        raise ValueError("it has no list of equal blocks")

    _roots_of(torch).once.append(change)


# Tools for debugging

def _no_anomaly_detection(torch, values):
    if not _is_on(values["debug.anomaly"]):
        switch = torch.set_anomaly_enabled
        torch.set_anomaly_enabled = lambda mode, check_nan=True: switch(False, check_nan)


def _no_profiler(torch, values):
    if _is_on(values["debug.autograd_profiler"]):
        return
    profiler = importlib.import_module("torch.autograd.profiler")
    _disabled(profiler.profile)
    profiler.profile.__enter__ = lambda self: self
    newer = importlib.import_module("torch.profiler.profiler")
    construct = newer.profile.__init__

    @functools.wraps(construct)
    def __init__(self, *arguments, **named):
        named["schedule"] = lambda _: newer.ProfilerAction.NONE
        construct(self, *arguments, **named)

    newer.profile.__init__ = __init__
    # Their return value when nothing is recorded.
    empty = {name: profiler.EventList for name in ("key_averages", "events")}
    empty.update(table=str, export_chrome_trace=lambda: None, export_stacks=lambda: None)
    for kind in (profiler.profile, newer.profile):
        for name, make in empty.items():
            if hasattr(kind, name):
                setattr(kind, name, lambda self, *_, _make=make, **__: _make())


def _no_nvtx(torch, values):
    if not _is_on(values["debug.emit_nvtx"]):
        _disabled(importlib.import_module("torch.autograd.profiler").emit_nvtx)


def _disabled(kind):
    construct = kind.__init__

    @functools.wraps(construct)
    def __init__(self, *arguments, **named):
        construct(self, *arguments, **named)
        self.enabled = False

    kind.__init__ = __init__


def _no_gradient_checks(torch, values):
    for key, text in values.items():
        if not _is_on(text):
            setattr(torch.autograd, key.split(".")[1], lambda *_, **__: True)


_CHANGES = {
    **{key: _change_loaders for key in (*_LOADER_ARGUMENTS, "batch.size")},
    "transfer.non_blocking": _change_copies,
    "cudnn.benchmark": _change_benchmark,
    "precision.tf32": _change_tf32,
    "precision.amp": _change_precision,
    "zero_grad.set_to_none": _change_zero_grad,
    "optimizer.implementation": _change_implementation,
    "memory_format": _change_memory_format,
    "compile": _compile_models,
    "checkpointing": _checkpoint_blocks,
    "eval.no_grad": _validate_without_gradients,
    "debug.anomaly": _no_anomaly_detection,
    "debug.autograd_profiler": _no_profiler,
    "debug.emit_nvtx": _no_nvtx,
    "debug.gradcheck": _no_gradient_checks,
    "debug.gradgradcheck": _no_gradient_checks,
}
