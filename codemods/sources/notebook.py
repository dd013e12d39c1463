"""A notebook: its code cells as one Python text, what its cells write as files of their own, and the way back.

The text is the cells in order, each but the first below a comment line that names it. What IPython adds to Python is
masked (see `magics`); a cell that is no Python even so, or another language, is left out. Every byte of the file
outside the lines that change stays as it is.
"""

from __future__ import annotations

import ast
import codecs
import posixpath
import re
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from codemods.edits import Skip, SkipReason
from codemods.sources import cells as raw_cells
from codemods.sources import magics
from codemods.sources.cells import Cell, Malformed, Notebook
from codemods.sources.magics import Mask, Names
from codemods.sources.spelling import lines, respelled

LARGEST = 64_000_000
"""Bytes; a larger notebook is mostly output, and is skipped."""

MARK = "# %% fixer cell"


@dataclass(frozen=True, slots=True)
class Part:
    """What one cell adds to a unit: its source from `skipped` on, with masks."""

    cell: Cell
    skipped: int
    text: str
    masks: tuple[Mask, ...] = ()


@dataclass(frozen=True, slots=True)
class NotebookSource:
    """The Python text of a unit of a notebook. `encode(text)` gives the notebook that holds `text` instead."""

    path: str
    text: str
    notebook: Notebook
    parts: tuple[Part, ...]
    mark: str = MARK
    bom: bool = False
    installs: tuple[str, ...] = ()
    """The shell commands by which it installs packages."""
    notes: tuple[str, ...] = ()
    """What was left out, as sentences."""

    def encode(self, text: str) -> bytes:
        """The bytes of the notebook with `text` in the cells of the unit.

        Raises:
            ValueError: with a sentence, if a boundary of cells or a magic is gone, moved or doubled, or if the file
                cannot hold a character.
        """
        raw = self.notebook.raw
        pieces: list[str] = []
        position = 0
        for part, new in zip(self.parts, self._divided(text), strict=True):
            if new != part.text:
                source = part.cell.source[: part.skipped] + _unmasked(part, new)
                pieces += (raw[position : part.cell.start], respelled(self.notebook, part.cell, source))
                position = part.cell.end
        changed = "".join((*pieces, raw[position:]))
        return (codecs.BOM_UTF8 if self.bom else b"") + changed.encode()

    def position(self, offset: int) -> tuple[int | None, int, int]:
        """Cell, line and column of an offset, each from 1; all cells count, and lines as they stand in the cell."""
        if not self.parts:
            return None, 1, 1
        part, inside = self._place(offset)
        before = part.cell.source[:inside]
        return part.cell.number, before.count("\n") + 1, inside - (before.rfind("\n") + 1) + 1

    def file_line(self, offset: int) -> int:
        """The line of the file, from 1, where the source line of an offset stands."""
        if not self.parts:
            return 1
        part, inside = self._place(offset)
        at = part.cell.start
        for item in part.cell.items:
            at = item.start
            inside -= len(item.text)
            if inside < 0:
                break
        return self.notebook.raw.count("\n", 0, at) + 1

    def _place(self, offset: int) -> tuple[Part, int]:
        """The part that an offset lies in, and the offset into its cell's source."""
        starts = _starts(self.parts, self.mark, _newline(self.parts))
        index = max(bisect_right(starts, offset) - 1, 0)
        if index + 1 < len(starts):
            end = starts[index] + len(self.parts[index].text)
            if offset > end:
                index, offset = index + 1, starts[index + 1]
        part = self.parts[index]
        return part, part.skipped + min(offset - starts[index], len(part.text))

    def _divided(self, text: str) -> list[str]:
        """The text of each part."""
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


def units(path: str, data: bytes) -> tuple[str, ...]:
    """The notebook, and each file that its cells write and that is Python: a program of its own."""
    whole = _parsed(data)
    return (path, *(f"{path}::{name}" for name in _written(whole))) if isinstance(whole, Notebook) else (path,)


def decode(unit: str, data: bytes) -> NotebookSource | Skip:
    """One unit of a notebook as Python text."""
    whole = _parsed(data)
    if isinstance(whole, Skip):
        return replace(whole, path=unit)
    bom = data.startswith(codecs.BOM_UTF8)
    _, inside, name = unit.partition(".ipynb::")
    if inside:
        parts = tuple(_written(whole).get(name, ()))
        return _joined(NotebookSource(unit, "", whole, parts, bom=bom))
    return _joined(_program(NotebookSource(unit, "", whole, (), bom=bom)))


def cells(data: bytes) -> list[tuple[int, str]]:
    """Number and source of each code cell, as written."""
    whole = _parsed(data)
    return [(cell.number, cell.source) for cell in whole.cells] if isinstance(whole, Notebook) else []


