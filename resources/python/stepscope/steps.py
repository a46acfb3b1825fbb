"""Detects where training steps begin and end, in a program that does not mark them.

A step ends when the program's optimizers finish their repeating cycle (cycle.py). Accumulated batches form one step,
and a step that a GradScaler skips counts as well.

- With a loader, a step begins when the loop asks for a batch, and lasts until the loop asks for the next one after the
  cycle is finished, so work after the optimizer (metrics, the schedule) belongs to the step. The end of an epoch also
  ends a step; if a loop asks for each batch before it trains on the previous one, its last step follows after that.
- A program that asks for a single batch and steps on it repeatedly counts as a program without a loader.
- Without a loader, a step lasts from the end of one cycle to the end of the next; the first one begins with the first
  forward or backward pass.

Validation, generation and checkpoints between steps belong to no step. Without an optimizer there are no steps.
"""
import os
import weakref

from .cycle import Cycle
from .guard import guarded

_REPORT = "STEPSCOPE_FIRST_STEPS"
_REPORTED = 12
# After this many optimizer steps on the only batch that was requested, the program is considered to train on it
# permanently. Chosen: loops within a batch (critics, adversarial training, meta-learning) are shorter.
_ON_ONE_BATCH = 24


def report_first(steps):
    """Adds a byte to the file that the variable names, for each of the first steps. A recording of a program that runs
    for hours stops after that file shows that the program trains (advisor/runner/program_recording.h)."""
    path = os.environ.get(_REPORT)
    if path:
        steps.listeners.append(_FirstSteps(steps, path))


class _FirstSteps:
    def __init__(self, steps, path):
        self._steps, self._path, self._count = steps, path, 0

    def __call__(self, _):
        self._count += 1
        try:
            with open(self._path, "ab") as file:
                file.write(b".")
        except OSError:
            self._count = _REPORTED
        if self._count >= _REPORTED:
            self._steps.listeners = [listener for listener in self._steps.listeners if listener is not self]


class _Segment:
    """The time from one point at which a step could end to the next one."""

    __slots__ = ("token", "begin", "end")

    def __init__(self, token, begin, end):
        self.token, self.begin, self.end = token, begin, end


