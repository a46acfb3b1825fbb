"""Models: which modules the optimizers train, their forward passes, and their parts.

Modules are known from their construction on. Once an optimizer has their parameters, the outermost of them are watched:
their classes get a `__call__` that reports calls. Nothing is stored in a module, so saving, copying and scripting it
work as before. The first forward pass in training is followed function by function, once, to find facts that only the
order of calls shows: convolutions directly before a batch norm, and unfused attention.
"""
import functools
import itertools
import sys
import weakref
from threading import get_ident

from . import sites, tracing
from .arguments import plain
from .guard import guarded, report
from .loaders import class_name

_MOST_MODULES = 4000  # in the document
_MOST_NAMES = 20  # of modules, in one list
_MOST_LEVELS = 4  # below the outermost module, where calls are searched
_MOST_FOUND = 200
# Functions that may be between attention's matmuls: scaling, masks, dropout, casts, views.
_MOST_BETWEEN = 14
_MOST_VALUES = 50_000_000  # first samples of a batch of which the mean is computed
_PRODUCTS = ("matmul", "bmm", "baddbmm", "einsum", "__matmul__", "__rmatmul__")
_CONVOLUTIONS = ("conv1d", "conv2d", "conv3d")
_SOFTMAXES = ("softmax",)
# Functions that start no operator.
_QUERIES = ("__get__", "dim", "size", "stride", "numel", "is_floating_point", "__len__", "is_contiguous")
_LEAST_REPEATS = 8  # of a function by one line in one forward pass, from which on the line is in the document
_MOST_LINES = 50


