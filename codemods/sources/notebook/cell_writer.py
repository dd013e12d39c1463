"""Spell a changed source into the raw JSON of its cell: lines that stay keep their bytes."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from codemods.sources.notebook.raw import Cell, Notebook, lines

_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)
"""What stands for one character in a raw string."""

_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])")
"""A character beyond ASCII that is escaped."""


def respelled(notebook: Notebook, cell: Cell, source: str) -> str:
    """The raw value of the cell's `source` once it says `source`."""
    old, new = lines(cell.source), lines(source)
    starts = [0, *accumulate(map(len, old))]
    writer = _Writer(notebook.raw, cell)
    for tag, i, i_end, j, j_end in _differences(old, new):
        if tag == "equal":
            writer.keep(starts[i], starts[i_end])
            continue
        paired = min(i_end - i, j_end - j)
        for k in range(paired):
            writer.change(starts[i + k], old[i + k], new[j + k])
        for line in new[j + paired : j_end]:
            writer.insert(starts[i_end], line)
    return writer.value(notebook)


def _differences(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """As difflib's opcodes, found between what both begin and end with."""
    limit = min(len(old), len(new))
    head = next((k for k in range(limit) if old[k] != new[k]), limit)
    tail = next((k for k in range(limit - head) if old[-1 - k] != new[-1 - k]), limit - head)
    yield "equal", 0, head, 0, head
    middle = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    for tag, i, i_end, j, j_end in middle.get_opcodes():
        yield tag, i + head, i_end + head, j + head, j_end + head
    yield "equal", len(old) - tail, len(old), len(new) - tail, len(new)


@dataclass(slots=True)
class _String:
    """A string of the new list: what stands before it (None: what stands between others), and what is in it."""

    lead: str | None
    parts: list[str]
    number: int | None
    """Of the old string that it goes on with."""


@dataclass(slots=True)
class _Writer:
    """Puts a source together from pieces of the old raw text and new strings."""

    raw: str
    cell: Cell
    strings: list[_String] = field(default_factory=list)
    passed: int = 0
    """Old strings that are dealt with."""
    characters: list[tuple[int, int]] = field(default_factory=list)
    """Number of the string and raw start of each character of the source."""
    ends: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        for number, item in enumerate(self.cell.items):
            inner = _CHARACTER.finditer(self.raw, item.start + 1, item.end - 1)
            self.characters += ((number, match.start()) for match in inner)
            self.ends.append(len(self.characters))

    def keep(self, start: int, end: int) -> None:
        """Old characters as they are."""
        for number, written in self._written(start, end):
            self._put(number, written)

    def _written(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """How old characters are spelled: the number of each string that they stand in, and the raw text."""
        while start < end:
            number, begin = self.characters[start]
            start = min(end, self.ends[number])
            last = self.cell.items[number].end - 1 if start == self.ends[number] else self.characters[start][1]
            yield number, self.raw[begin:last]

    def change(self, start: int, old: str, new: str) -> None:
        """A line that becomes another; what both begin and end with stays as it is."""
        limit = min(len(old), len(new))
        head = next((k for k in range(limit) if old[k] != new[k]), limit)
        tail = next((k for k in range(limit - head) if old[-1 - k] != new[-1 - k]), limit - head)
        self.keep(start, start + head)
        if middle := new[head : len(new) - tail]:
            at = min(start + head, start + len(old) - 1)
            self._put(self.characters[at][0], self._escape(middle, start, len(old)))
        self.keep(start + len(old) - tail, start + len(old))

    def insert(self, at: int, line: str) -> None:
        """A new line before the old character `at`: a string of its own, unless a string goes on there."""
        text = self._escape(line, at, 0)
        last = self.strings[-1] if self.strings else None
        if not self.cell.listed:
            self._put(0, text)
        elif last and last.number is not None and at < self.ends[last.number]:
            last.parts.append(text)
        else:
            self.strings.append(_String(None, [text], None))

    def _put(self, number: int, text: str) -> None:
        """Go on with an old string."""
        if not self.strings or self.strings[-1].number != number:
            self._pass(number)
            self.strings.append(_String(self._lead(number), [], number))
        self.strings[-1].parts.append(text)

    def _pass(self, number: int) -> None:
        """Leave old strings behind; the empty ones stay."""
        for each in range(self.passed, number):
            if not self.cell.items[each].text:
                self.strings.append(_String(self._lead(each), [], each))
        self.passed = number + 1

    def _lead(self, number: int) -> str:
        items = self.cell.items
        return self.raw[items[number - 1].end if number else self.cell.start + 1 : items[number].start]

    def _escape(self, text: str, start: int, length: int) -> str:
        """Text as in a JSON string; characters beyond ASCII as the old line there writes them, or else the file."""
        if text.isascii():
            return json.dumps(text)[1:-1]
        line = "".join(written for _, written in self._written(start, start + length))
        evidence = next((each for each in (line, self.raw) if not each.isascii() or _ESCAPED.search(each)), "")
        return json.dumps(text, ensure_ascii=bool(evidence) and evidence.isascii())[1:-1]

    def value(self, notebook: Notebook) -> str:
        """The whole raw value."""
        items = self.cell.items
        if not self.cell.listed:
            return '"' + "".join(part for string in self.strings for part in string.parts) + '"'
        self._pass(len(items))
        if not self.strings:
            return "[]"
        first, between, last = _layout(notebook, self.cell)
        value = ["["]
        for k, string in enumerate(self.strings):
            own = string.lead if string.number else None
            value += (first if not k else own if own is not None else between, '"', *string.parts, '"')
        return "".join((*value, last, "]"))


def _layout(notebook: Notebook, cell: Cell) -> tuple[str, str, str]:
    """What stands before the first string of a source, between two, and after the last: as there, or as elsewhere."""
    raw = notebook.raw
    lists = [each for each in (cell, *notebook.cells) if each.listed and each.items]
    first = next((raw[each.start + 1 : each.items[0].start] for each in lists), "")
    last = next((raw[each.items[-1].end : each.end - 1] for each in lists), "")
    spaced = re.search(r'"nbformat"\s*: ', raw)
    otherwise = "," + (first or (" " if spaced else ""))
    pairs = (each.items[:2] for each in lists if len(each.items) > 1)
    return first, next((raw[a.end : b.start] for a, b in pairs), otherwise), last
