"""Samples the user's lines that the training thread executes, 200 times per second, or as often as 1 % of a processor
allows.

A separate thread reads the training thread's frames; nothing is traced, and nothing is installed in the interpreter's
loop. It runs when the training thread releases the GIL, as PyTorch does in its operators, or after the interpreter's
switch interval. Each sample is the stack of the user's frames, innermost first; equal stacks are stored once. The
document `lines` in the trace's metadata:

  schema, interval_us, begin_ns (trace time), files [path], places [[file, line, function]], stacks [[place, …]]
  samples [stack, µs since the previous sample, stack, µs, …]
  cost_us   processor time that sampling took; samples with the stack −1 are outside the user's files

and, if allocations are recorded (allocations.py), one of:
  allocated [bytes, number, …] from the previous sample to each sample: an operator allocates first, then it computes
  exact     [place, bytes, number, …] of the lines that allocated, at level full
"""
import json
import os
import sys
import threading
import time

from . import allocations, sites

_INTERVAL = 0.005  # seconds
_LONGEST = 0.1
# Share of one processor. Waking a thread takes 50 µs of it on a quiet machine and 200 µs on a busy virtual one
# (measured).
_MOST_COST = 0.01
_JUDGED = 20  # number of samples after which the interval is adjusted
_MOST_SAMPLES = 80_000  # beyond this number, every second sample is dropped and the interval doubled
_MOST_STACKS = 20_000
_MOST_FRAMES = 12  # of the user's frames
_MOST_DEPTH = 150
_OUTSIDE = -1


class Lines:
    def __init__(self, session):
        self._session = session
        self._reset()

    def _reset(self):
        self._thread = None
        self._target = None
        self._ended = False
        self._interval = self._shortest = _INTERVAL
        self._places = {}
        self._files = {}
        self._stacks = {}
        self._by_code = {}  # (identity of the code, line) to place; None: not in a user's file
        self._codes = []
        self._times = []
        self._samples = []
        self._totals = []  # of allocations, at each sample
        self._allocations = None  # None: not recorded
        self._cost = 0.0
        self._written = 0

    def start(self):
        """Samples the calling thread from now on; called once."""
        if self._thread is not None or os.environ.get("STEPSCOPE_LINES") == "0" or not self._session.is_recording:
            return
        self._target = threading.get_ident()
        self._allocations = allocations.counted(self._session)
        self._thread = threading.Thread(target=self._run, name="stepscope lines", daemon=True)
        self._thread.start()

    def restart(self):
        self._reset()

    def forked(self):
        """In a forked child, the thread no longer exists."""
        self._stop_counting()
        self._reset()

    def end(self):
        """Called when the program ends: writes the samples."""
        if self._thread is None:
            return
        self._ended = True
        self._thread.join(1.0)
        self._stop_counting()
        self.write()

    def _stop_counting(self):
        if self._allocations is not None:
            self._allocations.stop()

    def _run(self):
        due, pause = time.monotonic() + 10, 10
        judged, cost = time.monotonic(), 0.0
        while not self._ended:
            time.sleep(self._interval)
            try:
                self._sample()
            except Exception as error:  # our thread must not print a traceback when the program ends
                self._session.facts.note(f"lines are no longer sampled: {error!r}")
                return
            self._cost = time.thread_time()
            if len(self._samples) % _JUDGED == 0:
                now = time.monotonic()
                self._adjust((self._cost - cost) / max(now - judged, 1e-9))
                judged, cost = now, self._cost
                if now > due:
                    pause *= 3
                    due = now + pause
                    self.write()

    def _adjust(self, share):
        """Samples less often if it costs too much, and at the desired rate if it costs little."""
        if share > _MOST_COST:
            self._interval = min(_LONGEST, self._interval * 1.25 * share / _MOST_COST)
        elif share < 0.6 * _MOST_COST:
            self._interval = max(self._shortest, self._interval * 0.8)

    def _sample(self):
        frame = sys._current_frames().get(self._target)
        if frame is None:
            self._ended = True  # the training thread has ended
            return
        now = self._session.now()
        if self._allocations is not None and not self._allocations.are_by_line:
            self._totals.append(self._allocations.total())
        places = []
        for _ in range(_MOST_DEPTH):
            if frame is None or len(places) == _MOST_FRAMES:
                break
            # By identity: hashing a code object would visit all of its instructions.
            key = (id(frame.f_code), frame.f_lineno)
            place = self._by_code.get(key, self)
            if place is self:
                self._codes.append(frame.f_code)  # keeps the object alive, so that its identity is not reused
                place = self._by_code[key] = self._place(frame.f_code, frame.f_lineno)
            if place is not None:
                places.append(place)
            frame = frame.f_back
        self._times.append(now)
        self._samples.append(self._stack(tuple(places)))
        if len(self._samples) > _MOST_SAMPLES:
            del self._times[::2], self._samples[::2], self._totals[::2]
            self._shortest *= 2
            self._interval = max(self._interval, self._shortest)

    def _place(self, code, line):
        if line is None or not sites.is_user_file(code.co_filename):
            return None
        path = os.path.abspath(code.co_filename)
        file = self._files.setdefault(path, len(self._files))
        function = getattr(code, "co_qualname", code.co_name)
        return self._places.setdefault((file, line, function), len(self._places))

    def _stack(self, places):
        if not places:
            return _OUTSIDE
        known = self._stacks.get(places)
        if known is None:
            if len(self._stacks) >= _MOST_STACKS:
                return _OUTSIDE
            known = self._stacks[places] = len(self._stacks)
        return known

    def write(self):
        count = min(len(self._samples), len(self._times))
        if not count or count == self._written:
            return
        self._written = count
        exact = self._exact()  # may add places
        times, stacks = self._times[:count], self._samples[:count]
        flat, before = [], times[0]
        for at, stack in zip(times, stacks):
            flat += (stack, (at - before) // 1000)
            before = at
        document = {
            "schema": 1,
            "interval_us": round(self._interval * 1e6),
            "begin_ns": times[0],
            "files": list(self._files),
            "places": list(self._places),
            "stacks": list(self._stacks),
            "samples": flat,
            "cost_us": round(self._cost * 1e6),
        }
        if exact is not None:
            document["exact"] = exact
        elif self._allocations is not None:
            document["allocated"] = self._allocated(count)
        self._session.metadata("lines", json.dumps(document, separators=(",", ":")))

    def _allocated(self, count):
        totals = self._totals[:count]
        flat = [now - before for pair in zip(totals, totals[1:]) for before, now in zip(*pair)]
        return [0, 0] + flat

    def _exact(self):
        """None: the allocations are those of the samples."""
        if self._allocations is None or not self._allocations.are_by_line:
            return None
        flat = []
        for code, line, size, number in self._allocations.lines():
            place = self._place(code, line)
            if place is not None and number:
                flat += (place, size, number)
        return flat
