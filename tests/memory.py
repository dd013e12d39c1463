"""A project in a dictionary: what the pure core reads in tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from codemods.project.dependencies import name_of
from codemods.project.results import Kept, Remembered


class Memory:
    """A `Reader` over texts by path."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.data = {path: data.encode() if isinstance(data, str) else data for path, data in files.items()}
        self.directories = {str(above) for path in self.data for above in PurePosixPath(path).parents}

    @classmethod
    def of(cls, folder: Path) -> Memory:
        """All files of a folder."""
        return cls({p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()})

    def read(self, path: str) -> bytes | None:
        return self.data.get(path)

    def exists(self, path: str) -> bool:
        return path in self.data or path in self.directories

    def names_in(self, directory: str) -> Sequence[str]:
        above = f"{directory}/" if directory else ""
        found = (path.removeprefix(above).partition("/")[0] for path in self.data if path.startswith(above))
        return list(dict.fromkeys(found))

    def files(self) -> Sequence[str]:
        return sorted(self.data)


class Remembering(Kept):
    """Remembers results across runs over such projects, by path and content."""

    def __init__(self, files: Memory, before: dict[tuple[str, str], Remembered]) -> None:
        super().__init__()
        self.files, self.before, self.used = files, before, 0

    def recall(self, path: str, /) -> Remembered | None:
        data = self.files.read(path)
        found = self.before.get((path, name_of(data))) if data is not None else None
        self.used += found is not None
        return found

    def keep(self, remembered: Remembered, /) -> None:
        data = self.files.read(remembered.path)
        assert data is not None
        self.before[remembered.path, name_of(data)] = remembered
