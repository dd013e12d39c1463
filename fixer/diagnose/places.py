"""Frames of a log as places in a repository, also where the log is from another machine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from fixer.diagnose.tracebacks import TraceFrame

_THEIRS = re.compile(r"(?:^|/)(?:site-packages|dist-packages|lib/python[\d.]+|Lib)/|^<|^\(")
"""Paths of installed packages, of the standard library, and of what has no file."""
_IMPORT = re.compile(r"\s*(?:import|from)\s")
MOST_CLUES = 3
"""Lines that are named for one cause."""
_EVERYWHERE = frozenset({"__init__.py", "__main__.py"})
"""Names that tell nothing without the directory above."""


@dataclass(frozen=True, slots=True)
class InRepository:
    """One frame, and where it lies in the repository."""

    frame: TraceFrame
    path: str
    """Relative to the root."""
    line: int
    cell: int | None = None
    """Of a notebook, the cell, from 1, that `line` counts in."""
    code: str = ""
    """The line as it reads now."""
    moved: bool = False
    """Whether it reads otherwise in the log."""

    @property
    def location(self) -> str:
        """`path:line`, in a notebook `path:cell 3:line`."""
        return f"{self.path}:{self.line}" if self.cell is None else f"{self.path}:cell {self.cell}:{self.line}"


class Places:
    """The files of a repository that a frame may lie in."""

    def __init__(self, root: Path, paths: Iterable[str], read: Callable[[str], bytes | None]) -> None:
        self._root, self._read = root, read
        self._paths = {path for path in paths if path.endswith((".py", ".ipynb"))}
        self._named: dict[str, list[str]] = {}
        for path in sorted(self._paths):
            self._named.setdefault(path.rpartition("/")[2], []).append(path)

    def of(self, frames: Sequence[TraceFrame]) -> tuple[InRepository, ...]:
        """Those of the frames that lie in the repository, in their order."""
        return tuple(place for frame in frames if (place := self._place(frame)) is not None)

    def path_of(self, name: str) -> str | None:
        """The file that a path means, exactly or by the longest end that it shares with one; None: none, or several."""
        path = name.strip().replace("\\", "/")
        if _THEIRS.search(path):
            return None
        prefix = f"{self._root.as_posix()}/"
        inside = path.removeprefix(prefix)
        if inside in self._paths:
            return inside
        wanted = [part for part in PurePosixPath(inside).parts if part not in ("/", ".", "..", "~")]
        best: list[str] = []
        most = 0
        for candidate in self._named.get(wanted[-1] if wanted else "", ()):
            same = _same_end(wanted, candidate.split("/"))
            if same > most:
                best, most = [candidate], same
            elif same == most:
                best.append(candidate)
        if most == 1 and len(wanted) > 1 and wanted[-1] in _EVERYWHERE:
            return None
        return best[0] if len(best) == 1 else None

    def only_script(self) -> str | None:
        """The only Python file of the repository, or the only one that has the name of a script; else None."""
        scripts = [path for path in self._paths if path.endswith(".py")]
        for choice in (scripts, *(self._named.get(name, []) for name in ("train.py", "main.py"))):
            if len(choice) == 1:
                return choice[0]
        return None

    def _place(self, frame: TraceFrame) -> InRepository | None:
        if frame.cell is not None:
            return self._cell(frame, frame.cell)
        if (path := self.path_of(frame.path)) is None:
            return None
        lines = (self._read(path) or b"").decode("utf-8", "replace").splitlines()
        there = lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else None
        moved = there is None or bool(frame.code and not _reads_as(there, frame.code))
        return InRepository(frame, path, frame.line, None, there or "", moved)

    def _cell(self, frame: TraceFrame, count: int) -> InRepository | None:
        """The cell of the only notebook that has one of this execution count; of several, the one with that line."""
        found = []
        for path in sorted(path for path in self._paths if path.endswith(".ipynb")):
            for number, executed, source in _cells(self._read(path) or b""):
                lines = source.splitlines()
                if executed == count and 0 < frame.line <= len(lines):
                    line = lines[frame.line - 1].strip()
                    same = bool(frame.code) and _reads_as(line, frame.code)
                    moved = bool(frame.code) and not same
                    found.append((same, InRepository(frame, path, frame.line, number, line, moved)))
        best = [place for same, place in found if same] or [place for _, place in found]
        return best[0] if len(best) == 1 else None


@dataclass(frozen=True, slots=True)
class Clue:
    """A line of code that is worth a look."""

    path: str
    line: int
    code: str


def clues(signs: Sequence[str], places: Mapping[str, int], read: Callable[[str], bytes | None]) -> tuple[Clue, ...]:
    """The lines that bear one of these signs in some files, those near the line given for a file first."""
    if not signs:
        return ()
    pattern = re.compile("|".join(f"(?:{sign})" for sign in signs))
    found: list[tuple[int, int, Clue]] = []
    for number, (path, line) in enumerate(places.items()):
        if path.endswith(".py"):
            for index, code in enumerate((read(path) or b"").decode("utf-8", "replace").splitlines(), start=1):
                if pattern.search(code.partition("#")[0]) and not _IMPORT.match(code):
                    found.append((number, abs(index - line), Clue(path, index, code.strip())))
    nearest = sorted(found, key=lambda each: each[:2])[:MOST_CLUES]
    return tuple(sorted((clue for *_, clue in nearest), key=lambda clue: (clue.path, clue.line)))


def _same_end(one: Sequence[str], other: Sequence[str]) -> int:
    """How many parts two paths share, counted from their ends."""
    count = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count


def _reads_as(line: str, shown: str) -> bool:
    """Whether a line of code may be what a log shows of it: the log may cut it, or show a part of a statement."""
    one, other = re.sub(r"\s+", "", line), re.sub(r"[\s…]+", "", shown)
    return one.startswith(other) or other.startswith(one) or set(shown) <= set("^~ ")


def _cells(data: bytes) -> Iterable[tuple[int, int | None, str]]:
    """Number, execution count and text of each cell of code."""
    try:
        cells = json.loads(data)["cells"]
        for number, cell in enumerate(cells, start=1):
            if cell.get("cell_type") == "code":
                source = cell.get("source", "")
                text = source if isinstance(source, str) else "".join(source)
                yield number, cell.get("execution_count"), text
    except (ValueError, TypeError, KeyError, AttributeError):
        return
