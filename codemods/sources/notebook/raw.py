"""The code cells of a notebook, with the place of every source string in the raw JSON.

nbformat 4: https://nbformat.readthedocs.io/en/latest/format_description.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_decoded = json.JSONDecoder().raw_decode
_SPACE = re.compile(r"[ \t\n\r]*")
_VALUE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,\]}"\[{]+', re.DOTALL)
_BRACKET = re.compile(r'[^"\[\]{}]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^"\[\]{}]*)*([\[\]{}])', re.DOTALL)
"""The next bracket that stands in no string."""


class Malformed(Exception):
    """The text is no notebook that can be read; says why."""


@dataclass(frozen=True, slots=True)
class Item:
    """One string of a source: the raw string with its quotes, and what it says."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One code cell; `start:end` is the raw value of its `source`."""

    number: int
    """Among all cells of the notebook, from 1."""
    start: int
    end: int
    items: tuple[Item, ...]
    listed: bool
    """A list of strings, not one string."""

    @property
    def source(self) -> str:
        return "".join(item.text for item in self.items)


@dataclass(frozen=True, slots=True)
class Notebook:
    """The raw JSON, and its code cells."""

    raw: str
    cells: tuple[Cell, ...]
    python: bool
    """Whether its kernel runs Python, as far as it tells."""


def read(raw: str) -> Notebook:
    """The code cells of the JSON text of a notebook.

    Raises:
        Malformed: if it is no notebook of format 4.
        RecursionError: if it is nested too deeply.
    """
    try:
        whole = json.loads(raw)
    except json.JSONDecodeError as error:
        raise Malformed(f"line {error.lineno}: {error.msg}") from None
    except ValueError as error:
        raise Malformed(str(error)) from None
    version = whole.get("nbformat", 4) if isinstance(whole, dict) else None
    if isinstance(whole, dict) and ("worksheets" in whole or version in (1, 2, 3)):
        old = version if version in (1, 2, 3) else 3
        advice = "open and save it with a current Jupyter, or run jupyter nbconvert --to notebook"
        raise Malformed(f"nbformat {old}: {advice}")
    if version != 4 or not isinstance(whole.get("cells"), list):
        raise Malformed("line 1: not a notebook of nbformat 4")
    top = _members(raw, _blank(raw, 0), ("cells",))
    cells = (_cell(raw, number, start) for number, start in enumerate(_elements(raw, top["cells"]), start=1))
    return Notebook(raw, tuple(cell for cell in cells if cell), _is_python(whole.get("metadata")))


def lines(text: str) -> list[str]:
    """The lines of a text with their ends: line feeds, and nothing else."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _is_python(metadata: Any) -> bool:
    said = [(metadata or {}).get(key) for key in ("kernelspec", "language_info")] if isinstance(metadata, dict) else []
    kernel, language = (each if isinstance(each, dict) else {} for each in (said or [None, None]))
    names = [str(name).lower() for name in (kernel.get("language"), language.get("name")) if name]
    return all(name.startswith(("python", "ipython")) for name in names)


def _cell(raw: str, number: int, start: int) -> Cell | None:
    """The code cell whose object begins at `start`, None for another kind of cell."""
    if raw[start] != "{":
        return None
    members = _members(raw, start, ("cell_type", "source"))
    if members.keys() != {"cell_type", "source"} or _decoded(raw, members["cell_type"])[0] != "code":
        return None
    at = members["source"]
    listed = raw[at] == "["
    items = []
    for begin in _elements(raw, at) if listed else (at,):
        if raw[begin] != '"':
            line = raw.count("\n", 0, begin) + 1
            raise Malformed(f"line {line}: the source of cell {number} is no string and no list of strings")
        text, end = _decoded(raw, begin)
        items.append(Item(begin, end, text))
    return Cell(number, at, _after(raw, at), tuple(items), listed)


def _members(raw: str, start: int, wanted: tuple[str, ...]) -> dict[str, int]:
    """Where the values of some keys of the object at `start` begin; a key that is missing has none.

    Raises:
        Malformed: if one of them is given twice.
    """
    found: dict[str, int] = {}
    position = _blank(raw, start + 1)
    while raw[position] != "}":
        key, end = _decoded(raw, position)
        value = _blank(raw, _blank(raw, end) + 1)
        if key in wanted:
            if key in found:
                raise Malformed(f'line {raw.count(chr(10), 0, position) + 1}: "{key}" is given twice')
            found[key] = value
        position = _blank(raw, _after(raw, value))
        if raw[position] == ",":
            position = _blank(raw, position + 1)
    return found


def _elements(raw: str, start: int) -> Iterator[int]:
    """Where the elements of the list at `start` begin."""
    position = _blank(raw, start + 1)
    while raw[position] != "]":
        yield position
        position = _blank(raw, _after(raw, position))
        if raw[position] == ",":
            position = _blank(raw, position + 1)


def _blank(raw: str, position: int) -> int:
    match = _SPACE.match(raw, position)
    return match.end() if match else position


def _after(raw: str, start: int) -> int:
    """Where the value that begins at `start` ends. The text is known to be JSON."""
    match = _VALUE.match(raw, start)
    if match:
        return match.end()
    depth = 0
    while match := _BRACKET.match(raw, start):
        start = match.end()
        depth += 1 if match[1] in "[{" else -1
        if not depth:
            break
    return start
