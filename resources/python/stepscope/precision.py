"""Settings of PyTorch that apply to the whole program, and tools that slow it down: precision, cuDNN, autocast,
compilation, anomaly detection, profilers, seeds; each with the place that sets it.
"""
import functools
import inspect
import random
import sys

from . import tracing
from .guard import guarded
from .optimizers import is_compiling


def patch(torch):
    """torch, after it is fully imported."""
    facts = tracing.current().facts
    facts.sections.append(_add_sections)
    for patch_one in (_patch_flags, _patch_autocast, _patch_compile, _patch_debug_tools, _patch_seeds, _patch_checks):
        try:
            patch_one(torch)
        except Exception as error:  # a PyTorch version that has it in another place
            facts.note(f"{patch_one.__name__[7:]}: {error!r}")


def _call(holder, name, kind, note=None):
    """Records the calls of a function by their places. note(entry, arguments, named): adds further information."""
    function = getattr(holder, name)

    @functools.wraps(function)
    def recorded(*arguments, **named):
        if not is_compiling():
            _note_call(kind, f"{getattr(function, '__module__', '')}.{name}", note, arguments, named)
        return function(*arguments, **named)

    setattr(holder, name, recorded)
    return recorded


@guarded
def _note_call(kind, name, note, *said):
    entry = tracing.current().facts.called(kind, name)
    if entry is not None and note is not None and entry.count == 1:
        note(entry, *said)


def _call_of_class(kind_class, kind, name, note):
    """Records the constructions of a class (usually a context manager) by their places."""
    make = kind_class.__init__

    @functools.wraps(make)
    def __init__(self, *arguments, **named):
        make(self, *arguments, **named)
        if not is_compiling():
            _note_call(kind, name, noted, self, named)

    def noted(entry, instance, named):
        entry.parameters = [p for p in inspect.signature(make).parameters if p != "self"]
        note(entry, instance, named)

    kind_class.__init__ = __init__


def _note_flag(entry, name, value):
    entry.name = name
    entry.settings = {"value": value}
    entry.given = {"value"}
    entry.fields["setting"] = name


def _patch_flags(torch):
    """Records assignments such as torch.backends.cudnn.benchmark = True."""
    flags = {
        "torch.backends.cudnn": torch.backends.cudnn,
        "torch.backends.cuda.matmul": torch.backends.cuda.matmul,
    }
    for prefix, holder in flags.items():
        _patch_assignments(type(holder), prefix)
    for name in ("set_float32_matmul_precision", "use_deterministic_algorithms", "set_num_threads", "set_default_dtype"):
        _call(torch, name, "flag", _flag_noter(f"torch.{name}"))
    _call(torch.nn.Module, "double", "cast")


def _flag_noter(name):
    return lambda entry, arguments, named: _note_flag(entry, name, next(iter([*arguments, *named.values()]), None))


def _patch_assignments(kind, prefix):
    """cuDNN's module is an object whose attributes are properties; cuBLAS's has a __setattr__."""
    assign = kind.__setattr__

    def __setattr__(self, name, value):
        assign(self, name, value)
        if not name.startswith("_") and isinstance(value, (bool, int, str)):
            _note_assignment(f"{prefix}.{name}", value)

    kind.__setattr__ = __setattr__


@guarded
def _note_assignment(name, value):
    entry = tracing.current().facts.called("flag", name)
    if entry is not None:
        _note_flag(entry, name, value)


def _patch_autocast(torch):
    def note(entry, autocast, named):
        entry.settings = {
            "device_type": getattr(autocast, "device", None),
            "dtype": str(getattr(autocast, "fast_dtype", "")).replace("torch.", ""),
            "enabled": bool(getattr(autocast, "_enabled", True)),
        }

    _call_of_class(torch.amp.autocast_mode.autocast, "autocast", "torch.autocast", note)


def _patch_compile(torch):
    def note(entry, arguments, named):
        entry.parameters = [name for name in inspect.signature(torch.compile).parameters]
        entry.settings = {name: value for name, value in named.items() if isinstance(value, (bool, str, int, type(None)))}
        entry.fields["of"] = type(arguments[0]).__name__ if arguments else None

    _call(torch, "compile", "compile", note)
    _call(torch.nn.Module, "compile", "compile")


