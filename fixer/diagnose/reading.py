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
    r"|(?:[\u2600-\u26ff]|\\u001b|\\x1b|\\033)?\[(?:\d{1,3};)*\d{1,3}m"
)
"""Colours and cursor movements, links of terminals, and colours whose escape character was lost on the way."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\u200b]+")


def lines(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """The lines of a log, each with its number (from 1).

    Line feeds are counted. A progress bar that returns to the start of its line makes several lines of one number.
    No more than `PIECE` bytes and `LONGEST` characters are held.
    """
    number, rest = 1, ""
    for text in _texts(stream):
        whole, end, rest = (rest + text).rpartition("\n")
        if end:
            for line in _plain(whole).split("\n"):
                if "\r" in line or len(line) > LONGEST:
                    yield from ((number, part) for part in _parts(line))
                elif line:
                    yield number, line
                number += 1
        if len(rest) > LONGEST:
            whole, end, rest = rest.rpartition("\r") if "\r" in rest else (rest, "", "")
            yield from ((number, part) for part in _parts(_plain(whole)))
    if rest:
        yield from ((number, part) for part in _parts(_plain(rest)))


def _plain(text: str) -> str:
    """Text without colours and control characters."""
    if "\x1b" in text or "m" in text:
        text = _ESCAPE.sub("", text)
    return _CONTROL.sub("", text)


def _parts(line: str) -> Iterator[str]:
    """What a line shows one after the other, in pieces that are not too long."""
    for shown in line.split("\r"):
        for start in range(0, len(shown), LONGEST):
            yield shown[start : start + LONGEST]


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
