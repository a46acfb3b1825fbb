"""Recording that can stay on for weeks: `record --level steps`.

A session's ranges are not written but summed by step (`Summary`, which stands in for the injection library). Each step
becomes one record of the rank's file (step_ring.py). Nothing of the injection library is loaded until a trace of some
steps is wanted (captures.py).
"""
import math
import os
import socket
import sys
import time
from collections import Counter, deque

from . import tracing
from .arm import NullLibrary
from .captures import Captures, rank_and_size
from .guard import report
from .step_ring import CAPTURED, PARTS, Busy, StepRing

_FOLDER = "STEPSCOPE_ALWAYS_ON"
_MINUTE = 60 * 10**9  # ns
_MAIN = 1  # kind of the training loop's track (tracing.py)
# Names of the phases (of Session.open and Session.complete) by part; everything else counts as "other".
_COLUMNS = {
    b"data wait": PARTS.index("data_wait"),
    b"forward": PARTS.index("forward"),
    b"loss": PARTS.index("loss"),
    b"backward": PARTS.index("backward"),
    b"optimizer": PARTS.index("optimizer"),
    b"step": -1,
}
_OTHER = PARTS.index("other")


class Percentile:
    """The 99th percentile of the step times of the last hour, in buckets of 2 %."""

    _WIDTH = 50  # buckets per factor e
    _LEAST = 500  # steps: of fewer, one percent is too few

    def __init__(self):
        self.p99 = None  # ns; None: too few steps so far
        self._minutes = deque()
        self._now = Counter()

    def add(self, duration):
        self._now[int(math.log(max(duration, 1)) * self._WIDTH)] += 1

    def minute_ends(self, minute):
        """minute: its number since 1970"""
        self._minutes.append((minute, self._now))
        self._now = Counter()
        while self._minutes and self._minutes[0][0] <= minute - 60:
            self._minutes.popleft()
        total = sum((counts for _, counts in self._minutes), Counter())
        count = sum(total.values())
        if count < self._LEAST:
            self.p99 = None
            return
        above = count // 100  # steps that may be slower
        for bucket in sorted(total, reverse=True):
            above -= total[bucket]
            if above < 0:
                self.p99 = math.exp((bucket + 1) / self._WIDTH)
                return


def _quantile(ordered, share):
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Minute:
    """The sums of one minute."""

    def __init__(self, number):
        self.number = number
        self.durations = []
        self.parts = [0] * len(PARTS)
        self.outside = self.captured = self.samples = 0

    def add(self, duration, parts, outside, samples, is_captured):
        self.samples += samples
        if is_captured:
            self.captured += 1
            return
        self.durations.append(duration)
        for column, part in enumerate(parts):
            self.parts[column] += part
        self.outside += outside

    def write(self, ring):
        count = len(self.durations)
        ordered = sorted(self.durations) or [0]
        statistics = [
            sum(ordered) / max(count, 1),
            *(_quantile(ordered, share) for share in (0.5, 0.9, 0.99)),
            ordered[-1],
            *(part / max(count, 1) for part in self.parts),
            self.outside / max(count, 1),
        ]
        ring.add_minute(
            self.number * _MINUTE, count + self.captured, self.captured, [ns / 1000 for ns in statistics], self.samples
        )


