"""Keeps errors in Stepscope's hooks out of the program: if a hook fails, the program continues as it would without
Stepscope.

A hook is a wrapper around a function of a library. Only the call of that function may raise. All other work of a
wrapper is in functions that are decorated with `guarded`.
"""
import functools
import sys

_reported = set()  # names of functions whose first error was printed


def guarded(function):
    """Decorates a function so that it returns None instead of raising. The error becomes a note in the trace."""

    @functools.wraps(function)
    def safe(*arguments, **named):
        try:
            return function(*arguments, **named)
        except Exception as error:
            report(getattr(function, "__qualname__", repr(function)), error)
            return None

    return safe


def report(name, error):
    """Notes an error of a hook in the trace; without a recording, the first error of each hook is printed."""
    try:
        from . import tracing

        session = tracing.current()
        if session is not None and session.is_recording:
            session.facts.note(f"{name}: {error!r}")
        elif name not in _reported:
            _reported.add(name)
            print(f"stepscope: {name} failed, and the program continues without it: {error!r}", file=sys.stderr)
    except Exception:  # the program's standard error may be closed
        pass
