"""LibTorch's operators, by its profiler's NVTX mode: the callbacks are LibTorch's own C++ ones, which name each operator
to NVTX, and the injection library hears them. So there is no line of Python on an operator's way.

Measured beside the same loop without it, taking turns (tests/record/operator_cost.py): 2 µs an operator, 6.5 µs with
shapes, where an operator on 4 × 4 numbers takes 3.3 µs itself; most of it is LibTorch's, which makes a text for each.
"""

import atexit


def switch_on(session, shapes=False):
    """For the calling thread and the autograd threads that work for it (not for other threads of Python), until the process ends."""
    from torch._C._profiler import ProfilerConfig, ProfilerState, _ExperimentalConfig
    from torch.autograd import _enable_profiler

    try:
        _enable_profiler(ProfilerConfig(ProfilerState.NVTX, shapes, False, False, False, False, _ExperimentalConfig()), set())
    except RuntimeError as error:  # a LibTorch without CUDA has no NVTX
        session.metadata("ops.note", f"operators are not recorded: {error}")
        return
    session.operators(True)
    atexit.register(switch_off, session)  # LibTorch warns of callbacks that are left behind


def switch_off(session):
    from torch.autograd import _disable_profiler

    session.operators(False)
    atexit.unregister(switch_off)
    _disable_profiler()