class Steps:
    def __init__(self, session):
        self._session = session
        self.listeners = []  # called with the time at the end of each step, on the loop's thread; they may wait
        self.begun = 0  # start of the step for whose end the listeners are called
        self.before_training = []  # called before training begins or continues, on the loop's thread; they may wait
        self.windows = None  # operator windows; None: all steps have operators, or none has
        self.recorded = None  # the steps that are recorded; None: all
        self._made = {}  # the program's living optimizers, by id
        self.names = {}  # names of the optimizers in the trace, by id
        self._reset()

    def _reset(self):
        self._count = 0
        self._cycle = Cycle()
        self._pending = []  # segments for which the cycle has not decided yet whether they end a step
        self._open = []  # segments of the current step that did not end it
        self._begin = None  # start of the current segment
        self._trains = False  # whether a forward or backward pass, or an optimizer, has begun in it
        self._stepped = []  # optimizers that have stepped in it, in order
        self._last = None  # time of the last optimizer step
        self._asked = {}  # in it: number of requests by iterator; the first request has begun it
        self._begins_steps = None  # the iterator that began the last segment that trained
        self._ended = False  # its loader had no more batches
        self._by_loader = False
        self._batches = 0  # number of batches requested
        self._on_one_batch = []  # time and optimizer of each step on the only batch
        self._alone_since = None  # time at which training continued after the loader's end
        self._alone_stepped = None  # the first optimizer that stepped then, and its time
        self._marked = False
        self._marked_begin = 0
        self.phases = []  # optimizers that alternated, and their steps: [names, first, last]

    def restart(self):
        """Called when a recording begins; the program's optimizers stay the same."""
        self._reset()

    @property
    def count(self):
        """Number of completed steps."""
        return self._count

    def has_optimizers(self):
        """Whether an optimizer of the program exists."""
        return bool(self._made)

    def optimizer_made(self, optimizer):
        key = id(optimizer)
        self._made[key] = weakref.ref(optimizer, lambda _, key=key: self._made.pop(key, None))

    # ---- called by the hooks; the session's lock is held ----

    def batch_requested(self, now, asked):
        """A loader is asked for a batch. asked: a number that identifies the loader's iterator."""
        self._by_loader = True
        self._batches += 1
        self._on_one_batch = []
        if self._begin is not None and self._stepped:
            now = self._close(now)
        if self._begin is None or self._ended or self._was_left_early(asked):
            self._start(now)
        self._asked[asked] = self._asked.get(asked, 0) + 1

    def _was_left_early(self, asked):
        """Whether the current segment was a loop over another loader, usually a validation, that was left before the
        loader's end. Loaders that are used alternately, one after the other in each step, do not count."""
        if not self._asked or asked in self._asked:
            return False
        return asked == self._begins_steps or max(self._asked.values()) > 1

    def loader_ended(self):
        """A loader had no more batches: the segment that began with the request is a step only if an optimizer steps
        now."""
        self._ended = True

    def training_began(self, now):
        """A forward pass in training mode, zero_grad or a backward pass begins."""
        for listener in self.before_training:
            listener()
        self._trains = True
        if self._begin is None:
            self._start(now)
            self._trains = True
        elif self._by_loader and self._ended and self._alone_since is None:
            self._alone_since = now

    def optimized(self, now, optimizer):
        """An optimizer has stepped, or a gradient scaler has skipped its step."""
        self._last = now
        if self._by_loader and not self._steps_without_loader(now, id(optimizer)):
            if self._begin is not None:
                self._stepped.append(id(optimizer))
                if self._batches == 1:
                    self._on_one_batch.append((now, id(optimizer)))
                    if len(self._on_one_batch) == _ON_ONE_BATCH:
                        self._steps_on_one_batch()
            return
        if self._begin is None:  # the start of the step is unknown, so it does not count
            self._start(now)
            return
        self._stepped.append(id(optimizer))
        self._start(self._close(now))

    def _steps_without_loader(self, now, optimizer):
        """Whether an optimizer steps again after the loader's end, because the program has kept its batches."""
        if not self._ended:
            return False
        if self._alone_stepped is None or self._alone_stepped[0] != optimizer:
            if self._alone_stepped is None:
                self._alone_stepped = (optimizer, now)
            return False
        since, before = self._alone_since, self._alone_stepped[1]
        self._by_loader = False
        if since is not None and since < before:
            self._begin = since
            self._stepped = self._stepped or [optimizer]
            self._close(before)
        self._start(before)
        return True

    def _steps_on_one_batch(self):
        """The program trains on the only batch that it requested: each optimizer step ends a segment. Listeners, which
        may wait, are called only for the last step, because the others are over."""
        stepped, self._on_one_batch = self._on_one_batch, []
        self._by_loader = False
        listeners, self.listeners = self.listeners, []
        count, begin, last = self._count, self._begin, self._begin
        for at, optimizer in stepped:
            begin, last = last, at
            self._begin, self._stepped = begin, [optimizer]
            self._close(at)
        self.listeners = listeners
        self._start(self._report(begin, last) if self._count > count else last)

    def is_between(self):
        """Whether the optimizers of a step have stepped, and training has not gone on since."""
        if self._marked:
            return False
        if self._begin is None:
            return self._count > 0
        if self._stepped:
            return self._cycle.ends_with(tuple(self._stepped)) or self._is_alone()
        return not self._by_loader and not self._trains

    def outside_began(self, now):
        """Something outside of any step begins: validation, generation, saving."""
        if self._begin is None or not self._stepped:
            return
        if self._cycle.ends_with(tuple(self._stepped)) or self._is_alone():
            self._close(now)

    def outside_ended(self, now):
        if self._begin is not None and not self._trains and not self._stepped:
            self._begin = now

    def program_ended(self, now):
        """The process ends, and with it the last step; it ends with its last optimizer step if no batch was requested
        after it."""
        if self._begin is not None and len(self._on_one_batch) > 1 and self._is_one_after_another():
            self._steps_on_one_batch()
        if self._begin is not None and self._stepped:
            self._close(self._last or now)
        self._take(self._cycle.flush(), now)
        if self.windows:
            self.windows.program_ended(self._count)
        if self.recorded:
            self.recorded.program_ended(self._count)

    def _is_one_after_another(self):
        """Whether each optimizer stepped several times: one step of each is one training step on the batch."""
        stepped = [optimizer for _, optimizer in self._on_one_batch]
        return all(stepped.count(optimizer) > 1 for optimizer in set(stepped))

    def forked(self):
        """In a forked child, the steps belong to the parent."""
        self._reset()
        self.listeners, self.before_training = [], []
        if self.windows:
            self.windows.forked()
        if self.recorded:
            self.recorded.forked()

    @guarded
    def begin_marked(self, index):
        """The program itself marks its steps."""
        if not self._marked:
            self._marked = True
            self._begin = None
        number = self._count if index is None else index
        self._step_begins(number)
        self._marked_begin = self._session.now()
        self._session.open("step", "step", number)

    @guarded
    def end_marked(self):
        self._session.close()
        self._count += 1
        self._report(self._marked_begin, self._session.now())

    # ---- segments and steps ----

    def _is_alone(self):
        return set(self._made) <= set(self._stepped)

    def _start(self, now):
        self._begin = now
        self._asked = {}
        self._trains = False
        self._stepped = []
        self._ended = False
        self._alone_since = self._alone_stepped = None
        if not self._marked:
            self._step_begins(self._count)

    def _step_begins(self, number):
        if self.recorded:
            self.recorded.step_begins(number)
        if self.windows:
            self.windows.step_begins(number)

    def _close(self, now):
        """Ends the current segment, in which an optimizer has stepped. Returns the start of the next one: later than
        `now` if a listener has waited."""
        token = tuple(self._stepped)
        alone = self._is_alone()
        self._pending.append(_Segment(token, self._begin, now))
        self._begins_steps = next(iter(self._asked), self._begins_steps)
        self._begin = None
        self._asked = {}
        self._trains = False
        self._stepped = []
        ends = self._cycle.add(token, alone)
        return now if ends is None else self._take(ends, now)

    def _take(self, ends, now):
        """Applies the cycle's decision about the pending segments. Returns the time after the listeners."""
        pending, self._pending = self._pending, []
        begin = None
        for segment, is_end in zip(pending, ends):
            self._open.append(segment)
            if is_end:
                begin = self._open[0].begin
                self._finish(self._open)
                self._open = []
        return self._report(begin, now) if begin is not None and not self._marked else now

    def _finish(self, segments):
        if self._marked:
            return
        begin, end = segments[0].begin, segments[-1].end
        # A validation within a cycle would count as step time, so such a step is excluded.
        if len(segments) > 1 and any(after.begin != before.end for before, after in zip(segments, segments[1:])):
            return
        self._note_phase(segments)
        self._session.complete("step", "step", begin, end, self._count)
        self._count += 1

    def _note_phase(self, segments):
        first = segments[0].token
        if len(segments) == len(first) == 1 and self.phases and self.phases[-1][0] == [self.names.get(first[0])]:
            self.phases[-1][2] = self._count  # the same as below, for most programs
            return
        keys = dict.fromkeys(key for segment in segments for key in segment.token)
        names = [self.names.get(key) for key in keys]
        if self.phases and self.phases[-1][0] == names:
            self.phases[-1][2] = self._count
        elif len(self.phases) < 64:  # a program may create an optimizer for each of its steps
            self.phases.append([names, self._count, self._count])

    def _report(self, begin, now):
        if not self.listeners:
            return now
        self.begun = begin
        for listener in self.listeners:
            listener(now)
        return self._session.now()