def _patch_debug_tools(torch):
    def note_mode(entry, tool, named):
        entry.settings = {"mode": bool(named.get("mode", torch.is_anomaly_enabled()))}

    def note_arguments(entry, tool, named):
        entry.settings = {name: value for name, value in named.items() if isinstance(value, (bool, str, int))}

    anomaly = torch.autograd.anomaly_mode
    _call_of_class(anomaly.set_detect_anomaly, "anomaly", "torch.autograd.set_detect_anomaly", note_mode)
    _call_of_class(anomaly.detect_anomaly, "anomaly", "torch.autograd.detect_anomaly", note_arguments)
    profilers = torch.autograd.profiler
    _call_of_class(profilers.profile, "profiler", "torch.autograd.profiler.profile", note_arguments)
    _call_of_class(profilers.emit_nvtx, "emit_nvtx", "torch.autograd.profiler.emit_nvtx", note_arguments)
    profile = getattr(sys.modules.get("torch.profiler"), "profile", None)
    if profile is not None:
        _call_of_class(profile, "profiler", "torch.profiler.profile", note_arguments)


def _patch_checks(torch):
    for name in ("gradcheck", "gradgradcheck"):
        if hasattr(torch.autograd, name):
            _call(torch.autograd, name, "flag", _check_noter(f"torch.autograd.{name}"))


def _check_noter(name):
    def note(entry, arguments, named):
        _note_flag(entry, name, True)

    return note


def _patch_seeds(torch):
    def noter(name):
        def note(entry, arguments, named):
            entry.name = name
            value = next(iter([*arguments, *named.values()]), None)
            entry.settings = {"seed": value if isinstance(value, int) else None}
            entry.parameters = ("seed",)

        return note

    recorded = _call(torch, "manual_seed", "seed", noter("torch.manual_seed"))
    torch.random.manual_seed = recorded
    _call(random, "seed", "seed", noter("random.seed"))
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        patch_numpy(numpy)


def patch_numpy(numpy):
    """numpy: records the seed of its global generator."""

    def note(entry, arguments, named):
        entry.name = "numpy.random.seed"
        value = next(iter([*arguments, *named.values()]), None)
        entry.settings = {"seed": value if isinstance(value, int) else None}
        entry.parameters = ("seed",)

    if not hasattr(numpy.random.seed, "__wrapped__"):
        _call(numpy.random, "seed", "seed", note)


def _add_sections(document):
    torch = sys.modules.get("torch")
    if torch is None:
        return
    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul
    document["precision"] = {
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "matmul_tf32": bool(matmul.allow_tf32),
        "cudnn_tf32": bool(cudnn.allow_tf32),
        "cudnn_benchmark": bool(cudnn.benchmark),
        "cudnn_deterministic": bool(cudnn.deterministic),
        "deterministic_algorithms": bool(torch.are_deterministic_algorithms_enabled()),
        "anomaly_detection": bool(torch.is_anomaly_enabled()),
        "default_dtype": str(torch.get_default_dtype()).replace("torch.", ""),
        **document.get("precision", {}),
    }
    threads = str(torch.get_num_threads())
    document["environment"]["torch.num_threads"] = threads
    # Predictions of loader workers need it: cores that computation leaves free are the workers'.
    tracing.current().metadata("host.threads", threads)
    document["environment"]["torch.num_interop_threads"] = str(torch.get_num_interop_threads())
    document["seeds"] = [
        {"of": entry["class"], "seed": entry["settings"].get("seed", {}).get("value"), "site": entry["site"]}
        for entry in document["objects"]
        if entry["kind"] == "seed"
    ]
    document["memory"] = _memory(torch)


def _memory(torch):
    import os
    import resource

    found = {
        "host_total": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "host_peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "devices": [],
    }
    if torch.cuda.is_initialized():
        for number in range(torch.cuda.device_count()):
            statistics = torch.cuda.memory_stats(number)
            free, total = torch.cuda.mem_get_info(number)
            found["devices"].append(
                {
                    "device": f"cuda:{number}",
                    "name": torch.cuda.get_device_name(number),
                    "total": total,
                    "free": free,
                    "allocated_peak": statistics.get("allocated_bytes.all.peak", 0),
                    "reserved_peak": statistics.get("reserved_bytes.all.peak", 0),
                    "retries": statistics.get("num_alloc_retries", 0),
                }
            )
    return found
