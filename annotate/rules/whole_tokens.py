"""Which of many names stand in a text as whole tokens, in time that grows with the text and not with their number.

The neighbours of a whole token are no ASCII letter, digit or underscore. A text is cut at every other character into
words, empty ones included, with that character between them: a name that begins or ends with such a character then has
an empty word at that end, so finding its pieces in a row is finding it whole.

Source of the search: Aho and Corasick 1975, Communications of the ACM 18(6), 333-340, over pieces in place of letters.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

NO_WORD = re.compile(r"([^A-Za-z0-9_])")


class WholeTokens:
    """The names to look for, as one tree of their pieces. Names hold no line end."""

    def __init__(self, names: Iterable[str]) -> None:
        self.following: list[dict[str, int]] = [{}]
        self.name: dict[int, str] = {}
        for name in names:
            self.name[self.node_of(NO_WORD.split(name))] = name
        self.fallback = [0] * len(self.following)
        """Where the longest other beginning of a name ends that the same pieces end with."""
        self.shorter = [0] * len(self.following)
        """Where the longest other whole name ends that the same pieces end with."""
        self.link()

    def node_of(self, pieces: Iterable[str]) -> int:
        node = 0
        for piece in pieces:
            if piece not in self.following[node]:
                self.following[node][piece] = len(self.following)
                self.following.append({})
            node = self.following[node][piece]
        return node

    def link(self) -> None:
        waiting = deque(self.following[0].values())
        while waiting:
            node = waiting.popleft()
            for piece, child in self.following[node].items():
                back = self.step(self.fallback[node], piece)
                self.fallback[child] = back
                self.shorter[child] = back if back in self.name else self.shorter[back]
                waiting.append(child)

    def step(self, node: int, piece: str) -> int:
        while node and piece not in self.following[node]:
            node = self.fallback[node]
        return self.following[node].get(piece, 0)

    def found_in(self, texts: Iterable[str]) -> set[str]:
        """The names that stand in any of the texts. Read line by line, so that there are few pieces at a time."""
        seen: set[int] = set()
        for text in texts:
            for line in text.split("\n"):
                self.read(line, seen)
        return {self.name[node] for node in seen}

    def read(self, line: str, seen: set[int]) -> None:
        node, first = 0, self.following[0]
        for piece in NO_WORD.split(line):
            node = self.step(node, piece) if node else first.get(piece, 0)
            end = node if node in self.name else self.shorter[node]
            while end and end not in seen:  # what ends a name seen before has been followed before
                seen.add(end)
                end = self.shorter[end]
