"""A notebook: its code cells as one Python text, what its cells write as files of their own, and the way back.

The text is the cells in order, each but the first below a comment line that names it. What IPython adds to Python is
masked (see `magics`); a cell that is no Python even so, or another language, is left out. Every byte of the file
outside the lines that change stays as it is.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

from codemods.model.edits import Skip, SkipReason
from codemods.sources.notebook import raw
from codemods.sources.notebook.cell_units import CellPart, program, written
from codemods.sources.notebook.cell_writer import respelled
from codemods.sources.notebook.raw import Cell, Malformed, Notebook

LARGEST = 64_000_000
"""Bytes; a larger notebook is mostly output, and is skipped."""

MARK = "# %% fixer cell"
"""Begins the comment line above each cell but the first."""

INSIDE = ".ipynb::"
"""Parts the path of a notebook from that of a file that it writes."""


@dataclass(frozen=True, slots=True)
class NotebookSource:
    """The Python text of a unit of a notebook. `encode(text)` gives the notebook that holds `text` instead."""

    path: str
    text: str
    notebook: Notebook
    parts: tuple[CellPart, ...] = ()
    starts: tuple[int, ...] = ()
    """Where the text of each part begins."""
    mark: str = MARK
    bom: bool = False
    installs: tuple[str, ...] = ()
    """The shell commands by which it installs packages."""
    unread: frozenset[str] = frozenset()
    """Words of what is not in the text: magics, and cells left out. A name among them is perhaps in use."""
    notes: tuple[str, ...] = ()
    """What was left out, as sentences."""

    def encode(self, text: str) -> bytes:
        """The bytes of the notebook with `text` in the cells of the unit.

        Raises:
            ValueError: with a sentence, if a boundary of cells or a magic is gone, moved or doubled, or if the file
                cannot hold a character.
        """
        raw = self.notebook.raw
        names = {mask.name for part in self.parts for mask in part.masks if not mask.continued}
        pieces: list[str] = []
        position = 0
        for part, new in zip(self.parts, self._divided(text), strict=True):
            if new != part.text:
                source = part.cell.source[: part.skipped] + part.unmasked(new, names)
                pieces += (raw[position : part.cell.start], respelled(self.notebook, part.cell, source))
                position = part.cell.end
        changed = "".join((*pieces, raw[position:]))
        return (codecs.BOM_UTF8 if self.bom else b"") + changed.encode()

    def _divided(self, text: str) -> list[str]:
        """The new text of each part."""
        if not self.parts:
            if text:
                raise ValueError("the notebook has no cell that could hold the text")
            return []
        expected = [f"{self.mark} {part.cell.number}" for part in self.parts[1:]]
        marks = list(re.finditer(rf"^{re.escape(self.mark)} \d+(?=\r?$)\r?\n?", text, re.MULTILINE))
        if [match[0].rstrip() for match in marks] != expected or text.count(self.mark) != len(marks):
            raise ValueError("the boundary between two cells would be lost")
        begins = [0, *(match.end() for match in marks)]
        ends = [*(match.start() for match in marks), len(text)]
        found = [text[begin:end] for begin, end in zip(begins, ends, strict=True)]
        return [*(re.sub(r"\r?\n\Z", "", each) for each in found[:-1]), found[-1]]

    def position(self, offset: int) -> tuple[int | None, int, int]:
        """Cell, line and column of an offset, each from 1; all cells count, and lines as they stand in the cell."""
        if not self.parts:
            return None, 1, 1
        part, inside = self._place(offset)
        before = part.cell.source[:inside]
        return part.cell.number, before.count("\n") + 1, inside - before.rfind("\n")

    def file_line(self, offset: int) -> int:
        """The line of the file, from 1, where the source line of an offset stands."""
        if not self.parts:
            return 1
        part, inside = self._place(offset)
        return _line(self.notebook, part.cell, inside)

    def _place(self, offset: int) -> tuple[CellPart, int]:
        """The part that an offset lies in, and the offset into its cell's source; a mark belongs to the cell below."""
        number = bisect_right(self.starts, offset) - 1
        if offset > self.starts[number] + len(self.parts[number].text):
            number, offset = number + 1, self.starts[number + 1]
        part = self.parts[number]
        return part, part.skipped + min(offset - self.starts[number], len(part.text))


