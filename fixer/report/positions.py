"""Where findings and edits lie: lines and columns from 1, in a notebook of a cell or of the file itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from codemods.model.edits import Finding, Skip
from codemods.model.plan import Plan
from codemods.sources.document import Unit
from codemods.sources.files import container, decode


class Positions:
    """Offsets as lines and columns, in a notebook with the cell; each program of each file is decoded once."""

    def __init__(self, plan: Plan, read: Callable[[str], bytes | None]) -> None:
        self._before = {file.path: file.before for file in plan.files}
        self._read = read
        self._sources: dict[str, Unit | Skip] = {}

    def of(self, unit: str, offset: int) -> tuple[int | None, int, int]:
        """Cell, line and column of an offset into the text of a unit."""
        if unit not in self._sources:
            path = container(unit)
            data = self._before[path] if path in self._before else self._read(path)
            self._sources[unit] = decode(unit, data or b"")
        source = self._sources[unit]
        return (None, 1, offset + 1) if isinstance(source, Skip) else source.position(offset)


@dataclass(frozen=True, slots=True)
class FileSpan:
    """The lines of a file that a finding lies on, and the columns where it begins and ends: none in a notebook."""

    line: int
    end_line: int
    columns: tuple[int, int] | None = None


def in_file(finding: Finding, before: bytes) -> FileSpan:
    """Where a finding lies in the file itself, of which these are the bytes, for programs that know no cells."""
    place = finding.reported
    if finding.cell is None:
        return FileSpan(place.line, place.end_line, (place.column, place.end_column))
    from codemods.sources.notebook import line_in_file

    line, end = (line_in_file(before, finding.cell, number) for number in (place.line, place.end_line))
    return FileSpan(line, max(line, end))


def message_in_file(finding: Finding) -> str:
    """The message, in a notebook with the cell and its line."""
    if finding.cell is None:
        return finding.message
    return f"{finding.message} (cell {finding.cell}, line {finding.reported.line})"