@lru_cache(maxsize=4)
def _parsed(data: bytes) -> Notebook | Skip:
    """The notebook; its code cells are none where they are not Python."""
    if len(data) > LARGEST:
        return Skip("", SkipReason.TOO_LARGE, f"{len(data):,} bytes; notebooks above {LARGEST:,} bytes are not read")
    try:
        whole = raw_cells.read(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Skip("", SkipReason.UNDECODABLE, f"line {line}: not valid {error.encoding}")
    except Malformed as error:
        return Skip("", SkipReason.UNPARSABLE, str(error))
    except RecursionError:
        return Skip("", SkipReason.TOO_DEEP, "nested too deeply to be read")
    return whole if whole.python else replace(whole, cells=())


def _written(notebook: Notebook) -> dict[str, list[Part]]:
    """The Python files that cells write, by name: a second of a name is a file of its own, `-a` adds to the last."""
    found: dict[str, list[Part]] = {}
    latest: dict[str, str] = {}
    for cell in notebook.cells:
        magic = magics.cell_magic(cell.source)
        if not magic or magic.name not in magics.WRITE:
            continue
        words = magic.arguments.split()
        name = posixpath.normpath(words[-1].strip("'\"")) if words else ""
        if not name.endswith(".py") or set(words[:-1]) - {"-a", "--append"}:
            continue
        part = Part(cell, magic.body, cell.source[magic.body :])
        if len(words) > 1 and name in latest:
            found[latest[name]].append(part)
            continue
        count = sum(1 for each in found if each.partition(" (")[0] == name.removesuffix(".py") or each == name)
        latest[name] = f"{name.removesuffix('.py')} ({count + 1}).py" if count else name
        found[latest[name]] = [part]
    return found


def _program(source: NotebookSource) -> NotebookSource:
    """With the cells that are Python, and notes about those that are not."""
    names = Names(frozenset(re.findall(r"\w+", " ".join(cell.source for cell in source.notebook.cells))))
    parts: list[Part] = []
    installs: list[str] = []
    notes: list[str] = []
    for cell in source.notebook.cells:
        start = 0
        hidden: list[tuple[int, int]] = []
        while (magic := magics.cell_magic(cell.source, start)) and magic.name in magics.RUN_HERE:
            hidden.append((magic.start, magic.end))
            start = magic.body
        if magic:
            if magic.name in magics.SHELLS:
                installs += magics.installs(cell.source[magic.body :])
            continue
        hidden += magics.magics(cell.source, start)
        for begin, end in hidden:
            installs += magics.installs(magics.command(cell.source, begin, end))
        try:
            masks = tuple(mask for begin, end in hidden for mask in magics.masks(cell.source, begin, end, names))
            part = Part(cell, 0, _masked(cell.source, masks), masks)
            _check(part.text)
        except SyntaxError as error:
            notes.append(f"cell {cell.number}, line {error.lineno or 1}: {error.msg}; the cell was left out")
        except (ValueError, RecursionError, MemoryError) as error:
            notes.append(f"cell {cell.number}: {error}; the cell was left out")
        else:
            parts.append(part)
    return replace(source, parts=tuple(parts), installs=tuple(installs), notes=tuple(notes))


def _check(text: str) -> None:
    """Raises SyntaxError or another error for what is no Python."""
    if "\f" in text or re.search(r"\r(?!\n)", text):
        raise ValueError("form feeds or carriage returns between lines")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(text)


def _masked(source: str, masks: Sequence[Mask]) -> str:
    pieces: list[str] = []
    position = 0
    for mask in masks:
        pieces += (source[position : mask.start], mask.name)
        position = mask.end
    return "".join((*pieces, source[position:]))


def _joined(source: NotebookSource) -> NotebookSource:
    """With its text."""
    mark, number = MARK, 0
    while any(mark in part.text for part in source.parts):
        number += 1
        mark = f"# %% fixer {number} cell"
    newline = _newline(source.parts)
    texts = (f"{newline}{mark} {part.cell.number}{newline}{part.text}" for part in source.parts[1:])
    first = source.parts[0].text if source.parts else ""
    return replace(source, text="".join((first, *texts)), mark=mark)


def _newline(parts: Sequence[Part]) -> str:
    """The line end of the first line that has one."""
    return next((match[0] for part in parts if (match := re.search(r"\r?\n", part.text))), "\n")


def _starts(parts: Sequence[Part], mark: str, newline: str) -> list[int]:
    """Where the text of each part begins."""
    found: list[int] = []
    position = 0
    for k, part in enumerate(parts):
        position += len(f"{newline}{mark} {part.cell.number}{newline}") if k else 0
        found.append(position)
        position += len(part.text)
    return found


def _unmasked(part: Part, new: str) -> str:
    """The source of a part whose text has become `new`.

    Raises:
        ValueError: if a magic is gone, moved or doubled, or its line has changed (but for its indentation).
    """
    old, written = lines(part.text), lines(part.cell.source[part.skipped :])
    hidden = [k for k, line in enumerate(old) if line != written[k]]
    if not hidden:
        return new
    names = "|".join(re.escape(mask.name) for mask in part.masks if not mask.continued)
    head = re.compile(rf"(?<!\w)(?:{names})(?!\w)")
    continued = {part.text.count("\n", 0, mask.start) for mask in part.masks if mask.continued}
    found: list[str] = []
    for line in lines(new):
        expected = hidden[0] if hidden else None
        if (
            expected is not None
            and line.strip() == old[expected].strip()
            and (head.search(line) or expected in continued)
        ):
            indent, end = line[: len(line) - len(line.lstrip())], line[len(line.rstrip()) :]
            found.append(indent + written[expected].strip() + end)
            del hidden[0]
        elif expected in continued or head.search(line):
            raise ValueError("a magic or a shell command would be moved, doubled or changed")
        else:
            found.append(line)
    if hidden:
        raise ValueError("a magic or a shell command would be lost")
    return "".join(found)
