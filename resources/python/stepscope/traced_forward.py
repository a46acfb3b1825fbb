"""One forward pass, followed function by function: which convolutions are directly followed by a batch norm, which
attention is unfused (a softmax between two matmuls), and under which precision.

It is followed by a torch function mode, which sees PyTorch's functions as the program calls them. Compiled modules are
not followed, because a mode would cause another compilation.
"""
import sys

from . import sites, tracing
from .arguments import plain

_MOST_FOUND = 200
# Functions that may be between attention's matmuls: scaling, masks, dropout, casts, views.
_MOST_BETWEEN = 14
_MOST_VALUES = 50_000_000  # first samples of a batch of which the mean is computed
_PRODUCTS = ("matmul", "bmm", "baddbmm", "einsum", "__matmul__", "__rmatmul__")
_CONVOLUTIONS = ("conv1d", "conv2d", "conv3d")
_SOFTMAXES = ("softmax",)


class TracedForward:
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
        self._count = 0

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

    def saw(self, function, arguments, named, result):
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


def _computes(name):
    """Whether a function creates new values; querying the shape of a tensor does not."""
    return not name.startswith("__get") and name not in ("dim", "size", "stride", "numel", "is_floating_point", "add_")


def _mode(torch, traced):
    class Follow(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            try:
                traced.saw(function, args, kwargs or {}, result)
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
