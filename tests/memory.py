"""A project in a dictionary: what the pure core reads in tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


class Memory:
    """A `Reader` over texts by path."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.data = {path: data.encode() if isinstance(data, str) else data for path, data in files.items()}

    @classmethod
    def of(cls, folder: Path) -> Memory:
        """All files of a folder."""
        return cls({p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()})

    def read(self, path: str) -> bytes | None:
        return self.data.get(path)

    def exists(self, path: str) -> bool:
        return path in self.data

    def files(self) -> Sequence[str]:
        return sorted(self.data)
