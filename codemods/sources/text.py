"""A text file: its text, and how to get back to its bytes."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from codemods.model.edits import Skip, SkipReason

LARGEST = 1_000_000
"""Bytes; a larger configuration or packaging file is data, and is skipped."""

LARGEST_LOCK = 16_000_000


@dataclass(frozen=True, slots=True)
class Source:
    """Decoded text of one file. `encode(text)` gives the bytes that hold `text` in the file's own encoding."""

    path: str
    text: str
    encoding: str
    bom: bytes = b""
    notes: Sequence[str] = ()
    unread: frozenset[str] = frozenset()
    _starts: list[int] = field(default_factory=list, compare=False, repr=False)

    def encode(self, text: str) -> bytes:
        """The bytes of `text`, with the file's own encoding and byte-order mark.

        Raises:
            UnicodeEncodeError: if the encoding cannot hold a character of `text`.
        """
        return self.bom + text.encode(self.encoding)

    def position(self, offset: int) -> tuple[int | None, int, int]:
        """(None, line, column) of an offset, lines ended by line feeds."""
        line = self.file_line(offset)
        return None, line, offset - self._starts[line - 1] + 1

    def file_line(self, offset: int) -> int:
        """The line of an offset, from 1."""
        if not self._starts:
            self._starts.append(0)
            while (found := self.text.find("\n", self._starts[-1])) >= 0:
                self._starts.append(found + 1)
        return bisect_right(self._starts, offset)


_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def decode(path: str, data: bytes, largest: int = LARGEST) -> Source | Skip:
    """The file as text: by its byte-order mark (PowerShell writes UTF-16), as UTF-8, or as the Latin-1 of old."""
    if len(data) > largest:
        return Skip(path, SkipReason.TOO_LARGE, f"{len(data):,} bytes; files above {largest:,} bytes are not read")
    bom, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", "utf-8"))
    if not bom and b"\0" in data:
        return Skip(path, SkipReason.UNDECODABLE, "contains NUL bytes")
    try:
        text = data[len(bom) :].decode(encoding)
    except UnicodeDecodeError as error:
        if bom:
            line = data.count(b"\n", 0, error.start) + 1
            return Skip(path, SkipReason.UNDECODABLE, f"line {line}: not valid {error.encoding}")
        encoding, text = "latin-1", data.decode("latin-1")
    source = Source(path, text, encoding, bom)
    if source.encode(text) != data:
        return Skip(path, SkipReason.NO_ROUND_TRIP, f"decoding as {encoding} and encoding again changes the bytes")
    return source
