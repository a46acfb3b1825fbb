"""Where a training step begins and ends, for a program that does not say so.

A step begins when the loop asks its loader for a batch, and lasts until it asks for the next one after an optimizer has
stepped: so gradients that are accumulated over several batches are one step, and what the loop does after the optimizer
belongs to it. The end of an epoch (the loader has no more) ends it too; a validation, in which no optimizer steps, is no
step. Without a loader a step lasts from one optimizer step to the next.
"""


class Steps:
    def __init__(self, session):
        self._session = session
        self._count = 0
        self._begin = None  # of the step at hand; it is written once it is known to be one
        self._optimized = False  # an optimizer has stepped in it
        self._by_loader = False
        self._marked = False

    def batch_asked(self, now):
        """A loader is asked for a batch."""
        self._by_loader = True
        if self._begin is not None and self._optimized:
            self._finish(now)
        if self._begin is None:
            self._begin = now

    def loader_ended(self):
        """A loader had no more batches: what began with the question was no step."""
        self._begin = None
        self._optimized = False

    def optimized(self, now):
        """An optimizer has stepped."""
        if self._by_loader:
            self._optimized = self._begin is not None
            return
        if self._begin is not None:
            self._finish(now)
        self._begin = now

    def program_ended(self, now):
        """The process ends: the last step lasts until here."""
        if self._begin is not None and self._optimized:
            self._finish(now)

    def begin_marked(self, index):
        """The program says itself where its steps are."""
        if not self._marked:
            self._marked = True
            self._begin = None
        self._session.open("step", "step", self._count if index is None else index)

    def end_marked(self):
        self._session.close()
        self._count += 1

    def _finish(self, now):
        if not self._marked:
            self._session.complete("step", "step", self._begin, now, self._count)
            self._count += 1
        self._begin = None
        self._optimized = False
