"""LibTorch's operators, by its profiler's NVTX mode: the callbacks are LibTorch's own C++ ones, which name each operator
to NVTX, and the injection library hears them. So there is no line of Python on an operator's way.

Measured on one core beside the same loop without it (tests/record/operator_cost.py): about 1 µs an operator, 2 to 3 µs
with shapes; most of it is LibTorch's, which makes a text for each.
"""


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
