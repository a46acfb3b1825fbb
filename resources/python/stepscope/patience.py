"""Stops a process that hangs: if it completes no step and no validation, and fetches no batch, for the time that
STEPSCOPE_PATIENCE gives in seconds, its stacks are written to the file STEPSCOPE_STACKS, and it exits.

The time begins with the first optimizer or batch, so that launchers do not count. It is measured by a thread of
faulthandler, which needs no GIL: a call that never returns is noticed as well.
"""
import faulthandler
import functools
import os
import time

from .guard import guarded

_SHARE = 0.05  # of the time, within which further signs of life are ignored: each one that counts starts a thread

_begun = None


def install(session):
    """Called once, when torch has been imported."""
    seconds, path = float(os.environ.get("STEPSCOPE_PATIENCE") or 0), os.environ.get("STEPSCOPE_STACKS")
    if seconds <= 0 or not path:
        return
    file = open(path, "a")  # kept open for the thread

    @guarded
    def note_progress(*_):
        global _begun
        now = time.monotonic()
        if _begun is None or now - _begun >= _SHARE * seconds:
            _begun = now
            faulthandler.dump_traceback_later(seconds, exit=True, file=file)

    steps = session.steps
    steps.optimizer_made, steps.batch_requested = _after(steps.optimizer_made, note_progress), _after(steps.batch_requested, note_progress)
    steps.listeners.append(note_progress)
    session.phases.listeners.append(note_progress)


def _after(method, call):
    @functools.wraps(method)
    def watched(*arguments):
        method(*arguments)
        call()

    return watched


def ends():
    """The program has ended; only the end of the interpreter is left."""
    if _begun is not None:
        faulthandler.cancel_dump_traceback_later()
