"""Which cells of a notebook are programs, and what they say: Python with masks, and files that cells write."""

from __future__ import annotations

import ast
import posixpath
import re
import shlex
import warnings
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from codemods.sources.notebook import magics
from codemods.sources.notebook.magics import Mask, MaskNames
from codemods.sources.notebook.raw import Cell, Notebook, lines


@dataclass(frozen=True, slots=True)
class CellPart:
    """What one cell adds to a unit: its source from `skipped` on, with masks."""

    cell: Cell
    skipped: int
    text: str
    masks: tuple[Mask, ...] = ()

    @property
    def source(self) -> str:
        """What `text` is, without masks."""
        return self.cell.source[self.skipped :]

    def unmasked(self, new: str, names: Set[str]) -> str:
        """The source of a part whose text has become `new`; `names` are those of all masks of the unit.

        Raises:
            ValueError: if a magic is gone, moved or doubled, or its line has changed (but for its indentation).
        """
        old, written = lines(self.text), lines(self.source)
        hidden = [k for k, line in enumerate(old) if line != written[k]]
        continued = {self.text.count("\n", 0, mask.start) for mask in self.masks if mask.continued}
        found: list[str] = []
        for line in lines(new):
            expected = hidden[0] if hidden else -1
            if expected in continued or not names.isdisjoint(re.findall(r"\w+", line)):
                if expected < 0 or line.strip() != old[expected].strip():
                    raise ValueError("a magic or a shell command would be moved, doubled or changed")
                indent, end = line[: len(line) - len(line.lstrip())], line[len(line.rstrip()) :]
                found.append(indent + written[expected].strip() + end)
                del hidden[0]
            else:
                found.append(line)
        if hidden:
            raise ValueError("a magic or a shell command would be lost")
        return "".join(found)


@dataclass(frozen=True, slots=True)
class Program:
    """The cells that are Python, in order, and what else the notebook tells."""

    parts: tuple[CellPart, ...]
    installs: tuple[str, ...]
    """The commands that install packages."""
    unread: frozenset[str]
    """The words of what is not read: magics, and cells left out."""
    notes: tuple[str, ...]


def program(notebook: Notebook) -> Program:
    """The code cells as one program."""
    names = MaskNames(frozenset(word for cell in notebook.cells for word in re.findall(r"\w+", cell.source)))
    parts: list[CellPart] = []
    installs: list[str] = []
    unread: list[str] = []
    notes: list[str] = []
    for cell in notebook.cells:
        foreign, hidden = _hidden(cell.source)
        if foreign:
            if foreign.name not in magics.APART:
                unread.append(cell.source)
            if foreign.name in magics.SHELLS:
                installs += magics.installs(cell.source[foreign.body :])
            continue
        unread += (cell.source[start:end] for start, end in hidden)
        installs += (found for start, end in hidden for found in magics.installs(cell.source[start:end]))
        try:
            masks = tuple(mask for start, end in hidden for mask in magics.masks(cell.source, start, end, names))
            part = CellPart(cell, 0, _masked(cell.source, masks), masks)
            _check(part.text)
        except SyntaxError as error:
            unread.append(cell.source)
            notes.append(f"cell {cell.number}, line {error.lineno or 1}: {error.msg}; the cell was left out")
        except (ValueError, RecursionError, MemoryError) as error:
            unread.append(cell.source)
            notes.append(f"cell {cell.number}: {error}; the cell was left out")
        else:
            parts.append(part)
    words = frozenset(word for text in unread for word in re.findall(r"\w+", text))
    return Program(tuple(parts), tuple(installs), words, tuple(notes))


def _hidden(source: str) -> tuple[magics.CellMagic | None, list[tuple[int, int]]]:
    """The magic that makes the cell something else than Python, or the spans of what is not Python in it."""
    hidden, start = [], 0
    while magic := magics.cell_magic(source, start):
        if magic.name not in magics.RUN_HERE:
            return magic, []
        hidden.append((magic.start, magic.end))
        start = magic.body
    return None, [*hidden, *magics.magics(source, start)]


def _masked(source: str, masks: Sequence[Mask]) -> str:
    pieces: list[str] = []
    position = 0
    for mask in masks:
        pieces += (source[position : mask.start], mask.name)
        position = mask.end
    return "".join((*pieces, source[position:]))


def _check(text: str) -> None:
    """Raises SyntaxError or another error for what is no Python, or what is but cannot be rewritten."""
    if "\f" in text or re.search(r"\r(?!\n)", text):
        raise ValueError("it has form feeds or carriage returns of their own")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(text)


def written(notebook: Notebook) -> dict[str, list[CellPart]]:
    """The Python files that cells write, by name; a second of a name is a file of its own, `-a` adds to the last."""
    found: dict[str, list[CellPart]] = {}
    latest: dict[str, str] = {}
    count: dict[str, int] = {}
    for cell, magic, name, appends in _writers(notebook):
        part = CellPart(cell, magic.body, cell.source[magic.body :])
        if appends and name in latest:
            found[latest[name]].append(part)
            continue
        count[name] = count.get(name, 0) + 1
        latest[name] = name if count[name] == 1 else f"{name.removesuffix('.py')} ({count[name]}).py"
        found[latest[name]] = [part]
    return found


def _writers(notebook: Notebook) -> Iterator[tuple[Cell, magics.CellMagic, str, bool]]:
    """The cells that write a Python file: its name, and whether they add to it."""
    for cell in notebook.cells:
        magic = magics.cell_magic(cell.source)
        if not magic or magic.name not in magics.WRITE:
            continue
        try:
            words = shlex.split(magic.arguments)
        except ValueError:
            continue
        paths = [word for word in words if word not in ("-a", "--append")]
        if len(paths) == 1 and paths[0].endswith(".py"):
            yield cell, magic, re.sub(r"\A(?:/|\.\./)+", "", posixpath.normpath(paths[0])), len(words) > 1
