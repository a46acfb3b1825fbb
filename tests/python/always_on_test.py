"""The file of an always-on recording is bounded, and slow steps are captured. A fake clock passes weeks.

Usage: always_on_test.py FOLDER_OF_THE_PACKAGE [TEST]; run with any Python.
"""
import json
import os
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))

from stepscope import always_on, captures, step_ring  # noqa: E402

SECOND = 10**9
WEEK_MINUTES = 7 * 24 * 60


class _Steps:
    def __init__(self):
        self.listeners, self.count, self.begun = [], 0, 0


class _Session:
    """What a Summary uses of a session."""

    def __init__(self):
        self.steps = _Steps()
        self.asked_facts = None


class Program:
    """Trains with a fake clock."""

    def __init__(self, folder, **ring):
        self.now = 1_800_000_000 * SECOND
        self.session = _Session()
        self.summary = always_on.Summary(
            folder, clock=lambda: self.now, make_ring=lambda path, about: step_ring.StepRing(path, about, **ring)
        )
        self.summary.attach(self.session)

    def train(self, steps, duration):
        steps_of = self.session.steps
        for _ in range(steps):
            steps_of.begun = self.now
            self.now += duration
            steps_of.count += 1
            for listener in steps_of.listeners:
                listener(self.now)


class AlwaysOnTest(unittest.TestCase):
    def setUp(self):
        # A capture that is being started may still write into it.
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "rank0.steps")

    def counts(self):
        with open(self.path, "rb") as file:
            return struct.unpack("<QQQ", file.read(56)[32:])

    def minute(self, number, slots=step_ring.MINUTE_SLOTS):
        with open(self.path, "rb") as file:
            file.seek(step_ring.HEADER_BYTES + number % slots * 80)
            return struct.unpack("<QqII12fQ", file.read(80))

    def test_the_largest_file_is_below_200_MB(self):
        self.assertLess(step_ring.MOST_BYTES, 200e6)

    def test_steps_of_10_ms_overwrite_the_oldest_ones(self):
        # More steps than the ring has: what follows overwrites, for a week and for any time after it.
        program = Program(self.folder)
        steps = step_ring.STEP_SLOTS + 100_000
        program.train(steps, SECOND // 100)
        self.assertEqual(os.path.getsize(self.path), step_ring.MOST_BYTES)
        program.train(100_000, SECOND // 100)
        self.assertEqual(os.path.getsize(self.path), step_ring.MOST_BYTES)
        program.summary.stepscope_end()
        self.assertEqual(self.counts()[0], steps + 100_000)
        self.assertEqual(self.minute(5)[2], 6000)
        self.assertAlmostEqual(self.minute(5)[5], 10_000, delta=1)  # the median in µs

    def test_a_week_is_complete_in_minutes(self):
        program = Program(self.folder, step_slots=1 << 16)
        program.train(WEEK_MINUTES * 20, 3 * SECOND)
        program.summary.stepscope_end()
        steps, minutes, ended = self.counts()
        self.assertEqual((steps, ended), (WEEK_MINUTES * 20, 1))
        self.assertIn(minutes, (WEEK_MINUTES, WEEK_MINUTES + 1))
        for number in (1, 100, WEEK_MINUTES - 2):
            self.assertEqual(self.minute(number)[:1] + self.minute(number)[2:3], (number + 1, 20))

    def test_minutes_are_bounded_too(self):
        program = Program(self.folder, step_slots=16, minute_slots=30)
        program.train(100, 60 * SECOND)
        self.assertEqual(os.path.getsize(self.path), step_ring.HEADER_BYTES + 30 * 80 + 16 * 64)
        self.assertEqual(self.minute(98, 30)[0], 99)

    def test_a_second_program_gets_a_file_of_its_own(self):
        first, second = Program(self.folder), Program(self.folder)
        first.train(3, SECOND)
        second.train(5, SECOND)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "rank0-2.steps")))
        self.assertEqual(self.counts()[0], 3)

    def test_a_program_that_starts_again_continues_its_file(self):
        first = Program(self.folder)
        first.train(3, SECOND)
        first.summary.stepscope_end()
        Program(self.folder).train(5, SECOND)
        self.assertEqual(self.counts(), (8, 1, 0))

    def test_a_full_disk_does_not_stop_the_program(self):
        program = Program(self.folder)
        program.train(3, SECOND)
        write, os.pwrite = os.pwrite, self._full
        try:
            program.train(2, SECOND)
        finally:
            os.pwrite = write
        program.train(1, SECOND)
        self.assertEqual(self.counts()[0], 4)

    @staticmethod
    def _full(*_):
        raise OSError(28, "No space left on device")

    def slow_program(self, pause):
        os.environ["STEPSCOPE_CAPTURE_SLOW"] = pause
        self.addCleanup(os.environ.pop, "STEPSCOPE_CAPTURE_SLOW")
        return Program(self.folder)

    def requested(self):
        try:
            with open(os.path.join(self.folder, "capture.json"), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def test_a_step_slower_than_the_p99_of_the_last_hour_is_a_trigger(self):
        program = self.slow_program("3600")
        program.train(7000, SECOND // 100)
        self.assertIsNone(self.requested())
        program.train(1, SECOND // 20)
        request = self.requested()
        self.assertEqual(request["steps"], 5)
        self.assertTrue(request["name"].endswith("-slow"))

    def test_at_most_one_capture_per_time(self):
        program = self.slow_program("3600")
        program.train(7000, SECOND // 100)
        program.train(1, SECOND // 20)
        first = os.stat(os.path.join(self.folder, "capture.json")).st_mtime_ns
        program.train(1, SECOND // 20)
        self.assertEqual(os.stat(os.path.join(self.folder, "capture.json")).st_mtime_ns, first)

    def test_too_few_steps_have_no_percentile(self):
        program = self.slow_program("3600")
        program.train(300, SECOND)
        program.train(1, 10 * SECOND)
        self.assertIsNone(self.requested())

    def test_old_captures_of_slow_steps_are_deleted(self):
        for number in range(30):
            os.mkdir(os.path.join(self.folder, f"capture-20260101-0000{number:02}-slow"))
        os.mkdir(os.path.join(self.folder, "capture-20250101-000000"))  # on demand: it stays
        program = self.slow_program("3600")
        program.train(7000, SECOND // 100)
        program.train(1, SECOND // 20)
        # A thread creates the folder of the capture that begins now: it may already exist. It counts as kept.
        left = sorted(name for name in os.listdir(self.folder) if name.startswith("capture-20260101-"))
        newest = [f"capture-20260101-0000{number:02}-slow" for number in range(30)][1 - captures._KEPT:]
        self.assertEqual(left, newest)
        self.assertTrue(os.path.isdir(os.path.join(self.folder, "capture-20250101-000000")))

    def test_the_percentile_forgets_what_is_older_than_an_hour(self):
        percentile = always_on.Percentile()
        for minute in range(3):
            for _ in range(1000):
                percentile.add(SECOND)
            percentile.minute_ends(minute)
        self.assertAlmostEqual(percentile.p99 / SECOND, 1, delta=0.05)
        for minute in range(3, 70):
            for _ in range(1000):
                percentile.add(SECOND // 10)
            percentile.minute_ends(minute)
        self.assertAlmostEqual(percentile.p99 / SECOND, 0.1, delta=0.005)


if __name__ == "__main__":
    unittest.main()
