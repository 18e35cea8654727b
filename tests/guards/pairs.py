"""Few combinations in which every two values of every two axes meet: greedy, and the same ones every time."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

Choice = tuple[int, ...] | None
"""Of one axis, the values that a combination may have; None for any."""


class Pairs:
    """Combinations of the values of axes, which are numbers below these sizes. Some are begun by whoever asks for them;
    `rest` has what it then takes for all pairs to meet."""

    def __init__(self, sizes: Sequence[int]):
        self.sizes = sizes
        self.unmet = {(a, b): np.ones((sizes[a], sizes[b]), bool) for a, b in combinations(range(len(sizes)), 2)}
        self.taken = [np.zeros(size, int) for size in sizes]

    def rest(self) -> Iterator[tuple[int, ...]]:
        while (pair := self.first()) is not None:
            yield self.fill(pair)

    def first(self) -> tuple[Choice, ...] | None:
        """A combination begun with a pair of the two axes that lack most; None where nothing is lacking."""
        lacking = max(self.unmet, key=lambda axes: int(self.unmet[axes].sum()), default=None)
        if lacking is None or not self.unmet[lacking].any():
            return None
        chosen = dict(zip(lacking, np.argwhere(self.unmet[lacking])[0], strict=True))
        return tuple((int(chosen[axis]),) if axis in chosen else None for axis in range(len(self.sizes)))

    def fill(self, choices: Sequence[Choice]) -> tuple[int, ...]:
        """What is said stands; of the rest, from the widest choice on, whatever meets most that is new."""
        row: dict[int, int] = {}
        free = [len(choice) if choice else self.sizes[axis] for axis, choice in enumerate(choices)]
        for axis in sorted(range(len(self.sizes)), key=lambda axis: (free[axis] > 1, -free[axis])):
            allowed = np.array(choices[axis] if choices[axis] else range(self.sizes[axis]))
            new = sum((self.lacks(axis, other, value)[allowed] for other, value in row.items()), np.zeros(len(allowed)))
            row[axis] = int(allowed[np.lexsort((allowed, self.taken[axis][allowed], -new))[0]])
        self.take(row)
        return tuple(row[axis] for axis in range(len(self.sizes)))

    def lacks(self, axis: int, other: int, value: int) -> np.ndarray:
        """By value of an axis, whether it has still to meet this value of the other."""
        return self.unmet[axis, other][:, value] if axis < other else self.unmet[other, axis][value]

    def take(self, row: dict[int, int]) -> None:
        for a, b in self.unmet:
            self.unmet[a, b][row[a], row[b]] = False
        for axis, value in row.items():
            self.taken[axis][value] += 1
