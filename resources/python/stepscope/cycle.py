"""Finds out which optimizer steps end a training step, in a program with any number of optimizers.

The optimizers of a program step in a repeating cycle: always the same one; a discriminator and a generator alternately;
or a critic five times, then a generator once. A training step ends with the cycle. `Cycle` gets one token for each
point at which a step could end (the optimizers that stepped since the previous point) and learns the cycle from the
sequence: two complete repetitions decide. Until then, the points are pending; the decision covers them as well.

If optimizers step several times in a row before the next one does, they belong to separate phases of the program
(models that are trained one after another), in which every point ends a step.
"""

# Length of the longest detectable cycle, in tokens. Chosen: five or eight critic steps before a generator step are
# common.
_LONGEST = 16
# After this many equal tokens, the program is considered to train with this optimizer alone for now, although it has
# others.
_ALONE = 12
# A token that occurs this often in a row is a separate phase. Critics also step several times, but a single step of the
# generator follows.
_PHASE = 3


class Cycle:
    def __init__(self):
        self._pending = []  # tokens without a decision
        self._pattern = None  # one repetition; None: unknown
        self._closer = None  # the token that ends the cycle, if it occurs only once in the cycle
        self._ends_all = False  # every token ends a step
        self._at = 0  # position in the pattern, if no closer is known
        self._since = 0  # tokens since the end of the last cycle

    def ends_with(self, token):
        """Whether this token would end a step if it came now; None: unknown."""
        if self._pattern is None:
            return None
        if self._ends_all:
            return token in self._pattern
        if self._closer is not None:
            return token == self._closer
        return token == self._pattern[self._at] and self._at == len(self._pattern) - 1

    def add(self, token, alone):
        """Adds a point at which a step could end.

        alone: the program has no optimizers other than those of the token.
        Returns None if there is no decision yet; otherwise, for each pending token and this one, whether it ends a
        step.
        """
        if self._pattern is not None:
            ends = self._follow(token)
            if ends is not None:
                return [ends]
            self._pattern = None  # the program has changed its behavior
        self._pending.append(token)
        if alone and len(set(self._pending)) == 1:
            return self._decide((token,))
        tail = self._pending[-_ALONE:]
        if len(tail) == _ALONE and len(set(tail)) == 1:
            return self._decide((token,))
        period = self._period()
        return self._decide(tuple(self._pending[-period:])) if period else None

    def flush(self):
        """Called when the program ends: returns the best guess for the pending tokens."""
        if not self._pending:
            return []
        tokens = self._pending
        if min(_runs(tokens)) >= _PHASE or len(set(tokens)) == 1:
            return self._decide(tuple(dict.fromkeys(tokens)), ends_all=True)
        # No repetition was found: the optimizer whose first step came last closes the cycle.
        return self._decide(tuple(dict.fromkeys(tokens)))

    def _follow(self, token):
        """Whether the token ends a step; None: it does not belong to the cycle."""
        if token not in self._pattern:
            return None
        if self._ends_all:
            return True
        if self._closer is not None:
            self._since = 0 if token == self._closer else self._since + 1
            return token == self._closer if self._since <= 4 * len(self._pattern) else None
        if token != self._pattern[self._at]:
            return None
        self._at = (self._at + 1) % len(self._pattern)
        return self._at == 0

    def _period(self):
        """The length of the shortest cycle of several tokens that all pending tokens repeat at least twice."""
        tokens = self._pending
        for period in range(2, min(_LONGEST, len(tokens) // 2) + 1):
            if len(tokens) % period == 0 and all(a == b for a, b in zip(tokens, tokens[period:])):
                if len(set(tokens[:period])) > 1:
                    return period
        return None

    def _decide(self, pattern, ends_all=False):
        pending, self._pending = self._pending, []
        self._ends_all = ends_all or len(set(pattern)) == 1 or min(_runs(pattern)) >= _PHASE
        self._pattern = tuple(dict.fromkeys(pattern)) if self._ends_all else pattern
        self._closer = pattern[-1] if not self._ends_all and pattern.count(pattern[-1]) == 1 else None
        self._at = self._since = 0
        if self._ends_all:
            return [True] * len(pending)
        if self._closer is not None:
            return [token == self._closer for token in pending]
        return [number % len(pattern) == len(pattern) - 1 for number in range(len(pending))]


def _runs(tokens):
    """Lengths of the runs of equal tokens."""
    lengths = [1]
    for before, token in zip(tokens, tokens[1:]):
        if token == before:
            lengths[-1] += 1
        else:
            lengths.append(1)
    return lengths
