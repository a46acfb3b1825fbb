"""The interface to the trace: C functions of the injection library, called with ctypes."""
import ctypes
import os
import sys
import threading
import time
from threading import get_ident

from . import arm
from .guard import report

_TRACK_THREAD, _TRACK_MAIN, _TRACK_LOADER_WORKER = 0, 1, 2
_session = None


def current():
    """The recording of this process; None if it is not recorded."""
    return _session


def start():
    """Opens this process's part of the trace. Returns None if the process is neither recorded nor part of an
    experiment."""
    global _session
    if _session is None and arm.is_wanted():
        silent = arm.NullLibrary()
        _session = Session(silent, silent)
    elif _session is None and os.environ.get("STEPSCOPE_ALWAYS_ON"):
        from . import always_on

        _session = always_on.start()
    elif _session is None:
        library = ctypes.CDLL(os.environ["STEPSCOPE_LIBRARY"])
        if library.stepscope_start():
            # Calls that take less time than releasing the GIL and acquiring it again: with another active thread, a
            # step would wait for it in each call.
            quick = ctypes.PyDLL(library._name)
            _declare(quick)
            _session = Session(library, quick)
    return _session


def begin(path, continues=False):
    """Opens a part of a trace that begins now, in a process in which the hooks are or will be installed.

    @param path  of the injection library; STEPSCOPE_RECORD names the trace
    @param continues  whether steps are numbered as they are, between two of them
    @return whether the process is recorded
    """
    global _session
    whole, quick = _libraries.get(path) or _load(path)
    whole.stepscope_restart()
    if not whole.stepscope_start():
        return False
    if _session is None:
        _session = Session(whole, quick)
    elif continues:
        _session.write_to(whole, quick)
    else:
        _session.restart(whole, quick)
    return True


_libraries = {}  # by path: the library twice, with calls that release the GIL and that keep it


def _load(path):
    whole, quick = ctypes.CDLL(path), ctypes.PyDLL(path)
    _declare(quick)
    _libraries[path] = whole, quick
    return whole, quick


def wait_for_recordings():
    """A session that registers the objects that the program creates from now on, until something is recorded."""
    global _session
    if _session is None:
        silent = arm.NullLibrary()
        _session = Session(silent, silent)


def _declare(library):
    number, text, signed, pointer = ctypes.c_int, ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p
    library.stepscope_lines_sample.restype = signed
    for name, *arguments in (
        ("kind", text),
        ("lane", text, number),
        ("open", number, number, text, signed),
        ("close", number),
        ("fetch_begins", number),
        ("collate_begins", number),
        ("fetch_ends", number),
        ("complete", number, number, text, signed, signed, signed),
        ("metadata", text, text),
        ("counter", number, text, text, ctypes.c_double, signed),
        ("operators", number),
        ("steps_enter",),
        ("lines_start", text, signed, number, number, pointer),
        ("lines_sample", ctypes.py_object),
        ("lines_abandon",),
    ):
        function = getattr(library, "stepscope_" + name)
        function.argtypes = arguments
        if name not in ("kind", "lane", "lines_start", "lines_sample"):
            function.restype = None


def _encoded(text):
    """Encodes whatever a program passes as a name; a file name may not be valid text."""
    return str(text).encode("utf-8", "replace")


