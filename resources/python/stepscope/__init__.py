"""Marks of a program's own for a recording by `stepscope-cli record`.

Not needed: loader waits, optimizer steps and training steps are recorded without it. Outside a recording every call does
nothing.

    import stepscope

    with stepscope.range("augment"):
        ...
    with stepscope.step():        # where steps are not delimited by a DataLoader and an Optimizer
        ...
"""
from contextlib import contextmanager

from . import recording

__all__ = ["is_recording", "range", "step", "counter", "metadata"]


def is_recording():
    """Whether this process is recorded."""
    session = recording.current()
    return session is not None and session.is_recording


@contextmanager
def range(name, value=0):
    """A named range of the program on the training loop's track."""
    session = recording.current()
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
    session = recording.current()
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
    session = recording.current()
    if session is not None:
        session.counter(name, unit, float(value))


def metadata(key, value):
    """A fact about the run, kept in the trace."""
    session = recording.current()
    if session is not None:
        session.metadata(key, str(value))
