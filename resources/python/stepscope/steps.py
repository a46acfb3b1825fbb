"""Where a training step begins and ends, in a program that does not say so.

A step ends where the program's optimizers finish their repeating cycle (cycle.py). Accumulated gradients are one step,
and so is a GradScaler step that skips.

- With a loader, a step begins when the loop asks for a batch, and lasts until the loop asks for the next one after the
  cycle is finished: what the loop does after the optimizer (metrics, the schedule) belongs to the step. The end of an
  epoch ends it too; a loop that asks for each batch before it trains on the previous one has its last step still to
  come then.
- A program that asks for one batch only and steps on it again and again has no loader in this sense.
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
# After so many optimizer steps on the only batch that was ever asked for, a program is one that trains on it for good.
# Chosen: loops within a batch (critics, adversarial training, meta-learning) are shorter.
_ON_ONE_BATCH = 24


def report_first(steps):
    """Adds a byte to the file that the variable names, for each of the first steps. A recording of a program that goes
    on for hours ends when that file says that the program trains (advisor/runner/program_recording.h)."""
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
        self.begun = 0  # when the step began whose end the listeners are called for
        self.windows = None  # of operators; None: all steps have them, or none has
        self._made = {}  # the program's living optimizers, by id
        self.names = {}  # what the trace calls the optimizers, by id
        self._reset()

    def _reset(self):
        self._count = 0
        self._cycle = Cycle()
        self._pending = []  # segments about which the cycle does not say yet whether they end a step
        self._open = []  # segments of the step at hand that did not end it
        self._begin = None  # of the segment at hand
        self._trains = False  # a forward or backward pass, or an optimizer, has begun in it
        self._stepped = []  # optimizers that have stepped in it, in order
        self._last = None  # when the last one did
        self._asked = {}  # in it: how often, by iterator; the first one has begun it
        self._begins_steps = None  # the iterator that began the last segment that trained
        self._ended = False  # its loader had no more
        self._by_loader = False
        self._batches = 0  # that were asked for
        self._on_one_batch = []  # when the optimizers stepped on the only one, and which
        self._alone_since = None  # when training went on after the loader's end
        self._alone_stepped = None  # the first optimizer that stepped then, and when
        self._marked = False
        self._marked_begin = 0
        self.phases = []  # optimizers that took turns, and the steps that they took: [names, first, last]

    def begin_again(self):
        """A recording begins; the program's optimizers are the same."""
        self._reset()

    @property
    def count(self):
        """Steps that have ended."""
        return self._count

    def has_optimizers(self):
        """Whether the program has made an optimizer that lives."""
        return bool(self._made)

    def optimizer_made(self, optimizer):
        key = id(optimizer)
        self._made[key] = weakref.ref(optimizer, lambda _, key=key: self._made.pop(key, None))

    # ---- what the hooks report; the session's lock is held ----

    def batch_asked(self, now, asked):
        """A loader is asked for a batch. asked: a number of the loader's iterator."""
        self._by_loader = True
        self._batches += 1
        self._on_one_batch = []
        if self._begin is not None and self._stepped:
            now = self._close(now)
        if self._begin is None or self._ended or self._was_left(asked):
            self._start(now)
        self._asked[asked] = self._asked.get(asked, 0) + 1

    def _was_left(self, asked):
        """Whether what began as a step was a loop over another loader, a validation as a rule, that was left before the
        loader's end. Loaders that are asked in turns, one after the other in each step, are not."""
        if not self._asked or asked in self._asked:
            return False
        return asked == self._begins_steps or max(self._asked.values()) > 1

    def loader_ended(self):
        """A loader had no more batches: what began with the question is a step only if an optimizer steps now."""
        self._ended = True

    def training_began(self, now):
        """A forward pass in training mode, zero_grad or a backward pass begins."""
        self._trains = True
        if self._begin is None:
            self._start(now)
            self._trains = True
        elif self._by_loader and self._ended and self._alone_since is None:
            self._alone_since = now

    def optimized(self, now, optimizer):
        """An optimizer has stepped, or a gradient scaler has skipped its step."""
        self._last = now
        if self._by_loader and not self._goes_on_alone(now, id(optimizer)):
            if self._begin is not None:
                self._stepped.append(id(optimizer))
                if self._batches == 1:
                    self._on_one_batch.append((now, id(optimizer)))
                    if len(self._on_one_batch) == _ON_ONE_BATCH:
                        self._steps_on_one_batch()
            return
        if self._begin is None:  # nothing told when the step began: it is not one
            self._start(now)
            return
        self._stepped.append(id(optimizer))
        self._start(self._close(now))

    def _goes_on_alone(self, now, optimizer):
        """Whether an optimizer steps again after the loader's end: the program has kept its batches."""
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
        """The program trains on the only batch that it asked for: each optimizer step ends a segment. Listeners, which may
        wait, hear of the last step only: the others are over."""
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

    def outside_began(self, now):
        """Something that belongs to no step begins: validation, generation, saving."""
        if self._begin is None or not self._stepped:
            return
        if self._cycle.ends_with(tuple(self._stepped)) or self._is_alone():
            self._close(now)

    def outside_ended(self, now):
        if self._begin is not None and not self._trains and not self._stepped:
            self._begin = now

    def program_ended(self, now):
        """The process ends, and with it the last step; not later than its last optimizer step ended, if nothing asked for
        a batch after it."""
        if self._begin is not None and len(self._on_one_batch) > 1 and self._is_one_after_another():
            self._steps_on_one_batch()
        if self._begin is not None and self._stepped:
            self._close(self._last or now)
        self._take(self._cycle.flush(), now)
        if self.windows:
            self.windows.program_ended(self._count)

    def _is_one_after_another(self):
        """Whether each optimizer stepped several times: one step of each is one training step on the batch."""
        stepped = [optimizer for _, optimizer in self._on_one_batch]
        return all(stepped.count(optimizer) > 1 for optimizer in set(stepped))

    def forked(self):
        """In a child by fork: the steps are the parent's."""
        self._reset()
        self.listeners = []
        if self.windows:
            self.windows.forked()

    @guarded
    def begin_marked(self, index):
        """The program says itself where its steps are."""
        if not self._marked:
            self._marked = True
            self._begin = None
        number = self._count if index is None else index
        if self.windows:
            self.windows.step_begins(number)
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
        if self.windows and not self._marked:
            self.windows.step_begins(self._count)

    def _close(self, now):
        """Ends the segment at hand: an optimizer has stepped in it. Returns when the next one begins: later than `now`
        where a listener has waited."""
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
        """What the cycle has decided about the pending segments. Returns the time after the listeners."""
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
        # A validation within a cycle would be in the step's time; such a step is left out.
        if any(after.begin != before.end for before, after in zip(segments, segments[1:])):
            return
        self._note_phase(segments)
        self._session.complete("step", "step", begin, end, self._count)
        self._count += 1

    def _note_phase(self, segments):
        keys = dict.fromkeys(key for segment in segments for key in segment.token)
        names = [self.names.get(key) for key in keys]
        if self.phases and self.phases[-1][0] == names:
            self.phases[-1][2] = self._count
        elif len(self.phases) < 64:  # a program may make an optimizer for each of its steps
            self.phases.append([names, self._count, self._count])

    def _report(self, begin, now):
        if not self.listeners:
            return now
        self.begun = begin
        for listener in self.listeners:
            listener(now)
        return self._session.now()
