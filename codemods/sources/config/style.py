"""Where in a configuration file something is to change, and how the file writes there."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codemods.model.edits import Edit
from codemods.sources.config.serialize import Manner, is_bare
from codemods.sources.config.values import Array, Entry, Scalar, Table, Value

EOL = re.compile(r"\r\n|\n|\r")
_SAMPLE = 200
"""Strings of a file that are asked how they are quoted."""


@dataclass(frozen=True, slots=True)
class ChangePlace:
    """A document, and where in it something is to change."""

    path: str
    text: str
    format: str
    roots: tuple[Value, ...]
    parents: Mapping[Value | Entry, Value | Entry]
    gone: frozenset[Value | Entry] = frozenset()
    """Entries that are deleted together."""

    def edit(self, start: int, end: int, text: str) -> Edit:
        return Edit(self.path, start, end, text)

    def line_start(self, position: int) -> int:
        return max(self.text.rfind("\n", 0, position), self.text.rfind("\r", 0, position)) + 1

    def line_end(self, position: int) -> int:
        """Where the line ends, its line end not included."""
        match = EOL.search(self.text, position)
        return match.start() if match else len(self.text)

    def next_line(self, position: int) -> int:
        match = EOL.search(self.text, position)
        return match.end() if match else len(self.text)

    def nodes(self) -> Iterator[Value | Entry]:
        yield from self.roots
        yield from self.parents

    def before(self, position: int) -> str:
        """What stands on the line before a position."""
        return self.text[self.line_start(position) : position]

    def indent(self, position: int) -> str:
        """The white space that the line begins with."""
        line = self.before(position)
        return line[: len(line) - len(line.lstrip())]


def site(path: str, text: str, format: str, roots: tuple[Value, ...]) -> ChangePlace:
    parents: dict[Value | Entry, Value | Entry] = {}
    todo: list[Value | Entry] = list(reversed(roots))
    while todo:
        node = todo.pop()
        below = children(node)
        parents |= dict.fromkeys(below, node)
        todo += reversed(below)
    return ChangePlace(path, text, format, roots, parents)


def children(node: Value | Entry) -> Sequence[Value | Entry]:
    if isinstance(node, Entry):
        return (node.value,)
    if isinstance(node, Table):
        return node.entries
    return node.items if isinstance(node, Array) else ()


def manner_of(at: ChangePlace, table: Table | None, position: int) -> Manner:
    """How this table, or else this file, writes; lines end as the one at `position` does, or else the one before."""
    entries = table.entries if table else ()
    eol = EOL.search(at.text, position) or EOL.search(at.text, max(0, at.line_start(position) - 2))
    manner = Manner(at.format, eol=eol[0] if eol else "\n", ascii=at.text.isascii())
    manner = replace(manner, colon=_colon(at, entries), comma=_comma(at, entries), step=_step(at, entries))
    if at.format == "json":
        return replace(manner, quote='"', key_quote='"')
    strings = (each for each in at.nodes() if isinstance(each, Scalar) and isinstance(each.value, str))
    near = [e.value for e in entries if isinstance(e.value, Scalar) and isinstance(e.value.value, str)]
    quote = (
        _usual(near, at.format)
        or _usual(list(itertools.islice(strings, _SAMPLE)), at.format)
        or ("bare" if at.format == "yaml" else '"')
    )
    manner = replace(manner, quote=quote.replace("bare", ""))
    if at.format == "toml":
        return manner
    keys = {each.key.style for each in entries}
    flags = (
        each for each in at.nodes() if isinstance(each, Scalar) and isinstance(each.value, bool) and not each.style
    )
    cases = [at.text[each.start : each.end] for each in flags]
    titled = sum(case.istitle() for case in cases) * 2 > len(cases)
    return replace(
        manner,
        key_quote=keys.pop() if len(keys) == 1 and keys <= {'"', "'"} else "",
        case="True" if titled else "true",
        dash=_dash(at),
    )


def _usual(strings: Sequence[Scalar], format: str) -> str:
    """How most of these strings are quoted, of those that needed no quotation marks; empty where there are none."""
    styles = [each.style[:1] for each in strings if format == "toml" or is_bare(each.value, flow=False)]
    styles = ["bare" if style in ("", "|", ">") else style for style in styles]
    return max(sorted(set(styles)), key=styles.count, default="")


def _colon(at: ChangePlace, entries: Sequence[Entry]) -> str:
    usual = " = " if at.format == "toml" else ": "
    if at.format == "yaml":
        return usual
    found = {at.text[each.key.end : each.value.start] for each in entries if each.value.start > each.key.end}
    return next((each for each in sorted(found) if re.fullmatch(r" ?[:=] ?", each)), usual)


def _comma(at: ChangePlace, entries: Sequence[Entry]) -> str:
    for one, other in itertools.pairwise(entries):
        gap = at.text[one.end : other.start]
        if re.fullmatch(r", ?", gap):
            return gap
    return ", " if at.format != "json" or " " in _colon(at, entries) else ","


def _step(at: ChangePlace, entries: Sequence[Entry]) -> str:
    """One level of indentation: what the first line that is deeper than the one around it adds, best a near one."""
    for node in itertools.chain((entry.value for entry in entries), at.nodes()):
        holder = at.parents.get(node)
        if not isinstance(node, (Table, Array)) or (at.format == "yaml" and isinstance(node, Array)):
            continue
        first = next(iter(children(node)), None)
        outer = at.indent((holder if isinstance(holder, Entry) else node).start)
        if first is not None and not at.before(first.start).strip():
            inner = at.before(first.start)
            if len(inner) > len(outer) and inner.startswith(outer):
                return inner[len(outer) :]
    return "  "


def _dash(at: ChangePlace) -> str:
    """The indentation of a YAML list below its key."""
    for node, holder in at.parents.items():
        if isinstance(node, Array) and not node.flow and isinstance(holder, Entry):
            return " " * max(0, len(at.before(node.start)) - len(at.before(holder.start)))
    return "  "