class Models:
    def __init__(self, session):
        self._session = session
        self._modules = {}  # by id: (weak reference, call that created it)
        self._parameters = set()  # ids of parameters that optimizers have or had
        self._optimizers = weakref.WeakSet()
        self._by_hand = weakref.WeakSet()  # modules that are trained without an optimizer
        self._known = (0, 0)  # numbers of modules and optimizers at the last attach()
        self._made = 0
        self._watched = {}  # by id: the model object of an outermost trained module
        self._inner = {}  # by id: the model object of an outermost trained module that wraps this one
        self._copies = {}  # by id: the model object of which an untrained module of the same class and size is a copy
        self._levels = 0
        self._classes = set()
        self._inside = {}  # by thread: whether a watched module is being called
        self.forwards = 0
        self.traced = None
        self.input_listener = None  # called with the arguments of each forward pass in training

    def restart(self):
        """Called when a recording begins; modules and optimizers stay known."""
        self._known = (0, 0)
        self._watched, self._inner, self._copies = {}, {}, {}
        self._levels = 0
        self._inside = {}
        self.forwards = 0
        self.traced = None
        self.attach()

    @guarded
    def module_made(self, module):
        self._remember_call(module, sites.capture_construction(module, depth=3))

    @guarded
    def module_restored(self, module):
        """Registers a module that was copied, loaded, or sent to this process, which does not call its __init__."""
        self._remember_call(module, sites.capture(sites.caller(3)))

    def module_found(self, module):
        """Registers a module that was created before the hooks were installed."""
        if id(module) not in self._modules:
            self._remember_call(module, None)

    def _remember_call(self, module, call):
        key = id(module)
        self._made += 1
        try:
            self._modules[key] = (weakref.ref(module, lambda _: self._modules.pop(key, None)), call)
        except TypeError:  # its class does not support weak references
            pass

    def optimizer_made(self, optimizer):
        try:
            self._optimizers.add(optimizer)
        except TypeError:
            return
        self.attach()

    def trained_without_optimizer(self, module):
        self._by_hand.add(module)
        self.attach()

    def call_of(self, module):
        """The call that created a module, or None."""
        known = self._modules.get(id(module))
        return known[1] if known is not None and known[0]() is module else None

    # ---- which modules are watched ----

    def attach(self):
        """Watches the outermost modules with parameters of the optimizers. Never raises."""
        try:
            self._attach()
        except Exception as error:
            self._session.facts.note(f"models are not watched: {error!r}")

    def _attach(self):
        state = (self._made, len(self._optimizers) + len(self._by_hand))
        if state == self._known:
            return
        self._known = state
        trained = self._trained_parameters()
        self._parameters |= trained
        modules = [module for module in (reference() for reference, _ in list(self._modules.values())) if module is not None]
        children = {id(child) for module in modules for child in vars(module).get("_modules", {}).values() if child is not None}
        roots = [module for module in modules if id(module) not in children and _has_any(module, trained)]
        for module in roots:
            self._watch(module)
        for key in [key for key in self._watched if key in children]:
            del self._watched[key]  # wrapped since then, by torch.compile or DistributedDataParallel
        self._inner = self._wrapped_by(roots)
        self._copies = self._copies_among(modules)

    def _wrapped_by(self, roots):
        """The children that hold all parameters of an outermost module: programs train the module, for example timm's task
        or DistributedDataParallel, and validate with what it wraps."""
        inner = {}
        for module in roots:
            entry = self._watched.get(id(module))
            if entry is None or "OptimizedModule" in type(module).__name__:
                continue
            for child in module.children():
                # Containers of torch.nn are parts of a model: watching them would slow down calls of every one of them.
                # A module that is distributed is the whole model, whatever its class.
                is_part = type(child).__module__.startswith("torch.nn.") and not _is_distributed(module)
                if _size(child) == _size(module) and not is_part and not _is_script(child):
                    inner[id(child)] = entry
                    self._watch_class(type(child))
        return inner

    def _copies_among(self, modules):
        """Untrained modules with the class and size of a watched one, or of the module that it wraps: usually averages
        of its weights, teachers or targets."""
        originals, trained = {}, set()
        for module in modules:
            entry = self._watched.get(id(module))
            if entry is None:
                continue
            trained.update(id(part) for part in module.modules())
            inner = vars(module).get("_modules", {}).get("module")  # of DistributedDataParallel
            for original in (module, inner):
                if original is not None:
                    originals[type(original), _size(original)] = entry
        classes = {kind for kind, _ in originals}
        copies = {}
        for module in modules:
            if type(module) not in classes or id(module) in trained:
                continue
            entry = originals.get((type(module), _size(module)))
            if entry is not None:
                copies[id(module)] = entry
                self._watch_class(type(module))
        return copies

    def _watch(self, module, entry=None):
        if id(module) in self._watched or _is_script(module):
            return
        if entry is None:
            entry = self._session.facts.of(module)
        if entry is None or entry.kind != "model":
            entry = self._session.facts.add("model", class_name(type(module)), self.call_of(module), module)
            if entry is None:
                return
            self._session.facts.describers["model"] = self._describe
        self._watched[id(module)] = entry
        self._watch_class(type(module))

    def _describe(self, entry, module):
        _describe_model(entry, module)
        # At the end of a program, a model may outlive its optimizer.
        self._parameters |= self._trained_parameters()
        _describe_gradients(entry, module, self._parameters)

    def _trained_parameters(self):
        """Ids of the parameters that are trained."""
        trained = {id(p) for o in self._optimizers for group in o.param_groups for p in group["params"]}
        return trained | {id(p) for module in self._by_hand for p in module.parameters()}

    def _watch_class(self, kind):
        if any(known in kind.__mro__ and "__call__" in vars(known) for known in self._classes) and kind not in self._classes:
            # A base class already reports calls, unless this class overrides __call__.
            if "__call__" not in vars(kind):
                return
        if kind in self._classes:
            return
        self._classes.add(kind)
        kind.__call__ = _watching(self, kind)

    @guarded
    def watch_submodules(self):
        """Called if no watched module was called before a backward pass: the program calls parts of it, as Lightning's
        modules do. Watches the parts as well."""
        if self._levels >= _MOST_LEVELS:
            return
        self._levels += 1
        for reference, _ in list(self._modules.values()):
            module = reference()
            entry = self._watched.get(id(module)) if module is not None else None
            if entry is not None:
                for child in module.children():
                    self._watch(child, entry)

    # ---- calls ----

    def called(self, module, entry, call, arguments, named):
        """A watched module is called."""
        thread = get_ident()
        if self._inside.get(thread):
            return call(*arguments, **named)
        self._inside[thread] = True
        try:
            return self._outermost(module, entry, call, arguments, named)
        finally:
            self._inside[thread] = False

    def _outermost(self, module, entry, call, arguments, named):
        torch = sys.modules["torch"]
        grad = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
        if not self._session.phases.is_training(module, grad):
            evaluates = self._evaluation_begins(module, entry, grad)
            try:
                return call(*arguments, **named)
            finally:
                if evaluates:
                    self._evaluation_ends()
        if self.input_listener is not None:
            self.input_listener(arguments, named)
        opened = self._forward_begins(entry)
        try:
            mode = self._traced(torch, module, arguments, named) if self.traced is None else None
            if mode is None:
                return call(*arguments, **named)
            with mode:
                return call(*arguments, **named)
        finally:
            if opened is not None:
                self._forward_ends(entry, grad, *opened)

    @guarded
    def copy_called(self, entry):
        """A copy of a trained module is called: for validation, if nothing is trained on the loader's batches."""
        if self._inside.get(get_ident()):
            return
        torch = sys.modules["torch"]
        grad = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
        place = self._session.facts.called("validation", entry.name, depth=3)
        if place is not None:
            place.count -= 1  # counted once per validation
        with self._session.lock:
            self._session.phases.copy_called(entry, grad, place)

    @guarded
    def _evaluation_begins(self, module, entry, grad):
        session = self._session
        place = None if module.training else session.facts.called("validation", entry.name, depth=4)
        with session.lock:
            return session.phases.evaluation_began(session.now(), module, entry, grad, place)

    @guarded
    def _evaluation_ends(self):
        with self._session.lock:
            self._session.phases.evaluation_ended(self._session.now())

    # Both catch their errors themselves: see Session.open().

    def _forward_begins(self, entry):
        """Returns the object of the calling place, and whether the phase was opened; None: it cannot be recorded."""
        try:
            session = self._session
            self.forwards += 1
            place = session.facts.called("forward", entry.name, depth=3)
            with session.lock:
                session.phases.forward_began(session.now())
            return place, session.open("phase", "forward")
        except Exception as error:
            report("Models._forward_begins", error)
            return None

    def _forward_ends(self, entry, grad, place, is_open):
        try:
            session = self._session
            if is_open:
                session.close()
            with session.lock:
                session.phases.forward_ended(session.now(), entry, grad, place)
        except Exception as error:
            report("Models._forward_ends", error)

    @guarded
    def _traced(self, torch, module, arguments, named):
        """The mode that follows the first forward pass of training; None: it cannot be followed."""
        self.traced = False
        self.traced = TracedForward(torch, module, arguments, named)
        return self.traced.mode

    # ---- the document ----

    def add_sections(self, document):
        conv_bn, attention = [], []
        document["modules"] = self.describe()
        if self.traced:
            conv_bn, attention = self.traced.sections(self._place_of)
            document["precision"] = {**document.get("precision", {}), **self.traced.precision}
            document["forward_order"] = self.traced.followed
            if self.traced.followed:
                document["forward_lines"] = self.traced.repeating_lines()
        document["conv_bn"], document["attention"] = conv_bn, attention

    def describe(self):
        """The modules of all models, in the order of their registration. A model that no longer exists keeps its last
        ones."""
        seen, found = set(), []
        for entry in [entry for entry in self._session.facts.objects if entry.kind == "model"]:
            if entry.instance is not None:
                entry.modules = [
                    _module(entry.id, name, module)
                    for name, module in itertools.islice(entry.instance.named_modules(), _MOST_MODULES)
                    if id(module) not in seen and not seen.add(id(module))
                ]
            found += getattr(entry, "modules", [])
        return found[:_MOST_MODULES]

    def _place_of(self, module):
        call = self.call_of(module)
        facts = self._session.facts
        if call is None or not call.frames or call.framework:
            return None
        return facts.sources.site(call.frames[0], (type(module).__name__,))


