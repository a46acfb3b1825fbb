"""Recordings of a part of a program, and marks of a program's own for a recording by `stepscope-cli record`.

Neither is needed: `stepscope-cli record` records whole programs, with loader waits, optimizer steps and training steps.
Outside a recording every mark does nothing.

    import stepscope

    with stepscope.recording("run.sstrace"):    # also in a notebook, where `%%stepscope` records a cell
        train()

    with stepscope.range("augment"):
        ...
    with stepscope.step():        # where steps are not delimited by a DataLoader and an Optimizer
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
    """Whether this process is recorded."""
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
    """One training step. From the first use on, only these are steps: none is taken from loaders and optimizers."""
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
    """A sample of a counter, now: "loss", "learning rate"."""
    session = tracing.current()
    if session is not None:
        session.counter(name, unit, float(value))


def metadata(key, value):
    """A fact about the run, kept in the trace."""
    session = tracing.current()
    if session is not None:
        session.metadata(key, str(value))
