"""Where a training step begins and ends, for a program that does not say so.

A step begins when the loop asks its loader for a batch, and lasts until it asks for the next one after an optimizer has
stepped: so gradients that are accumulated over several batches are one step, and what the loop does after the optimizer
belongs to it. The end of an epoch (the loader has no more) ends it too; where the loop asks for each batch before it
trains on the one before, its last step is still to come then. A validation, in which no optimizer steps, is no step,
be it to its loader's end or not.
Without a loader a step lasts from one step of an optimizer to the next one of the same optimizer.
"""


class Steps:
    def __init__(self, session):
        self._session = session
        self._count = 0
        self._begin = None  # of the step at hand; it is written once it is known to be one
        self._asked = {}  # in it: how often, by iterator; the first one has begun it
        self._begins_steps = None  # the iterator that began the last step
        self._optimized = False  # an optimizer has stepped in it
        self._ended = False  # its loader had no more
        self._by_loader = False
        self._by_optimizer = None  # whose steps delimit steps, where no loader does, or none any more
        self._stepped_alone = None  # when it stepped first after the loader's end
        self._marked = False
        self._marked_begin = 0
        self.windows = None  # of operators; None: all steps have them, or none has
        self.listeners = []  # called with the time at the end of each step, on the loop's thread; they may wait
        self.begun = 0  # when the step began whose end the listeners are called for

    def batch_asked(self, now, asked):
        """A loader is asked for a batch. asked: a number of the loader's iterator."""
        self._by_loader = True
        if self._begin is not None and self._optimized:
            now = self._finish(now)
        if self._begin is None or self._ended or self._was_left(asked):
            self._start(now)
        self._asked[asked] = self._asked.get(asked, 0) + 1

    def _was_left(self, asked):
        """Whether what began as a step was a loop over another loader, a validation as a rule, that was left before the
        loader's end. Loaders that are asked in turns, one after the other in each step, are no such."""
        if not self._asked or asked in self._asked:
            return False
        return asked == self._begins_steps or max(self._asked.values()) > 1

    def loader_ended(self):
        """A loader had no more batches: what began with the question is a step only if an optimizer steps now."""
        self._ended = True

    def optimized(self, now, optimizer):
        """An optimizer has stepped."""
        if self._by_loader and not self._goes_on_alone(now, optimizer):
            self._optimized = self._begin is not None
            return
        if self._by_optimizer is None:
            self._by_optimizer = id(optimizer)
        if self._by_optimizer != id(optimizer):
            return
        if self._begin is not None:
            now = self._finish(now)
        self._start(now)

    def _goes_on_alone(self, now, optimizer):
        """Whether an optimizer steps again after the loader's end: the program has kept its batches."""
        if not self._ended:
            return False
        if self._by_optimizer != id(optimizer):
            if self._by_optimizer is None:
                self._by_optimizer, self._stepped_alone = id(optimizer), now
            return False
        self._by_loader = False
        self._begin = self._stepped_alone
        return True

    def program_ended(self, now):
        """The process ends: the last step lasts until here."""
        if self._begin is not None and self._optimized:
            self._finish(now)
        if self.windows:
            self.windows.program_ended(self._count)

    def forked(self):
        """In a child by fork: the steps are the parent's."""
        windows = self.windows
        self.__init__(self._session)
        if windows:
            windows.forked()
            self.windows = windows

    def begin_marked(self, index):
        """The program says itself where its steps are."""
        if not self._marked:
            self._marked = True
            self._begin = None
        number = self._count if index is None else index
        if self.windows:
            self.windows.step_begins(number)
        self._session.open("step", "step", number)
        self._marked_begin = self._session.now()

    def end_marked(self):
        self._session.close()
        self._count += 1
        self._tell_listeners(self._marked_begin, self._session.now())

    def _start(self, now):
        self._begin = now
        self._asked = {}
        if self._by_loader:
            self._by_optimizer = None
        self._optimized = False
        self._ended = False
        if self.windows and not self._marked:
            self.windows.step_begins(self._count)

    def _finish(self, now):
        """Returns when the next step begins: later than `now` where a listener has waited."""
        begin = self._begin
        self._begins_steps = next(iter(self._asked), None)
        self._begin = None
        self._asked = {}
        self._optimized = False
        if self._marked:
            return now
        self._session.complete("step", "step", begin, now, self._count)
        self._count += 1
        return self._tell_listeners(begin, now)

    def _tell_listeners(self, begin, now):
        if not self.listeners:
            return now
        self.begun = begin
        for listener in self.listeners:
            listener(now)
        return self._session.now()