def _has_any(module, trained):
    return any(id(parameter) in trained for parameter in module.parameters())


def _is_distributed(module):
    return type(module).__name__ in ("DistributedDataParallel", "DataParallel")


def _size(module):
    return sum(parameter.numel() for parameter in module.parameters())


def _is_script(module):
    return type(module).__module__.startswith("torch.jit")


def _watching(models, kind):
    own = vars(kind).get("__call__")
    compiler = getattr(sys.modules["torch"], "compiler", None)
    is_compiling = getattr(compiler, "is_compiling", None) or (lambda: False)

    def __call__(self, *arguments, **named):
        call = own.__get__(self) if own is not None else super(kind, self).__call__
        if is_compiling():
            return call(*arguments, **named)
        entry = models._watched.get(id(self)) or models._inner.get(id(self))
        if entry is None:
            copied = models._copies.get(id(self))
            if copied is not None:
                models.copy_called(copied)
            return call(*arguments, **named)
        return models.called(self, entry, call, arguments, named)

    return functools.wraps(own)(__call__) if own is not None else __call__


def _describe_model(entry, module):
    total = trainable = size = 0
    seen = set()
    for parameter in module.parameters():
        if id(parameter) in seen:
            continue
        seen.add(id(parameter))
        count = parameter.numel()
        total += count
        trainable += count if parameter.requires_grad else 0
        size += count * parameter.element_size()
    name = type(module).__name__
    inner = getattr(module, "_orig_mod", None) or getattr(module, "module", None)
    compiled = name == "OptimizedModule" or getattr(module, "_compiled_call_impl", None) is not None
    parallel = name if name in ("DataParallel", "DistributedDataParallel", "FullyShardedDataParallel") else None
    while inner is not None and hasattr(inner, "parameters"):
        name = type(inner).__name__
        compiled = compiled or name == "OptimizedModule"
        inner = getattr(inner, "_orig_mod", None) or (
            getattr(inner, "module", None) if name == "DistributedDataParallel" else None
        )
    entry.fields.update(
        parameters=total, trainable=trainable, bytes=size, name_of_class=name, compiled=compiled, parallel=parallel
    )