class Summary(NullLibrary):
    """Replaces the injection library: sums the ranges of the training loop by step."""

    def __init__(self, folder, clock=time.time_ns, make_ring=StepRing):
        self._folder, self._clock, self._make_ring = folder, clock, make_ring
        self._session = None
        self.captures = None
        self._forget()

    def _forget(self):
        self._ring = None
        self._is_off = False  # the file cannot be written
        self._count = 0
        self._previous = None
        self._minute = None
        self._percentile = Percentile()
        self._open = []
        self._clear()

    def _clear(self):
        self._parts = [0] * len(PARTS)
        self._arrival = None

    def attach(self, session):
        self._session = session
        self.captures = Captures(self._folder, self, session)
        session.steps.listeners.append(self.step_ended)

    # ---- what a session calls of the library ----

    def stepscope_kind(self, name):
        return 0

    def stepscope_lane(self, name, kind):
        return 0 if kind == _MAIN else 1

    def stepscope_open(self, track, kind, name, value):
        if track:
            return
        now = time.monotonic_ns()
        if name == b"backward" and self._arrival is None:
            self._arrival = now
        self._open.append((_COLUMNS.get(name, _OTHER), now))

    def stepscope_close(self, track):
        if not track and self._open:
            column, begin = self._open.pop()
            # Ranges within others are part of the outermost one; a step that the program marks contains all.
            if column >= 0 and (not self._open or self._open[-1][0] < 0):
                self._parts[column] += time.monotonic_ns() - begin

    def stepscope_complete(self, track, kind, name, begin, end, value):
        if name == b"loss":
            self._parts[_COLUMNS[name]] += end - begin

    def stepscope_end(self):
        ring, self._ring, self._is_off = self._ring, None, True
        if ring is None:
            return
        try:
            if self._minute is not None:
                self._minute.write(ring)
        except OSError as error:
            report("always-on", error)
        finally:
            ring.end()

    # ---- steps ----

    def step_ended(self, now):
        """Called at the end of each step, on the training loop's thread."""
        try:
            self._step_ended(now)
        except Exception as error:
            report("always-on", error)

    def _step_ended(self, now):
        steps = self._session.steps
        first, self._count = self._count, steps.count
        begin, previous = steps.begun, self._previous
        parts, arrival = self._parts, self._arrival
        self._clear()
        self._previous = now
        is_captured = self.captures.is_recording
        # Several steps at once: their ends were decided afterwards, and what was summed belongs to all of them.
        if self._count == first + 1 and not self._is_off:
            duration = now - begin
            outside = begin - previous if previous is not None and begin > previous else 0
            at = self._clock()
            self._write(at, duration, parts, outside, None if arrival is None else arrival - begin, is_captured)
        self.captures.step_ended(self._count, now - begin)
        if self.captures.is_recording or is_captured:
            self._previous = time.monotonic_ns()  # starting and ending a capture takes time

    def _write(self, at, duration, parts, outside, arrival, is_captured):
        if self._ring is None and not self._start():
            return
        samples = self._samples()
        minute = at // _MINUTE
        try:
            if self._minute is None or minute != self._minute.number:
                if self._minute is not None:
                    self._minute.write(self._ring)
                    self._percentile.minute_ends(self._minute.number)
                self._minute = Minute(minute)
            self._minute.add(duration, parts, outside, samples, is_captured)
            if not is_captured:
                self._percentile.add(duration)
            flags = CAPTURED if is_captured else 0
            self._ring.add_step(at, self._count - 1, flags, duration, parts, outside, arrival, samples)
        except OSError as error:  # a full disk: later steps may fit again
            report("always-on", error)

    @property
    def p99(self):
        """Of the last hour, ns; None: too few steps so far."""
        return self._percentile.p99

    def _samples(self):
        facts = self._session.asked_facts
        size = facts.metadata.get("loader.batch_size", "") if facts is not None else ""
        return int(size) if size.isdigit() else 0

    def _start(self):
        rank, size = rank_and_size()
        about = {
            "rank": rank,
            "world_size": size,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started_ns": self._clock(),
            "command": " ".join(sys.argv)[:1000],
            "job": os.environ.get("TORCHELASTIC_RUN_ID") or os.environ.get("SLURM_JOB_ID") or "",
        }
        for number in range(1, 100):
            name = f"rank{rank}.steps" if number == 1 else f"rank{rank}-{number}.steps"
            try:
                self._ring = self._make_ring(os.path.join(self._folder, name), about)
                return True
            except Busy:
                continue  # another program records into the same folder
            except OSError as error:
                print(f"stepscope: steps are not recorded: {error}", file=sys.stderr)
                break
        self._is_off = True
        return False

    def forked(self):
        """In a forked child, the file belongs to the parent."""
        if self._ring is not None:
            self._ring.close_in_child()
        self._forget()
        self.captures.forked()
        if self.step_ended not in self._session.steps.listeners:
            self._session.steps.listeners.append(self.step_ended)


def start():
    """A session that records into the folder that the variable names."""
    summary = Summary(os.environ[_FOLDER])
    session = tracing.Session(summary, summary)
    summary.attach(session)
    session.always_on = summary
    return session