def units(path: str, data: bytes) -> tuple[str, ...]:
    """The notebook, and each file that its cells write and that is Python: a program of its own."""
    whole = _parsed(data)
    return (path, *(f"{path}::{name}" for name in written(whole))) if isinstance(whole, Notebook) else (path,)


def decode(unit: str, data: bytes) -> NotebookSource | Skip:
    """One unit of a notebook as Python text."""
    whole = _parsed(data)
    if isinstance(whole, Skip):
        return replace(whole, path=unit)
    bom = data.startswith(codecs.BOM_UTF8)
    _, inside, name = unit.partition(INSIDE)
    if inside:
        return _joined(NotebookSource(unit, "", whole, tuple(written(whole).get(name, ())), bom=bom))
    code = program(whole)
    source = NotebookSource(unit, "", whole, code.parts, bom=bom)
    return _joined(replace(source, installs=code.installs, unread=code.unread, notes=code.notes))


def _joined(source: NotebookSource) -> NotebookSource:
    """With its text."""
    mark, number = MARK, 1
    while any(mark in part.text for part in source.parts):
        mark, number = f"# %% fixer {number} cell", number + 1
    newline = _newline(source.parts)
    pieces: list[str] = []
    starts: list[int] = []
    position = 0
    for part in source.parts:
        above = f"{newline}{mark} {part.cell.number}{newline}" if pieces else ""
        starts.append(position + len(above))
        position += len(above) + len(part.text)
        pieces += (above, part.text)
    return replace(source, text="".join(pieces), starts=tuple(starts), mark=mark)


def _newline(parts: Sequence[CellPart]) -> str:
    """The line end of the first line that has one."""
    return next((match[0] for part in parts if (match := re.search(r"\r?\n", part.text))), "\n")


def cells(data: bytes) -> list[tuple[int, str]]:
    """Number and source of each code cell, as written."""
    whole = _parsed(data)
    return [(cell.number, cell.source) for cell in whole.cells] if isinstance(whole, Notebook) else []


def line_in_file(data: bytes, cell: int, line: int) -> int:
    """The line of the file, from 1, where a line of the source of a cell stands."""
    whole = _parsed(data)
    if isinstance(whole, Notebook):
        for each in whole.cells:
            if each.number == cell:
                return _line(whole, each, sum(len(part) + 1 for part in each.source.split("\n")[: line - 1]))
    return 1


def _line(notebook: Notebook, cell: Cell, inside: int) -> int:
    """The line of the file where an offset into the source of a cell stands."""
    ends = list(accumulate(len(item.text) for item in cell.items))
    number = min(bisect_right(ends, inside), len(ends) - 1)
    at = cell.items[number].start if ends else cell.start
    return notebook.raw.count("\n", 0, at) + 1


@lru_cache(maxsize=2)
def _parsed(data: bytes) -> Notebook | Skip:
    """The notebook; one whose kernel is not Python has no code cells."""
    if len(data) > LARGEST:
        return Skip("", SkipReason.TOO_LARGE, f"{len(data):,} bytes; notebooks above {LARGEST:,} bytes are not read")
    try:
        whole = raw.read(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Skip("", SkipReason.UNDECODABLE, f"line {line}: not valid {error.encoding}")
    except Malformed as error:
        return Skip("", SkipReason.UNPARSABLE, str(error))
    except RecursionError:
        return Skip("", SkipReason.TOO_DEEP, "nested too deeply to be read")
    return whole if whole.python else replace(whole, cells=())
