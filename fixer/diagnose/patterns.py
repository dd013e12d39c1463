"""Texts of messages as patterns over squeezed text: ASCII letters and digits only, in lower case.

What logs do to a message (hard wraps inside words, frames, lost backticks and underscores, other quotes) is gone in
squeezed text, so that a plain search finds it.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

KEPT = string.ascii_letters + string.digits
_REST = bytes(code for code in range(256) if chr(code) not in KEPT)
_LOWER = bytes(ord(chr(code).lower()) if code < 128 else code for code in range(256))

_OWNER = r"(?:struct|c10|at|torch|cuda|cpu|mps)*"
HALF = rf"{_OWNER}(?:half|float16)(?:tensor|type)?"
BFLOAT16 = rf"{_OWNER}bfloat16(?:tensor|type)?"
FLOAT = rf"{_OWNER}float(?:32)?(?:tensor|type)?(?!16|64)"
DOUBLE = rf"{_OWNER}(?:double|float64)(?:tensor|type)?"
_SPELLINGS = {"Half": HALF, "BFloat16": BFLOAT16, "Float": FLOAT, "Double": DOUBLE}
"""The names of types as PyTorch writes them in messages, and all that other versions and systems write."""
_PLACES = {
    "floating": rf"(?:{HALF}|{BFLOAT16}|{FLOAT}|{DOUBLE})",
    "dtype": rf"(?:{HALF}|{BFLOAT16}|{FLOAT}|{DOUBLE}|{_OWNER}(?:complex)?(?:bool|byte|char|u?int|long)\w{{0,8}}?)",
    "n": r"\d+",
    "word": r"\w{1,60}?",
    "any": r"\w{0,240}?",
}
_PART = re.compile(r"\{([^{}]*)\}|(?<!\w)(BFloat16|Half|Float|Double)(?!\w)|(?<![\w.])(\d+)(?![\w.]*\w)")
SHORTEST = 6
"""Letters and digits that a pattern has in a row, at least: what is searched for first."""


def squeezed(text: str) -> str:
    """The letters and digits of ASCII, in lower case."""
    return text.encode("ascii", "replace").translate(_LOWER, _REST).decode("ascii")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One text of a message, ready to be searched for."""

    text: str
    """As a person reads it."""
    regex: re.Pattern[str]
    """Over squeezed text."""
    needle: str
    """The longest part of it that is always the same."""

    @property
    def is_literal(self) -> bool:
        """Whether nothing in it differs."""
        return self.regex.pattern == self.needle

    @classmethod
    def of(cls, text: str, *, template: bool = False) -> Pattern:
        """A text as a pattern. Types may be spelled otherwise, and numbers that stand alone may be other numbers.

        Args:
            template: `{n}`, `{word}`, `{any}`, `{dtype}`, `{floating}` and `{one|the other}` stand for what differs;
                numbers stand for themselves.

        Raises:
            ValueError: if too little of it is always the same.
        """
        pieces: list[tuple[str, bool]] = []
        last = 0
        for match in _PART.finditer(text):
            place, kind, number = match.groups()
            if number is not None if template else place is not None:
                continue
            pieces.append((squeezed(text[last : match.start()]), True))
            last = match.end()
            if kind:
                pieces.append((_SPELLINGS[kind], False))
            elif number:
                pieces.append((r"\d+", False))
            else:
                pieces.append((_PLACES.get(place) or f"(?:{'|'.join(map(squeezed, place.split('|')))})", False))
        pieces.append((squeezed(text[last:]), True))
        needle = max((piece for piece, literal in pieces if literal), key=len)
        if len(needle) < SHORTEST:
            raise ValueError(f"{text!r} has no {SHORTEST} letters in a row that are always the same")
        regex = "".join(piece for piece, _ in pieces)
        readable = re.sub(r"\{[^{}|]*\}", "…", re.sub(r"\{([^{}|]*)\|[^{}]*\}", r"\1", text)) if template else text
        return cls(readable, re.compile(regex), needle)


class Squeezed:
    """Some lines as one squeezed text that knows where each character came from."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        parts = [squeezed(line) for line in lines]
        self.text = "".join(parts)
        self._starts = list(accumulate(map(len, parts), initial=0))

    def line_of(self, offset: int) -> int:
        """The index of the line that a character stands in."""
        return bisect_right(self._starts, offset) - 1

    def column_of(self, offset: int) -> int:
        """Where the character stands in its line."""
        index = self.line_of(offset)
        left = offset - self._starts[index]
        for column, character in enumerate(self._lines[index]):
            if character in KEPT:
                if not left:
                    return column
                left -= 1
        raise IndexError(offset)  # no character has that offset

    def is_whole(self, start: int, end: int) -> bool:
        """Whether no word is cut where a match begins and where it ends."""
        first, before = self._lines[self.line_of(start)], self.column_of(start) - 1
        last, after = self._lines[self.line_of(end - 1)], self.column_of(end - 1) + 1
        return not (before >= 0 and first[before] in KEPT) and not (after < len(last) and last[after] in KEPT)

    def original(self, start: int, end: int) -> str:
        """What stands there, on one line."""
        one, other = self.line_of(start), self.line_of(end - 1)
        if one == other:
            return self._lines[one][self.column_of(start) : self.column_of(end - 1) + 1]
        first, *between = self._lines[one:other]
        parts = [first[self.column_of(start) :], *between, self._lines[other][: self.column_of(end - 1) + 1]]
        return " ".join(" ".join(parts).split())
