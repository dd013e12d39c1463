"""TOML as a tree with spans.

`tomllib` decides what is TOML and what it means; this walks the accepted text once more to learn where everything
stands, and a file in which the two disagree is skipped.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from codemods.model.edits import Skip, SkipReason
from codemods.sources.config.values import DEEPEST, Array, Entry, Scalar, Table, Value, plain, same

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_SCALAR = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''(?:.)*?'{3,5}" + r"""|"(?:[^"\\]|\\.)*"|'[^']*'"""
    r"|\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d[^\s,\]}#]*|[^\s,\]}#]+",
    re.DOTALL,
)
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*'""")


def compose(path: str, text: str) -> tuple[Table] | Skip:
    """The one table that the file is."""
    try:
        meaning = tomllib.loads(text)
    except RecursionError:
        return Skip(path, SkipReason.TOO_DEEP, f"line 1: something is nested deeper than {DEEPEST} levels")
    except ValueError as error:
        return Skip(path, SkipReason.UNPARSABLE, _with_line(str(error), text))
    try:
        root = _frozen(_read(text), 0)
    except _Deep as error:
        line = text.count("\n", 0, error.args[0]) + 1
        return Skip(path, SkipReason.TOO_DEEP, f"line {line}: nested deeper than {DEEPEST} levels")
    except (LookupError, ValueError):
        root = Table(0, 0, ())
    if not same(plain(root), meaning):
        return Skip(path, SkipReason.NO_ROUND_TRIP, "line 1: its parts do not add up to what it means")
    return (root,)


def _with_line(message: str, text: str) -> str:
    match = re.search(r" \(at line (\d+), column \d+\)$", message)
    line = match[1] if match else text.count("\n") + 1
    return f"line {line}: {re.sub(r' [(]at [^()]*[)]$', '', message)}"


class _Deep(Exception):
    """(offset)"""


@dataclass(slots=True)
class _Open:
    """A table that may yet get entries."""

    start: int
    end: int
    entries: dict[str, _Line] = field(default_factory=dict)
    flow: bool = False


@dataclass(slots=True)
class _Line:
    start: int
    end: int
    key: Scalar
    value: Value | _Open | list[_Open]


def _read(text: str) -> _Open:
    root = table = _Open(0, 0)
    position = _after(_BLANK, text, 0)
    root.start = position
    while position < len(text):
        start = position
        if text[position] == "[":
            width = 2 if text.startswith("[[", position) else 1
            keys = list(_keys(text, position + width))
            end = text.index("]", keys[-1].end) + width
            table = _header(root, keys, start, end, several=width == 2)
        else:
            end = _pair(text, start, table, 0)
            table.end = end
        root.end = end
        position = _after(_BLANK, text, end)
    return root


def _after(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _keys(text: str, position: int) -> Iterator[Scalar]:
    """The parts of a dotted key."""
    while True:
        position = _after(_SPACE, text, position)
        end = _after(_KEY, text, position)
        word = text[position:end]
        style = word[:1] if word[:1] in "\"'" else ""
        yield Scalar(position, end, tomllib.loads(f"x = {word}")["x"] if style else word, style)
        position = _after(_SPACE, text, end)
        if not text.startswith(".", position):
            return
        position += 1


def _header(root: _Open, keys: list[Scalar], start: int, end: int, *, several: bool) -> _Open:
    """The table that a `[header]` opens."""
    around = root
    for key in keys[:-1]:
        around = _down(around, key, start, end)
    last = keys[-1]
    line = around.entries.get(last.value)
    table = _Open(start, end)
    if several:
        if line is None:
            around.entries[last.value] = _Line(start, end, last, [table])
        elif isinstance(line.value, list):
            line.value.append(table)
    elif line is None:
        around.entries[last.value] = _Line(start, end, last, table)
    elif isinstance(line.value, _Open):  # so far known from the headers of its children only
        line.start, line.end, line.key = start, end, last
        line.value.start, line.value.end = start, end
        return line.value
    return table


def _down(table: _Open, key: Scalar, start: int, end: int) -> _Open:
    """The table under a key that is not the last of its dotted key, made where there is none."""
    line = table.entries.get(key.value)
    if line is None:
        line = table.entries[key.value] = _Line(start, end, key, _Open(start, end, flow=table.flow))
    if isinstance(line.value, list):
        return line.value[-1]
    assert isinstance(line.value, _Open)
    return line.value


def _pair(text: str, start: int, table: _Open, depth: int) -> int:
    """Read `key = value` into `table`; where it ends."""
    keys = list(_keys(text, start))
    value = _value(text, _after(_SPACE, text, text.index("=", keys[-1].end) + 1), depth)
    for key in keys[:-1]:
        table = _down(table, key, start, value.end)
    table.entries[keys[-1].value] = _Line(start, value.end, keys[-1], value)
    return value.end


def _value(text: str, position: int, depth: int) -> Value | _Open:
    if depth > DEEPEST:
        raise _Deep(position)
    if text[position] == "[":
        items = []
        end = _after_comma(text, position + 1)
        while text[end] != "]":
            item = _value(text, end, depth + 1)
            items.append(_frozen(item, depth + 1) if isinstance(item, _Open) else item)
            end = _after_comma(text, item.end)
        return Array(position, end + 1, tuple(items))
    if text[position] == "{":
        table = _Open(position, position, flow=True)
        end = _after_comma(text, position + 1)
        while text[end] != "}":
            end = _after_comma(text, _pair(text, end, table, depth + 1))
        table.end = end + 1
        return table
    end = _after(_SCALAR, text, position)
    word = text[position:end]
    mark = word[:1] if word[:1] in "\"'" else ""
    style = mark * 3 if mark and word.startswith(mark * 3) else mark
    return Scalar(position, end, tomllib.loads(f"x = {word}")["x"], style)


def _after_comma(text: str, position: int) -> int:
    position = _after(_BLANK, text, position)
    return _after(_BLANK, text, position + 1) if text.startswith(",", position) else position


def _frozen(table: _Open, depth: int) -> Table:
    if depth > DEEPEST:
        raise _Deep(table.start)
    entries = []
    for line in table.entries.values():
        value: Value
        if isinstance(line.value, list):
            items = tuple(_frozen(item, depth + 1) for item in line.value)
            value = Array(items[0].start, items[-1].end, items, flow=False)
        elif isinstance(line.value, _Open):
            value = _frozen(line.value, depth + 1)
        else:
            value = line.value
        end = line.end if value.start >= line.end else max(line.end, value.end)
        entries.append(Entry(line.start, end, line.key, value))
    return Table(table.start, table.end, tuple(entries), table.flow)
