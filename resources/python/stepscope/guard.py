"""Keeps errors in Stepscope's hooks out of the program: whatever fails in a hook, the program runs on as it would without
Stepscope.

A hook is a wrapper around a function of a library. Only the call of that function may raise. All other work of a wrapper
is in functions that are decorated with `guarded`.
"""
import functools
import sys

_reported = set()  # names of functions whose first error was printed


def guarded(function):
    """The function, which returns None where it would raise. The error becomes a note of the trace."""

    @functools.wraps(function)
    def safe(*arguments, **named):
        try:
            return function(*arguments, **named)
        except Exception as error:
            report(getattr(function, "__qualname__", repr(function)), error)
            return None

    return safe


def report(name, error):
    """Notes an error of a hook in the trace; where nothing is recorded, the first one of each hook is printed."""
    try:
        from . import tracing

        session = tracing.current()
        if session is not None and session.is_recording:
            session.facts.note(f"{name}: {error!r}")
        elif name not in _reported:
            _reported.add(name)
            print(f"stepscope: {name} failed, and the program goes on without it: {error!r}", file=sys.stderr)
    except Exception:  # the program's standard error may be closed
        pass