def _describe_gradients(entry, module, trained):
    """Number of parameters with a gradient that no optimizer reads, and their modules. Right after an optimizer step,
    the gradients still exist; if they are gone, the previous result is kept."""
    with_gradient = unused = 0
    modules = {}
    for name, parameter in module.named_parameters():
        if parameter.grad is None:
            continue
        with_gradient += parameter.numel()
        if id(parameter) not in trained:
            unused += parameter.numel()
            modules[name.rpartition(".")[0]] = None
    if with_gradient:
        entry.fields.update(unused_gradients=unused, unused_gradients_in=list(modules)[:_MOST_NAMES])


def _module(model, name, module):
    own = list(module._parameters.values())
    first = next((parameter for parameter in own if parameter is not None), None)
    entry = {
        "model": model,
        "name": name,
        "class": class_name(type(module)),
        "parameters": sum(parameter.numel() for parameter in own if parameter is not None),
    }
    if first is not None:
        entry["dtype"] = str(first.dtype).replace("torch.", "")
        entry["device"] = str(first.device)
        entry["requires_grad"] = any(parameter.requires_grad for parameter in own if parameter is not None)
        entry["bias"] = module._parameters.get("bias") is not None
        weight = module._parameters.get("weight")
        if weight is not None and weight.dim() in (4, 5):
            entry["memory_format"] = _memory_format(weight)
            entry["shape"] = list(weight.shape)
        elif weight is not None and weight.dim() == 2:
            entry["shape"] = list(weight.shape)
    return entry


def _memory_format(weight):
    import torch

    channels_last = torch.channels_last if weight.dim() == 4 else torch.channels_last_3d
    # A 1 × 1 kernel has both layouts at once.
    if weight.is_contiguous(memory_format=channels_last) and not weight.is_contiguous():
        return "channels_last"
    return "any" if weight.is_contiguous(memory_format=channels_last) else "contiguous"


def patch_module(module, models):
    """torch.nn.modules.module: registers modules at their construction."""
    make = module.Module.__init__
    compiler = getattr(sys.modules["torch"], "compiler", None)
    is_compiling = getattr(compiler, "is_compiling", None) or (lambda: False)

    @functools.wraps(make)
    def __init__(self, *arguments, **named):
        make(self, *arguments, **named)
        if not is_compiling():
            models.module_made(self)

    module.Module.__init__ = __init__
    restore = module.Module.__setstate__

    @functools.wraps(restore)
    def __setstate__(self, state):
        restore(self, state)
        if not is_compiling():
            models.module_restored(self)

    module.Module.__setstate__ = __setstate__


