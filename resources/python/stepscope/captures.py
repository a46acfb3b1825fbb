"""Traces of a few steps of a process that is recorded with `--level steps`.

The file `capture.json` in the recording's folder asks for a capture. `stepscope-cli watch --capture` writes it, and so
does a rank whose step is slower than the 99th percentile of the last hour, if STEPSCOPE_CAPTURE_SLOW gives the seconds
between two such captures. All ranks read it, and record the same steps, because it names the first one. Each capture is
a folder with one trace per rank. A thread does what takes long: it starts `stepscope-cli record` and waits for the trace.
"""
import ctypes
import fcntl
import json
import os
import shutil
import sys
import threading
import time

from . import hooks, operators, part, tracing
from .guard import guarded, report

_REQUEST = "capture.json"
_LOOK_EVERY = 100 * 10**6  # ns
_MOST_STEPS = 10_000
_STEPS = 5  # of a capture that a slow step starts
_KEPT = 10  # newest captures of slow steps; older ones are deleted
# Until all ranks have seen a request and are ready for its first step. Chosen: a process starts within a second even on
# a busy machine, and _LOOK_EVERY is added.
_LEAD = 2 * 10**9  # ns


def rank_and_size():
    """This process's rank and the number of ranks: of torch.distributed, or as the launcher set them; 0 and 1 for a
    single process."""
    distributed = sys.modules.get("torch.distributed")
    try:
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
    except Exception:  # a group that is being destroyed
        pass
    for rank, size in (
        ("RANK", "WORLD_SIZE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("PMI_RANK", "PMI_SIZE"),
        ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ):
        try:
            return int(os.environ[rank]), int(os.environ[size])
        except (KeyError, ValueError):
            continue
    return 0, 1


class Captures:
    def __init__(self, folder, summary, session):
        self._folder, self._summary, self._session = folder, summary, session
        self._path = os.path.join(folder, _REQUEST)
        pause = os.environ.get("STEPSCOPE_CAPTURE_SLOW")
        self._pause = float(pause) if pause else None  # seconds between two captures of slow steps; None: none
        self._reset()
        self._seen = self._state()  # a request from before this process does not count

    def _reset(self):
        self.is_recording = False
        self._looked = 0
        self._seen = None
        self._wanted = None  # (first step, number of steps)
        self._part = None
        self._ready = threading.Event()
        self._busy = False
        self._left = 0
        self._operators_off = None

    def forked(self):
        """In a forked child, the thread does not exist, and the parent's capture continues without it."""
        self._reset()
        self._seen = self._state()

    def _state(self):
        try:
            state = os.stat(self._path)
            return state.st_mtime_ns, state.st_ino
        except OSError:
            return None

    def step_ended(self, count, duration):
        """Called at the end of each step with the number of completed steps, before the next step begins."""
        if self.is_recording:
            self._left -= 1
            if self._left <= 0:
                self._end()
            return
        p99 = self._summary.p99
        if self._pause is not None and p99 is not None and duration > p99:
            self._want_because_slow(count, p99)
        now = time.monotonic_ns()
        if now - self._looked >= _LOOK_EVERY:
            self._looked = now
            state = self._state()
            if state is not None and state != self._seen and not self._busy:
                self._seen = state
                self._read(count)
        if self._busy and self._ready.is_set() and count >= self._wanted[0]:
            self._begin()

    @guarded
    def _want_because_slow(self, count, step_time):
        # One rank writes the request, whichever was slow first.
        with open(os.path.join(self._folder, "capture.lock"), "a", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return
            state = self._state()
            if state is not None and time.time() - state[0] / 1e9 < self._pause:
                return
            alone = rank_and_size()[1] == 1
            first = 0 if alone else count + int(_LEAD // step_time) + 1
            name = time.strftime("capture-%Y%m%d-%H%M%S-slow")
            new = f"{self._path}.{os.getpid()}"
            with open(new, "w", encoding="utf-8") as file:
                json.dump({"name": name, "first": first, "steps": _STEPS}, file)
            os.replace(new, self._path)
            self._delete_old()

    def _delete_old(self):
        names = os.listdir(self._folder)
        slow = sorted(name for name in names if name.startswith("capture-") and name.endswith("-slow"))
        for name in slow[: max(0, len(slow) - _KEPT + 1)]:
            shutil.rmtree(os.path.join(self._folder, name), ignore_errors=True)

    @guarded
    def _read(self, count):
        with open(self._path, encoding="utf-8") as file:
            request = json.load(file)
        name, steps = str(request["name"]), int(request["steps"])
        rank, _ = rank_and_size()
        if not name.startswith("capture-") or os.sep in name or not 0 < steps <= _MOST_STEPS:
            raise ValueError(f"{self._path} is not a request for a capture")
        self._wanted = int(request.get("first") or 0), steps
        self._busy = True
        self._ready.clear()
        path = os.path.join(self._folder, name, f"rank{rank}.sstrace")
        threading.Thread(target=self._prepare, args=(path,), name="stepscope capture", daemon=True).start()

    def _prepare(self, path):
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self._part = part.Part(path, with_operators=True)
            self._part.start_beside()
            ctypes.CDLL(self._part.library)  # loading it here keeps the training loop from waiting
            self._ready.set()
        except Exception as error:
            self._busy = False
            print(f"stepscope: {path} cannot be recorded: {error}", file=sys.stderr)

    def _begin(self):
        session, one = self._session, self._part
        self._ready.clear()
        try:
            one.set_variables()
            if not tracing.begin(one.library, continues=True):
                raise part.CannotRecord(f"{one.path} cannot be written.")
            self._describe(session)
            one.record_device()
            torch = sys.modules.get("torch")
            if torch is not None:
                self._switch_operators_on(torch)
            session.lines.restart()
            session.lines.start()
            self.is_recording = True
            self._left = self._wanted[1]
        except Exception as error:
            print(f"stepscope: {one.path} cannot be recorded: {error}", file=sys.stderr)
            session.stop(self._summary)
            one.restore_variables()
            one.abandon()
            self._busy = False

    def _describe(self, session):
        rank, size = rank_and_size()
        if size > 1:
            session.metadata("rank", str(rank))
            session.metadata("world_size", str(size))
        if "torch" in sys.modules:
            hooks.record_versions(sys.modules["torch"], session)

    @guarded
    def _switch_operators_on(self, torch):
        on, self._operators_off = operators.source(self._session, torch)
        on()

    def _end(self):
        """At the end of the last step. If the program ends now, it waits for the thread, which is not a daemon."""
        self._stop()
        threading.Thread(target=self._collect, name="stepscope capture").start()

    def _stop(self):
        session = self._session
        self.is_recording = False
        off, self._operators_off = self._operators_off, None
        if off is not None:
            guarded(off)()
        for write in (session.losses.read, session.lines.end, session.facts.write, session.end):
            guarded(write)()
        session.stop(self._summary)
        self._part.restore_variables()

    def _collect(self):
        one = self._part
        try:
            said = one.collect()
            if said and not os.path.exists(one.path):
                print(f"stepscope: {said}", file=sys.stderr)
        except Exception as error:
            report("Captures._collect", error)
        finally:
            self._busy = False

    def program_ends(self):
        """Python starts no threads any more."""
        if self.is_recording:
            self._stop()
            self._collect()
        elif self._busy and self._part is not None:
            self._part.abandon()
