"""Lines on their way into a release, in a temporary file, so that memory holds only where each of them lies."""

import os
import struct
import tempfile
from collections.abc import Iterator

PLACE = struct.Struct(">32sQIQ")


class Spool:
    """Lines by the hash of their item, whatever the order in which they come."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 -- closed with the spool
        self.places: list[bytes] = []
        self.end = 0

    def __enter__(self) -> "Spool":
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()

    def __len__(self) -> int:
        return len(self.places)

    def add(self, item_hash: str, item: int, line: bytes) -> None:
        self.file.write(line)
        self.places.append(PLACE.pack(bytes.fromhex(item_hash), self.end, len(line), item))
        self.end += len(line)

    def sort(self) -> None:
        """By the hashes; before any line is read."""
        self.places.sort()
        self.file.flush()

    def twice(self) -> str | None:
        """The first hash that two lines have."""
        pairs = zip(self.places, self.places[1:], strict=False)
        return next((first[:32].hex() for first, second in pairs if first[:32] == second[:32]), None)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Every item with its line, in the order of the hashes."""
        for place in self.places:
            _, start, length, item = PLACE.unpack(place)
            yield item, os.pread(self.file.fileno(), length, start)