class TracedForward:
    """One forward pass, followed function by function: which convolutions are directly followed by a batch norm, which
    attention is unfused (a softmax between two matmuls), and under which precision.

    It is followed by a torch function mode, which sees PyTorch's functions as the program calls them. Compiled modules
    are not followed, because a mode would cause another compilation.
    """

    def __init__(self, torch, module, arguments, named):
        self.precision = _precision(torch, arguments, named)
        self._owners = {}  # weights by id: (name, module)
        compiled = type(module).__name__ == "OptimizedModule"
        for name, part in module.named_modules():
            compiled = compiled or getattr(part, "_compiled_call_impl", None) is not None
            weight = part._parameters.get("weight")
            if weight is not None:
                self._owners[id(weight)] = (name, part)
        self.conv_bn = []
        self.attention = []
        self.fused_attention = 0
        self.followed = not compiled and hasattr(torch.overrides, "TorchFunctionMode")
        self.mode = _mode(torch, self) if self.followed else None
        self._convolution = None  # the last convolution's output and owner
        self._chain = []  # functions since a matmul: those between attention's matmuls
        self._parameters = {id(parameter) for parameter in module.parameters()}
        self._lines = {}  # by code, line and `self` of the caller: _Line

    def sections(self, place_of):
        conv_bn = []
        for name, module, norm in self.conv_bn:
            conv_bn.append(
                {"conv": name, "bn": norm, "bias": module._parameters.get("bias") is not None, "site": place_of(module)}
            )
        return conv_bn, [
            {"kind": kind, "count": count, "site": site} for kind, count, site in self._attention_places()
        ]

    def _attention_places(self):
        session = tracing.current()
        for kind, count, call in self.attention:
            site = session.facts.sources.site(call.frames[0], ("softmax",)) if call.frames else None
            yield kind, count, site

    def function_returned(self, function, arguments, named, result):
        """A function was called and has returned."""
        name = getattr(function, "__name__", "")
        if name in _CONVOLUTIONS:
            owner = self._owners.get(id(arguments[1])) if len(arguments) > 1 else None
            self._convolution = (result, owner)
        elif name == "batch_norm":
            before, self._convolution = self._convolution, None
            # F.batch_norm(input, mean, var, weight, …) calls torch.batch_norm(input, weight, bias, …).
            if before is not None and before[1] is not None and arguments and arguments[0] is before[0]:
                passed = [*arguments[1:4], named.get("weight")]
                norm = next((self._owners[id(value)] for value in passed if id(value) in self._owners), None)
                if not any(known is before[1][1] for _, known, _ in self.conv_bn) and len(self.conv_bn) < _MOST_FOUND:
                    self.conv_bn.append((before[1][0], before[1][1], norm[0] if norm else None))
        elif self._convolution is not None and _computes(name):
            self._convolution = None
        self._follow_attention(name)
        self._count_line(name, arguments)

    def _count_line(self, name, arguments):
        """Counts the function for the user's line that called it. Layers of one class have lines of their own."""
        frame = sites.caller(2) if name not in _QUERIES else None
        if frame is None or not sites.is_user_file(frame.f_code.co_filename):
            return
        code = frame.f_code
        owner = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        key = (id(code), frame.f_lineno, id(owner))
        line = self._lines.get(key)
        if line is None:
            if len(self._lines) >= _MOST_MODULES:
                return
            line = self._lines[key] = _Line(code, frame.f_lasti, frame.f_lineno)
        line.add(name, next((id(value) for value in arguments if id(value) in self._parameters), None))

    def repeating_lines(self):
        """The lines that called a function repeatedly, most calls first. A line that applies several layers in turn does
        not repeat itself, nor do the other lines of its loop."""
        layers = {}  # by code and owner
        for (code, _, owner), line in self._lines.items():
            layers[code, owner] = max(layers.get((code, owner), 1), line.most_parameters())
        found = []
        for (code, _, owner), line in self._lines.items():
            name, count = line.most_called()
            repeats = count // layers[code, owner]
            if repeats >= _LEAST_REPEATS:
                found.append({"count": line.count, "function": name, "repeats": repeats, "site": line.site()})
        return sorted(found, key=lambda line: -line["count"])[:_MOST_LINES]

    def _follow_attention(self, name):
        if name == "scaled_dot_product_attention":
            self._add_attention("fused")
            self._chain = []
        elif name in _PRODUCTS:
            softmax = next((entry for entry in reversed(self._chain) if entry[0] == "softmax"), None)
            if softmax is not None and self._chain[0][0] == "product":
                self._add_attention("written out", softmax[1])
            self._chain = [("product", None)]
        elif name in _SOFTMAXES and self._chain:
            frame = sites.caller(2)
            self._chain.append(("softmax", sites.capture(frame) if frame is not None else None))
        elif name in ("log_softmax", "cross_entropy", "topk", "argmax", "multinomial"):
            self._chain = []
        elif self._chain:
            self._chain.append((name, None))
            if len(self._chain) > _MOST_BETWEEN:
                self._chain = []

    def _add_attention(self, kind, call=None):
        call = call or sites.capture(sites.caller(2))
        for entry in self.attention:
            if entry[0] == kind and entry[2].frames[:1] == call.frames[:1]:
                entry[1] += 1
                return
        if len(self.attention) < _MOST_FOUND:
            self.attention.append([kind, 1, call])


