"""Which training steps are recorded, for `record --steps`, and which of them have their operators recorded, for
`record --ops --ops-every N --ops-window M`."""

import os
import sys

from .guard import guarded

# The first steps allocate memory and choose algorithms, so they are not representative.
_WARM_UP = 3
_LISTED = 8  # maximum number of windows in the list; of more, the first and the last ones are listed


class Windows:
    """Same as capture.ops_every and capture.ops_window in a training run of Stepscope's own trainer: a window near the
    start, and one at the beginning of every so many steps."""

    def __init__(self, session, every, length, switches):
        self._session = session
        self._every, self._length = every, length
        self._on, self._off = switches
        self._windows = []  # first and last step of each window
        self._count = 0
        self._inside = False
        self._step = -1
        session.metadata("ops.every", str(every))
        session.metadata("ops.window", str(length))

    def contains(self, step):
        first = _WARM_UP <= step < _WARM_UP + self._length
        return first or (step >= self._every and step % self._every < self._length)

    def step_begins(self, step):
        """Called on the loop's thread, even if it turns out later that no step has begun."""
        if step == self._step:
            return
        self._step = step
        inside = self.contains(step)
        if inside and not self._inside:
            self._begin(step)
        elif inside:
            self._windows[-1][1] = step
        elif self._inside:
            self.end()

    def _begin(self, step):
        self._inside = True
        self._count += 1
        self._windows.append([step, step])
        if len(self._windows) > _LISTED:
            del self._windows[_LISTED - 1]
        self._on()

    def end(self):
        """The window's last step, or the program, has ended."""
        if not self._inside:
            return
        self._off()
        self._inside = False
        parts = [f"{first}–{last}" if last > first else str(first) for first, last in self._windows]
        if self._count > _LISTED:
            parts.insert(_LISTED - 1, f"{self._count - _LISTED} more")
        self._session.metadata("ops.steps", ", ".join(parts))

    def program_ended(self, steps):
        self.end()
        multiprocessing = sys.modules.get("multiprocessing")
        if self._count == 0 and not (multiprocessing and multiprocessing.parent_process()):
            self._session.metadata(
                "ops.note",
                f"operators are not recorded: {steps} training steps were seen, and the first window begins after "
                f"{min(_WARM_UP, self._every)} (DataLoaders, optimizers or stepscope.step() mark steps)",
            )

    def forked(self):
        """In a forked child, the windows belong to the parent."""
        if self._inside:
            self._off()
        self._windows, self._count, self._inside, self._step = [], 0, False, -1


def recorded_steps(session):
    """The RecordedSteps of this process; None if all steps are recorded."""
    first, _, last = os.environ.get("STEPSCOPE_STEPS", "").partition("-")
    return RecordedSteps(session, int(first), int(last or first)) if first else None


class RecordedSteps:
    """The steps between which this process is recorded. Every rank of a job counts its steps from 0, so that all of
    them record the same ones. Loader workers follow their rank (profiler/capture/injection/process_recording.h)."""

    def __init__(self, session, first, last):
        self._session = session
        self._first, self._last = first, last
        self._is_inside = self._is_over = False
        self.switches = None  # functions that turn operators on and off, if they are recorded

    def step_begins(self, step):
        """Called on the loop's thread, even if it turns out later that no step has begun."""
        if self._is_over or step < self._first:
            return
        if step > self._last:
            self.end()
        elif not self._is_inside:
            self._is_inside = True
            self._session.enter_steps()
            self._session.lines.begin_again()
            if self.switches:
                self.switches[0]()

    @guarded
    def end(self):
        """The last of the steps, or the program, has ended."""
        if self._is_over:
            return
        self._is_over = True
        if not self._is_inside:
            return
        session, now = self._session, self._session.now()
        if self.switches:
            guarded(self.switches[1])()
        if session.steps.windows:
            guarded(session.steps.windows.end)()
        guarded(session.phases.program_ended)(now)
        guarded(session.losses.read)()
        guarded(session.lines.end)()
        session.facts.write()
        session.leave_steps()

    def program_ended(self, steps):
        """Reports that the program has trained less than was to be recorded."""
        if self._is_inside or self._is_over or not steps:
            return
        _report(
            f"nothing is recorded of process {os.getpid()}: it ended after {steps} training steps, and --steps begins "
            f"with step {self._first}, counted from 0\x1frecord.steps.not_reached"
        )

    def forked(self):
        """In a forked child, the steps belong to the parent."""
        self._is_over = True


def _report(text):
    notes = os.environ.get("STEPSCOPE_NOTES")
    if notes:
        with open(notes, "a", encoding="utf-8") as file:
            file.write(text + "\n")