class Session:
    """The recording of one process. The thread of the training loop has a separate track on which steps and phases
    nest; other threads that load, step or mark have one track each, because a prefetching thread may ask a loader."""

    def __init__(self, whole, library):
        """The library twice: its calls release the GIL, or keep it."""
        self._texts = {}  # names as C strings: there are few
        self.always_on = None  # the Summary of a recording that is always on
        self.operators_off = None  # turns off operators that were turned on for the whole recording
        self._take(whole, library)
        from .facts import Facts
        from .lines import Lines
        from .losses import Losses
        from .model import Models
        from .phases import Phases
        from .steps import Steps

        self.steps = Steps(self)
        self.facts = Facts(self)
        self.phases = Phases(self)
        self.models = Models(self)
        self.losses = Losses(self)
        self.lines = Lines(self)
        self.facts.sections += [self.losses.add_section, self.models.add_sections]
        self._threads_are_new()

    def _take(self, whole, library):
        self._whole, self._library = whole, library
        self.is_recording = not isinstance(library, arm.NullLibrary)
        self.now = time.monotonic_ns  # the clock of the trace
        self._open, self.close_on = library.stepscope_open, library.stepscope_close
        self.collate_begins = library.stepscope_collate_begins
        self.fetch_ends = library.stepscope_fetch_ends
        self._kinds = {}
        self._ranges = {}  # number of the kind and name as a C string, by kind and name
        self._main = library.stepscope_lane(b"training loop", _TRACK_MAIN)
        self.asked_facts = None  # of the iterator that was asked for a batch last (loaders.LoaderFacts)
        self.reported_facts = None
        self.reported_optimizers = set()

    def restart(self, whole, library):
        """A recording begins in a process that was recorded before, or whose objects are already known."""
        self._take(whole, library)
        for part in (self.facts, self.steps, self.phases, self.models, self.losses, self.lines):
            part.restart()
        self._threads_are_new()

    def write_to(self, whole, library):
        """From here on, everything is written to another library; steps and phases continue."""
        self._take(whole, library)
        self._others = {}
        self._worker = None

    def stop(self, library=None):
        """The recording has ended, and the process continues: from here on, nothing is written, or to `library`."""
        silent = library or arm.NullLibrary()
        self.write_to(silent, silent)

    def _threads_are_new(self):
        self.lock = threading.RLock()
        self._loop = None  # the thread of the training loop, once it is known
        self._others = {}  # tracks of other threads
        self._worker = None  # track of the loader worker that this process is; False: it is none
        self._optimizing = {}  # by thread: the optimizers that are in step(), innermost last

    def forked(self):
        """In a forked child, which has only the thread that forked, and its own trace from its first event on."""
        self._threads_are_new()  # another thread of the parent may have held the lock
        self.steps.forked()
        self.phases.forked()
        self.losses.forked()
        self.lines.forked()
        self.facts.forked()

    def track(self, asks_only=False):
        """The track of the calling thread. The loop is the main thread, or the first thread that does more than ask a
        loader."""
        thread = get_ident()
        if thread == self._loop:
            return self._main
        if self._loop is None and (not asks_only or thread == threading.main_thread().ident):
            self._loop = thread
            return self._main
        known = self._others.get(thread)
        return self._new_track(thread) if known is None else known

    def _new_track(self, thread):
        with self.lock:
            threading.current_thread()  # registers a thread that Python has not created
            living = {other.ident for other in threading.enumerate()}
            gone = next((other for other in self._others if other not in living), None)
            if gone is not None:
                track = self._others.pop(gone)
            else:
                track = self._library.stepscope_lane(f"Python thread {len(self._others) + 2}".encode(), _TRACK_THREAD)
            self._others[thread] = track
            return track

    def kind(self, name):
        number = self._kinds.get(name)
        if number is None:
            number = self._kinds[name] = self._library.stepscope_kind(name.encode())
        return number

    def text(self, name):
        encoded = self._texts.get(name)
        if encoded is None:
            encoded = _encoded(name)
            if len(self._texts) < 1000:  # a program may generate its names
                self._texts[name] = encoded
        return encoded

    # The hooks of each step call these. They keep errors to themselves without a wrapper around them: between two steps,
    # the program's own work takes the processor's caches, and then each further call costs most of a microsecond.

    def open(self, kind, name, value=0):
        """Begins a range of the calling thread. Returns whether it did."""
        try:
            track = self._main if get_ident() == self._loop else self.track()
            number, text = self._ranges.get((kind, name)) or self._range(kind, name)
            self._open(track, number, text, int(value))
            return True
        except Exception as error:
            report("Session.open", error)
            return False

    def close(self):
        """Ends the innermost range of the calling thread."""
        try:
            self.close_on(self._main if get_ident() == self._loop else self.track())
        except Exception as error:
            report("Session.close", error)

    def open_on(self, track, kind, name, value=0):
        """Begins a range on a track. Returns whether it did."""
        try:
            number, text = self._ranges.get((kind, name)) or self._range(kind, name)
            self._open(track, number, text, int(value))
            return True
        except Exception as error:
            report("Session.open_on", error)
            return False

    def _range(self, kind, name):
        found = self.kind(kind), self.text(name)
        if len(self._ranges) < 1000:  # a program may generate its names
            self._ranges[kind, name] = found
        return found

    def optimizer_begins(self, optimizer):
        try:
            inside = self._optimizing.setdefault(get_ident(), [])
            if inside and id(optimizer) in inside:
                self.close_raised_optimizers(inside.index(id(optimizer)))
            inside.append(id(optimizer))
            self.open("phase", "optimizer")
        except Exception as error:
            report("Session.optimizer_begins", error)

    def optimizer_ends(self):
        """Returns whether the optimizer was not called by another one's step."""
        try:
            inside = self._optimizing.get(get_ident())
            if inside:
                inside.pop()
                self.close()
            return not inside
        except Exception as error:
            report("Session.optimizer_ends", error)
            return False

    def close_raised_optimizers(self, least=0):
        """The calling thread is not in an optimizer's step: a step that has not ended has raised, which LibTorch did
        not report."""
        inside = self._optimizing.get(get_ident()) or ()
        while len(inside) > least:
            inside.pop()
            self.close()

    def complete(self, kind, name, begin, end, value=0):
        """A complete range on the training loop's track, with times as returned by now()."""
        number, text = self._ranges.get((kind, name)) or self._range(kind, name)
        self._library.stepscope_complete(self._main, number, text, begin, end, int(value))

    def fetch_begins(self):
        """A loader begins to create a batch. Returns its track: that of a worker or of the calling thread; None if it
        cannot be recorded."""
        try:
            if self._worker is None:
                self._worker = self._track_of_worker()
            track = self._worker or (self._main if get_ident() == self._loop else self.track(asks_only=True))
            self._library.stepscope_fetch_begins(track)
            return track
        except Exception as error:
            report("Session.fetch_begins", error)
            return None

    @property
    def is_loader_worker(self):
        """Known after a batch was created in this process."""
        return bool(self._worker)

    def _track_of_worker(self):
        worker = sys.modules.get("torch.utils.data._utils.worker")
        info = worker.get_worker_info() if worker else None
        return info is not None and self._library.stepscope_lane(f"loader worker {info.id}".encode(), _TRACK_LOADER_WORKER)

    def counter(self, name, unit, value, time=None):
        """A sample of a counter; at the current time if none is given."""
        try:
            name, unit = self._texts.get(name) or self.text(name), self.text(unit)
            self._library.stepscope_counter(self._main, name, unit, value, time or self.now())
        except Exception as error:
            report("Session.counter", error)

    def metadata(self, key, value):
        self._library.stepscope_metadata(_encoded(key), _encoded(value))

    def operators(self, on):
        """Sets whether NVTX ranges of LibTorch's profiler are operators from now on."""
        self._library.stepscope_operators(1 if on else 0)

    @property
    def libraries(self):
        """The injection library twice: its calls keep the GIL, or release it."""
        return self._library, self._whole

    def operator_functions(self):
        """Addresses of the functions that receive the start and end of an operator."""
        names = ("stepscope_op_begin", "stepscope_op_end")
        return tuple(ctypes.cast(getattr(self._library, name), ctypes.c_void_p) for name in names)

    def enter_steps(self):
        """The training loop enters the steps that are to be recorded: the part begins."""
        self._library.stepscope_steps_enter()

    def leave_steps(self):
        """It leaves them: the part ends, and the process continues unrecorded."""
        self._whole.stepscope_steps_leave()
        self.stop()

    def end(self):
        """Ends the part of a process that exits with _exit, like a loader worker."""
        self._whole.stepscope_end()