class _Line:
    """The functions that a line called in the forward pass."""

    def __init__(self, *call):
        self._call = call
        self._functions = {}  # by name: number of calls, parameters that they got
        self.count = 0

    def add(self, name, parameter):
        self.count += 1
        called = self._functions.setdefault(name, [0, set()])
        called[0] += 1
        if parameter is not None:
            called[1].add(parameter)

    def most_called(self):
        """A recurrent cell, or else the function with most calls, and the number of its calls."""
        counts = [(name, count) for name, (count, _) in self._functions.items()]
        return max(counts, key=lambda called: (called[0].endswith("_cell"), called[1]))

    def most_parameters(self):
        return max(len(parameters) for _, parameters in self._functions.values())

    def site(self):
        return tracing.current().facts.sources.site(self._call)


def _computes(name):
    """Whether a function creates new values; querying the shape of a tensor does not."""
    return not name.startswith("__get") and name not in ("dim", "size", "stride", "numel", "is_floating_point", "add_")


def _mode(torch, traced):
    class Follow(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            try:
                traced.function_returned(function, args, kwargs or {}, result)
            except Exception:  # unknown outputs are not followed
                pass
            return result

    return Follow()


def _precision(torch, arguments, named):
    found = {"autocast": None, "input_dtype": None, "input_device": None, "input_memory_format": None}
    first = _first_tensor((arguments, named))
    if first is not None:
        found["input_dtype"] = str(first.dtype).replace("torch.", "")
        found["input_device"] = first.device.type
        found["input_shape"] = list(first.shape)
        found["input_requires_grad"] = bool(first.requires_grad and first.is_leaf)
        if first.is_floating_point() and 1 < first.numel() <= _MOST_VALUES:
            values = first.detach().float()
            found["input_mean"], found["input_std"] = plain(float(values.mean())), plain(float(values.std()))
        if first.dim() == 4:
            last = first.is_contiguous(memory_format=torch.channels_last) and not first.is_contiguous()
            found["input_memory_format"] = "channels_last" if last else "contiguous"
    for device in dict.fromkeys(([first.device.type] if first is not None else []) + ["cuda", "cpu"]):
        if _autocasts(torch, device):
            kind = torch.get_autocast_dtype(device) if hasattr(torch, "get_autocast_dtype") else None
            found["autocast"] = {"device": device, "dtype": str(kind).replace("torch.", "") if kind else None}
            break
    return found


def _autocasts(torch, device):
    try:
        return torch.is_autocast_enabled(device)
    except (TypeError, RuntimeError):  # another device, or an older PyTorch
        return False


def _first_tensor(value, depth=0):
    tensor = sys.modules["torch"].Tensor
    if isinstance(value, tensor):
        return value
    parts = value.values() if hasattr(value, "values") else value if isinstance(value, (list, tuple)) else ()
    if depth < 3:
        for part in parts:
            found = _first_tensor(part, depth + 1)
            if found is not None:
                return found
    return None
