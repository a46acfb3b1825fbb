"""What the training thread's lines allocate for tensors, counted by the library that also reports operators
(operators.py), which a recording uses with `--ops`, and at level full without them.

With each sample of the training thread's line (lines.py), the library's totals are read: on the CPU those of the training thread,
on GPUs those of the process. At level full, the library attributes each allocation to its line itself.
"""
import ctypes
import os
import sys

from . import operators, sites

_TAKE = ctypes.CFUNCTYPE(None, ctypes.py_object, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)


def counted(session):
    """The allocations of the calling thread, counted from now on; None if they are not recorded."""
    is_full = os.environ.get("STEPSCOPE_LEVEL") == "full"
    torch = sys.modules.get("torch")
    if torch is None or not (is_full or os.environ.get("STEPSCOPE_OPS") == "1"):
        return None
    try:
        library = operators.library(torch)
        if not hasattr(library, "stepscope_allocations_on"):
            raise OSError("this needs PyTorch 2.9 or later")
        if not library.stepscope_allocations_on():
            raise OSError("the program has a CPU allocator of its own")
    except (OSError, AttributeError) as error:
        session.facts.note(f"allocations of lines are not recorded: {error}")
        return None
    return Allocations(library, is_full)


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
