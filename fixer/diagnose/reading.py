"""A log as lines of plain text, read piece by piece: what a terminal would not show as text is gone."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

PIECE = 1 << 16
"""Bytes that are read at once."""
LONGEST = 1 << 15
"""Characters of one line; what is longer comes in several pieces."""

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()*+][A-Za-z0-9]|[@-Z\\-_=>78])"
    r"|[\u2600-\u26ff]?\[(?:\d{1,3};)*\d{1,3}m"
)
"""Colours and cursor movements, links of terminals, and colours whose escape character was lost on the way."""
_CONTROL = dict.fromkeys([*range(9), *range(11, 13), *range(14, 32), *range(127, 160), 0xFEFF, 0x200B], None)
_END = re.compile(r"[\r\n]")


def lines(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """The lines of a log, each with its number (from 1).

    Line feeds are counted. A progress bar that returns to the start of its line makes several lines of one number.
    No more than `PIECE` bytes and `LONGEST` characters are held.
    """
    number, rest = 1, ""
    for text in _texts(stream):
        rest += text
        start = 0
        for end in _END.finditer(rest):
            if end.start() > start:
                yield from ((number, part) for part in _parts(rest[start : end.start()]))
            number += end[0] == "\n"
            start = end.end()
        rest = rest[start:]
        if len(rest) > LONGEST:
            yield from ((number, part) for part in _parts(rest))
            rest = ""
    if rest:
        yield from ((number, part) for part in _parts(rest))


def _texts(stream: BinaryIO) -> Iterator[str]:
    """The text, piece by piece; of what is no UTF-8 the rest is kept."""
    data = stream.read(PIECE)
    name = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
    decoder = codecs.getincrementaldecoder(name)("replace")
    while data:
        yield decoder.decode(data)
        data = stream.read(PIECE)
    if text := decoder.decode(b"", final=True):
        yield text


def _parts(line: str) -> Iterator[str]:
    if "\x1b" in line or ("m" in line and "[" in line):
        line = _ESCAPE.sub("", line)
    line = line.translate(_CONTROL)
    for start in range(0, len(line), LONGEST):
        yield line[start : start + LONGEST]
