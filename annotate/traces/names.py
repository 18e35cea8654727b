"""Names of files that hold once in a trace: a second one of the same name gets a number behind it."""

from __future__ import annotations


class Names:
    """Which names are taken. However often one stands in a file, a free one is found at once."""

    def __init__(self) -> None:
        self.taken: set[str] = set()
        self.numbers: dict[str, int] = {}
        """Of a name the number to try next; those below are taken."""

    def free(self, name: str) -> str:
        """The name, else the first of `name (2)`, `name (3)`, ... that is not taken."""
        free, number = name, self.numbers.get(name, 2)
        while free in self.taken:
            free, number = f"{name} ({number})", number + 1
        self.numbers[name] = number - 1 if free != name else 2
        return free

    def take(self, name: str) -> str:
        """A free one, which is no longer free."""
        free = self.free(name)
        self.taken.add(free)
        return free
