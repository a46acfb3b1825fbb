"""LibTorch's operators. There is no line of Python on an operator's way.

Where the program's LibTorch is the one that this Stepscope was built for, a small library of ours adds a callback to it,
as our own trainer does. Else they come by LibTorch's profiler in its NVTX mode: it names each operator to NVTX, and the
injection library hears it. That works with any version, but LibTorch makes a text for each operator (2 µs, 6.5 µs with
shapes: tests/record/operator_cost.py); the trace's notes say so.
"""
import atexit
import ctypes
import glob
import os

_NAME = "stepscope_ops_torch_"


def source(session, torch, shapes=False):
    """What switches operators on, and what switches them off; in turns, as often as wanted."""
    try:
        return _by_library(session, torch, shapes)
    except (OSError, AttributeError) as error:
        session.metadata(
            "ops.note", f"operators come by PyTorch's own profiler, at a higher cost for each (about 2 µs): {error}"
        )
        return _by_profiler(session, shapes)


def switch_on(session, torch, shapes=False):
    """From here on, until the process ends. Returns what switches them off."""
    on, off = source(session, torch, shapes)
    on()
    atexit.register(off)
    return off


def _by_library(session, torch, shapes):
    """For all threads. OSError, with what is the matter: no library of ours fits this LibTorch."""
    path = _fitting(os.path.dirname(os.environ["STEPSCOPE_LIBRARY"]), torch)
    # With Python's lock held: a child by fork then finds LibTorch's list of callbacks whole.
    library = ctypes.PyDLL(path)
    begin, end = session.operator_functions()
    library.stepscope_ops_on.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
    library.stepscope_ops_on.restype = library.stepscope_ops_off.restype = None
    session.metadata("ops.source", "callback")
    return lambda: library.stepscope_ops_on(begin, end, 1 if shapes else 0), library.stepscope_ops_off


def _fitting(folder, torch):
    """The library for this LibTorch. Asked before it is loaded: it is called with LibTorch's own objects."""
    version = torch.__version__.split("+")[0]  # what is behind tells CUDA's version
    path = os.path.join(folder, f"{_NAME}{version}.so")
    if not os.path.exists(path):
        built = sorted(os.path.basename(name)[len(_NAME) : -3] for name in glob.glob(os.path.join(folder, _NAME + "*.so")))
        ours = f"was built for PyTorch {', '.join(built)}" if built else "was built without its library for PyTorch's operators"
        raise OSError(f"this Stepscope {ours}, and the program uses PyTorch {version}")
    if not torch._C._GLIBCXX_USE_CXX11_ABI:
        raise OSError(f"the program's PyTorch {version} was built with another ABI than this Stepscope")
    return path


def _by_profiler(session, shapes):
    """For the calling thread and the autograd threads that work for it (not for other threads of Python)."""
    from torch._C._profiler import ProfilerConfig, ProfilerState, _ExperimentalConfig
    from torch.autograd import _disable_profiler, _enable_profiler

    is_on = False

    def on():
        nonlocal is_on
        try:
            _enable_profiler(
                ProfilerConfig(ProfilerState.NVTX, shapes, False, False, False, False, _ExperimentalConfig()), set()
            )
        except RuntimeError as error:  # a LibTorch without CUDA has no NVTX; or the program's own profiler runs
            session.metadata("ops.note", f"operators are not recorded: {error}")
            return
        is_on = True
        session.metadata("ops.source", "profiler")
        session.operators(True)

    def off():
        nonlocal is_on
        if is_on:
            is_on = False
            session.operators(False)
            _disable_profiler()  # LibTorch warns of callbacks that are left behind

    return on, off
