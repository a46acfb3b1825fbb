"""LibTorch's operators, which are executed without any Python code.

If there is a small library of ours for exactly the version of the program's LibTorch (packaging/operators), it registers
a callback, as our own trainer does. Otherwise, LibTorch's profiler is used in its NVTX mode: it passes the name of each operator to
NVTX, where the injection library receives it. That works with any version, but LibTorch creates a text for each
operator (2 µs, 6.5 µs with shapes: tests/record/operator_cost.py); the trace's notes say so.

The same library counts what the training thread's lines allocate for tensors, if it is used (`--ops`), and at level
full. With each sample of the training thread's line (lines.py), its totals are read: on the CPU those of the training
thread, on GPUs those of the process. At level full, it attributes each allocation to its line itself.
"""
import atexit
import ctypes
import glob
import os
import re
import sys

from . import sites

_NAME = "stepscope_ops_torch_"
_TAKE = ctypes.CFUNCTYPE(None, ctypes.py_object, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)


def source(session, torch, shapes=False):
    """A function that turns operators on, and one that turns them off; they may be called alternately any number of
    times."""
    try:
        return _by_library(session, torch, shapes)
    except (OSError, AttributeError) as error:
        session.metadata(
            "ops.note", f"operators are recorded with PyTorch's profiler, at a higher cost for each (about 2 µs): {error}"
        )
        return _by_profiler(session, shapes)


def switch_on(session, torch, shapes=False):
    """Turns operators on until the process ends. Returns a function that turns them off."""
    on, off = source(session, torch, shapes)
    on()
    atexit.register(off)
    return off


def _by_library(session, torch, shapes):
    """For all threads. Raises OSError with the reason if no library of ours fits this LibTorch."""
    ours = library(torch)
    begin, end = session.operator_functions()
    ours.stepscope_ops_on.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
    ours.stepscope_ops_on.restype = ours.stepscope_ops_off.restype = None
    session.metadata("ops.source", "callback")
    return lambda: ours.stepscope_ops_on(begin, end, 1 if shapes else 0), ours.stepscope_ops_off


def library(torch):
    """The library of ours for this LibTorch. Raises OSError with the reason if there is none.

    Its functions are called with the GIL held, so that a forked child finds LibTorch's list of callbacks in a
    consistent state.
    """
    return ctypes.PyDLL(_fitting(os.path.dirname(os.environ["STEPSCOPE_LIBRARY"]), torch))


def _fitting(folder, torch):
    """The library for this LibTorch. Checked before it is loaded, because LibTorch calls it with its own objects."""
    version = torch.__version__.split("+")[0]  # the suffix is the CUDA version
    path = os.path.join(folder, f"{_NAME}{version}.so")
    if not os.path.exists(path):
        built = [os.path.basename(name)[len(_NAME) : -3] for name in glob.glob(os.path.join(folder, _NAME + "*.so"))]
        built.sort(key=lambda name: [int(part) for part in re.findall("[0-9]+", name)])
        ours = f"was built for PyTorch {', '.join(built)}" if built else "was built without its library for PyTorch's operators"
        raise OSError(f"this Stepscope {ours}, and the program uses PyTorch {version}")
    if not torch._C._GLIBCXX_USE_CXX11_ABI:
        raise OSError(f"the program's PyTorch {version} was built with another ABI than this Stepscope")
    return path


def _by_profiler(session, shapes):
    """For the calling thread and the autograd threads that work for it (not for other Python threads)."""
    from torch._C._profiler import ProfilerConfig, ProfilerState, _ExperimentalConfig
    from torch.autograd import _disable_profiler, _enable_profiler

    is_on = False

    def on():
        nonlocal is_on
        try:
            _enable_profiler(
                ProfilerConfig(ProfilerState.NVTX, shapes, False, False, False, False, _ExperimentalConfig()), set()
            )
        except RuntimeError as error:  # a LibTorch without CUDA has no NVTX, or the program's own profiler is running
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
            _disable_profiler()  # LibTorch warns of callbacks that are not removed

    return on, off


def counted_allocations(session):
    """The allocations of the calling thread, counted from now on; None if they are not recorded."""
    is_full = os.environ.get("STEPSCOPE_LEVEL") == "full"
    torch = sys.modules.get("torch")
    if torch is None or not (is_full or os.environ.get("STEPSCOPE_OPS") == "1"):
        return None
    try:
        ours = library(torch)
        if not hasattr(ours, "stepscope_allocations_on"):
            raise OSError("this needs PyTorch 2.9 or later")
        if not ours.stepscope_allocations_on():
            raise OSError("the program has a CPU allocator of its own")
    except (OSError, AttributeError) as error:
        session.facts.note(f"allocations of lines are not recorded: {error}")
        return None
    return Allocations(ours, is_full)


class Allocations:
    """Its methods are called with the GIL held, and keep it."""

    def __init__(self, library, by_line):
        self._library = library
        library.stepscope_allocations_by_line.argtypes = (ctypes.c_char_p,)
        self.are_by_line = bool(by_line and library.stepscope_allocations_by_line(sites.library_folders()))
        # Reads the bytes and the number of all allocations so far.
        self.function = ctypes.cast(library.stepscope_allocations_total, ctypes.c_void_p)

    def lines(self):
        """[code, line, bytes, number] of each line."""
        found = []
        self._library.stepscope_allocations_lines(_TAKE(lambda *line: found.append(line)))
        return found

    def stop(self):
        self._library.stepscope_allocations_off()
