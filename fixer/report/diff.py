"""Where two versions of a file differ: hunks of lines, as git would show them, each with the rules behind it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from codemods.model.edits import Skip
from codemods.model.plan import Change, FilePlan
from codemods.sources.files import decode

CONTEXT = 3
Span = tuple[int, int, int, int]
"""Lines `[a0, a1)` of the old file become lines `[b0, b1)` of the new one."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changed lines with their context. `lines` are (sign, bytes with line end), sign being one of `b" -+"`."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[tuple[str, bytes], ...]
    changes: tuple[Change, ...] = ()

    @property
    def position(self) -> str:
        """`-1,3 +1,4`, as in a patch: the line before it where a side is empty."""
        old = self.old_start + (1 if self.old_count else 0)
        new = self.new_start + (1 if self.new_count else 0)
        return f"-{old},{self.old_count} +{new},{self.new_count}"

    @property
    def heading(self) -> str:
        """`PL001: what is wrong; AMP001: …` on one line."""
        reasons = dict.fromkeys(f"{change.code}: {' '.join(change.message.split())}" for change in self.changes)
        return "; ".join(reasons)


def split_lines(data: bytes) -> list[bytes]:
    """Lines with their ends, ended by line feeds only, as git sees them."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def hunks(file: FilePlan) -> tuple[Hunk, ...]:
    """The hunks of a changed file, in order."""
    touched = [(begin, end, change) for _, begin, end, change in _lines_touched(file)]
    return _hunks(split_lines(file.before), split_lines(file.after), touched)


def cell_hunks(file: FilePlan) -> Iterator[tuple[int, tuple[Hunk, ...]]]:
    """The hunks of a changed notebook as people see it: for each changed cell its number and its hunks."""
    from codemods.sources.notebook import cells

    after = dict(cells(file.after))
    touched = _lines_touched(file, in_cells=True)
    for number, source in cells(file.before):
        if after.get(number, source) != source:
            old, new = split_lines(source.encode()), split_lines(after[number].encode())
            mine = [(begin, end, change) for cell, begin, end, change in touched if cell == number]
            yield number, _hunks(old, new, mine)


def between(old: bytes, new: bytes) -> tuple[Hunk, ...]:
    """The hunks between two texts, whoever is behind them."""
    return _hunks(split_lines(old), split_lines(new), ())


def _hunks(old: Sequence[bytes], new: Sequence[bytes], touched: Sequence[tuple[int, int, Change]]) -> tuple[Hunk, ...]:
    return tuple(_hunk(group, old, new, touched) for group in _grouped(list(differences(old, new))))


def differences(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[Span]:
    """Where the two differ: anchored at lines that are unique in both, compared in full between them."""
    pending: list[Span] = [(0, len(old), 0, len(new))]
    while pending:
        a0, a1, b0, b1 = pending.pop()
        while a0 < a1 and b0 < b1 and old[a0] == new[b0]:
            a0, b0 = a0 + 1, b0 + 1
        while a0 < a1 and b0 < b1 and old[a1 - 1] == new[b1 - 1]:
            a1, b1 = a1 - 1, b1 - 1
        if a0 == a1 or b0 == b1:
            if a0 < a1 or b0 < b1:
                yield a0, a1, b0, b1
            continue
        anchors = _anchors(old, new, (a0, a1, b0, b1))
        if anchors:
            edges = [(a0, b0), *anchors, (a1, b1)]
            pending += [(a, c, b, d) for (a, b), (c, d) in reversed(list(pairwise(edges)))]
            continue
        matcher = SequenceMatcher(None, old[a0:a1], new[b0:b1], autojunk=False)
        for tag, i0, i1, j0, j1 in matcher.get_opcodes():
            if tag != "equal":
                yield a0 + i0, a0 + i1, b0 + j0, b0 + j1


def _anchors(old: Sequence[bytes], new: Sequence[bytes], span: Span) -> list[tuple[int, int]]:
    """Lines that occur once on both sides, in the longest order common to both."""
    a0, a1, b0, b1 = span
    count_old, count_new = Counter(old[a0:a1]), Counter(new[b0:b1])
    place = {new[j]: j for j in range(b0, b1) if count_new[new[j]] == 1}
    shared = [(i, place[old[i]]) for i in range(a0, a1) if count_old[old[i]] == 1 and old[i] in place]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(shared):
        at = bisect_left(tails, j)
        before.append(ends[at - 1] if at else -1)
        tails[at:], ends[at:] = [j, *tails[at + 1 :]], [number, *ends[at + 1 :]]
    chain = []
    number = ends[-1] if ends else -1
    while number >= 0:
        chain.append(shared[number])
        number = before[number]
    return chain[::-1]


def _grouped(spans: Sequence[Span]) -> Iterator[list[Span]]:
    """Differences whose contexts meet go into one hunk."""
    group: list[Span] = []
    for span in spans:
        if group and span[0] - group[-1][1] > 2 * CONTEXT:
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def _hunk(
    group: Sequence[Span], old: Sequence[bytes], new: Sequence[bytes], touched: Sequence[tuple[int, int, Change]]
) -> Hunk:
    start, stop = max(0, group[0][0] - CONTEXT), min(len(old), group[-1][1] + CONTEXT)
    new_start, new_stop = group[0][2] - (group[0][0] - start), group[-1][3] + (stop - group[-1][1])
    lines: list[tuple[str, bytes]] = []
    position = start
    for a0, a1, b0, b1 in group:
        lines += [(" ", line) for line in old[position:a0]]
        lines += [("-", line) for line in old[a0:a1]]
        lines += [("+", line) for line in new[b0:b1]]
        position = a1
    lines += [(" ", line) for line in old[position:stop]]
    first, last = group[0][0], max(group[-1][1] - 1, group[0][0])
    inside = [change for begin, end, change in touched if begin <= last and end >= first]
    if not inside and touched:
        # A difference may slide along equal lines, away from the edit that made it: the nearest edit is its reason.
        inside = [min(touched, key=lambda item: min(abs(item[0] - last), abs(item[1] - first)))[2]]
    return Hunk(start, stop - start, new_start, new_stop - new_start, tuple(lines), tuple(inside))


def _lines_touched(file: FilePlan, *, in_cells: bool = False) -> list[tuple[int | None, int, int, Change]]:
    """Each change with the first and last line (from 0) that it is about, of the file or of a cell."""
    sources = {unit: decode(unit, file.before) for unit in {change.edit.path for change in file.changes}}

    def place(unit: str, offset: int) -> tuple[int | None, int]:
        source = sources[unit]
        if isinstance(source, Skip):
            return None, 0
        cell, line, _ = source.position(offset)
        return (cell, line - 1) if in_cells else (None, source.file_line(offset) - 1)

    found = []
    for change in file.changes:
        edit = change.edit
        cell, begin = place(edit.path, edit.start)
        found.append((cell, begin, max(begin, place(edit.path, max(edit.start, edit.end - 1))[1]), change))
    return found
