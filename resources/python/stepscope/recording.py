"""The way into the trace: C functions of the injection library, by ctypes."""
import ctypes
import os
import threading

_TRACK_THREAD, _TRACK_MAIN, _TRACK_LOADER_WORKER = 0, 1, 2
_session = None


def current():
    """The recording of this process; None when it is not recorded."""
    return _session


def start():
    """Opens this process's part of the trace. Returns None where the process is not recorded."""
    global _session
    if _session is None:
        library = ctypes.CDLL(os.environ["STEPSCOPE_LIBRARY"])
        if library.stepscope_start():
            _session = Session(library)
    return _session


def _declare(library):
    number, text, time = ctypes.c_int, ctypes.c_char_p, ctypes.c_int64
    library.stepscope_now.restype = time
    for name, *arguments in (
        ("kind", text),
        ("lane", text, number),
        ("open", number, number, text, time),
        ("close", number),
        ("complete", number, number, text, time, time, time),
        ("metadata", text, text),
        ("counter", number, text, text, ctypes.c_double),
        ("operators", number),
    ):
        function = getattr(library, "stepscope_" + name)
        function.argtypes = arguments
        if name not in ("kind", "lane"):
            function.restype = None


class Session:
    """One process's recording. The training loop's thread has a track of its own, on which steps and phases nest."""

    def __init__(self, library):
        self._whole = library
        # Calls that take less than giving Python's lock away and getting it back: with another thread at work, a step of
        # ours would wait for it each time.
        self._library = library = ctypes.PyDLL(library._name)
        _declare(library)
        self._kinds = {}
        self._texts = {}  # of names, as C has them: there are few
        self._main = library.stepscope_lane(b"training loop", _TRACK_MAIN)
        self._workers = {}
        self.lock = threading.RLock()
        self.asked_loader = None  # the iterator that was asked for a batch last
        self.told_facts = None
        from .steps import Steps

        self.steps = Steps(self)

    def kind(self, name):
        number = self._kinds.get(name)
        if number is None:
            number = self._kinds[name] = self._library.stepscope_kind(name.encode())
        return number

    def text(self, name):
        encoded = self._texts.get(name)
        if encoded is None:
            encoded = name.encode()
            if len(self._texts) < 1000:  # a program may make its names up
                self._texts[name] = encoded
        return encoded

    def now(self):
        return self._library.stepscope_now()

    def open(self, kind, name, value=0):
        self._library.stepscope_open(self._main, self.kind(kind), self.text(name), int(value))

    def close(self):
        self._library.stepscope_close(self._main)

    def complete(self, kind, name, begin, end, value=0):
        """A whole range on the training loop's track, times as now() gives them."""
        self._library.stepscope_complete(self._main, self.kind(kind), self.text(name), begin, end, int(value))

    def worker_complete(self, worker, kind, name, begin, end, value=0):
        """The same on the track of a loader worker."""
        lane = self._workers.get(worker)
        if lane is None:
            text = f"loader worker {worker}".encode()
            lane = self._workers[worker] = self._library.stepscope_lane(text, _TRACK_LOADER_WORKER)
        self._library.stepscope_complete(lane, self.kind(kind), self.text(name), begin, end, int(value))

    def counter(self, name, unit, value):
        self._library.stepscope_counter(self._main, name.encode(), unit.encode(), value)

    def metadata(self, key, value):
        self._library.stepscope_metadata(key.encode(), value.encode())

    def operators(self, on):
        """Whether NVTX ranges of LibTorch's profiler are operators from now on."""
        self._library.stepscope_operators(1 if on else 0)

    def operator_functions(self):
        """Addresses of the functions that take an operator's begin and end."""
        names = ("stepscope_op_begin", "stepscope_op_end")
        return tuple(ctypes.cast(getattr(self._library, name), ctypes.c_void_p) for name in names)

    def end(self):
        """Ends the part of a process that leaves by _exit, as a loader's worker does."""
        self._whole.stepscope_end()
