"""Recordings of a part of a program, and marks in a program for a recording by `stepscope-cli record`.

Both are optional: `stepscope-cli record` records whole programs, with loader waits, optimizer steps and training steps.
Outside of a recording, the marks do nothing.

    import stepscope

    with stepscope.recording("run.sstrace"):    # also in a notebook, where `%%stepscope` records a cell
        train()

    with stepscope.range("augment"):
        ...
    with stepscope.step():        # if no DataLoader and no Optimizer delimits the steps
        ...
"""
from contextlib import contextmanager

from . import tracing
from .part import recording

__all__ = ["recording", "is_recording", "range", "step", "counter", "metadata"]


def load_ipython_extension(shell):
    """%load_ext stepscope"""
    from . import notebook

    notebook.load(shell)


def is_recording():
    """Whether this process is being recorded."""
    session = tracing.current()
    return session is not None and session.is_recording


@contextmanager
def range(name, value=0):
    """A named range of the program on the training loop's track."""
    session = tracing.current()
    if session is None:
        yield
        return
    session.open("user_annotation", name, value)
    try:
        yield
    finally:
        session.close()


@contextmanager
def step(index=None):
    """One training step. After the first use, only these count as steps; none are derived from loaders and
    optimizers."""
    session = tracing.current()
    if session is None:
        yield
        return
    session.steps.begin_marked(index)
    try:
        yield
    finally:
        session.steps.end_marked()


def counter(name, value, unit=""):
    """A sample of a counter at the current time: "loss", "learning rate"."""
    session = tracing.current()
    if session is not None:
        session.counter(name, unit, float(value))


def metadata(key, value):
    """A fact about the run that is stored in the trace."""
    session = tracing.current()
    if session is not None:
        session.metadata(key, str(value))
