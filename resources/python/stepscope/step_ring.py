"""The file of `record --level steps`: the steps of one rank, in a ring whose size is fixed.

The newest steps are stored one by one, and each minute as a summary; both rings overwrite their oldest records. At
10 ms per step, the steps of the last three hours and the minutes of the last four weeks take 70 MB. All numbers are
little-endian; resources/formats/stepscope_steps.md describes them, profiler/monitor/step_ring.cpp reads them.

Records are written with pwrite, so that a full disk is an error here and not a signal, and a program that is killed
loses no step that it completed. The number of records is written after the record: a reader never sees half of one.
"""
import fcntl
import json
import os
import struct

MAGIC = b"SSSTEPS1"
HEADER_BYTES = 4096
STEP_SLOTS = 1 << 20
MINUTE_SLOTS = 4 * 7 * 24 * 60

# Parts of a step. The time between two steps is `outside`; `arrival` is the start of the backward pass, relative to the
# step's start.
PARTS = ("data_wait", "forward", "loss", "backward", "optimizer", "other")
CAPTURED = 1  # flag: a trace of this step was recorded, so its time is not representative and it has no parts
NONE = 0xFFFFFFFF

_HEADER = struct.Struct("<8sIIIIIIQQQI")
_COUNTS = struct.Struct("<QQQ")  # steps, minutes, whether the program has ended
_COUNTS_AT = 32
_TEXT_AT = 64
_STEP = struct.Struct("<QqII10I")
_MINUTE = struct.Struct("<QqII12fQ")
MOST_BYTES = HEADER_BYTES + MINUTE_SLOTS * _MINUTE.size + STEP_SLOTS * _STEP.size
_F_OFD_SETLK = 37  # fcntl.F_OFD_SETLK, which not every Python has


class Busy(Exception):
    """Another process writes the file."""


def _saturated(value):
    return 0 if value < 0 else min(int(value), NONE - 1)


class StepRing:
    """Not thread-safe."""

    def __init__(self, path, about, step_slots=STEP_SLOTS, minute_slots=MINUTE_SLOTS):
        """Continues a file that an earlier process of the same rank has left.

        about: a dictionary that describes the process
        @raises Busy, OSError
        """
        self.path = path
        self._minutes_at = HEADER_BYTES
        self._steps_at = HEADER_BYTES + minute_slots * _MINUTE.size
        self._step_slots, self._minute_slots = step_slots, minute_slots
        self.steps = self.minutes = 0
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)  # closed by exec, as all files that Python opens
        try:
            self._lock()
            self._continue_or_begin(about)
        except BaseException:
            os.close(self._file)
            raise

    def _lock(self):
        """Shows that this process lives (profiler/os/file_lock.h)."""
        lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        try:
            fcntl.fcntl(self._file, _F_OFD_SETLK, lock)
        except (BlockingIOError, PermissionError):
            raise Busy(self.path) from None
        except OSError:
            pass  # a file system without locks

    def _layout(self):
        return MAGIC, 1, HEADER_BYTES, _STEP.size, self._step_slots, _MINUTE.size, self._minute_slots

    def _continue_or_begin(self, about):
        old = os.pread(self._file, _HEADER.size, 0)
        if len(old) == _HEADER.size:
            *layout, steps, minutes, _, _ = _HEADER.unpack(old)
            if tuple(layout) == self._layout():
                self.steps, self.minutes = steps, minutes
        if not self.steps and not self.minutes:
            os.ftruncate(self._file, 0)
        self.describe(about)

    def describe(self, about):
        """Replaces the description of the process."""
        text = json.dumps(about, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
        room = HEADER_BYTES - _TEXT_AT
        if len(text) > room:
            about = {**about, "command": about.get("command", "")[: 500]}
            text = json.dumps(about, separators=(",", ":")).encode()[:room]
        header = _HEADER.pack(*self._layout(), self.steps, self.minutes, 0, len(text))
        os.pwrite(self._file, (header.ljust(_TEXT_AT, b"\0") + text).ljust(HEADER_BYTES, b"\0"), 0)

    def add_step(self, end, index, flags, duration, parts, outside, arrival, samples):
        """end: ns since 1970; duration, parts, outside and arrival: ns, arrival may be None; samples: 0 if unknown.

        @raises OSError if the disk is full
        """
        record = _STEP.pack(
            self.steps + 1,
            end,
            index & NONE,
            flags,
            _saturated(duration // 1000),
            *[_saturated(part // 1000) for part in parts],
            _saturated(outside // 1000),
            NONE if arrival is None else _saturated(arrival // 1000),
            _saturated(samples),
        )
        os.pwrite(self._file, record, self._steps_at + self.steps % self._step_slots * _STEP.size)
        self.steps += 1
        self._write_counts()

    def add_minute(self, begin, steps, captured, statistics, samples):
        """begin: ns since 1970; statistics: mean, p50, p90, p99 and maximum of the step times, the means of the parts,
        and the mean time outside of steps, in µs."""
        record = _MINUTE.pack(self.minutes + 1, begin, steps, captured, *statistics, samples)
        os.pwrite(self._file, record, self._minutes_at + self.minutes % self._minute_slots * _MINUTE.size)
        self.minutes += 1
        self._write_counts()

    def _write_counts(self, ended=0):
        os.pwrite(self._file, _COUNTS.pack(self.steps, self.minutes, ended), _COUNTS_AT)

    def end(self):
        """The program has ended by itself."""
        try:
            self._write_counts(1)
        finally:
            os.close(self._file)

    def close_in_child(self):
        """In a forked child."""
        os.close(self._file)
