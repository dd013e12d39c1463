"""Who may import a file, by how import statements are written: the few files whose facts are worth reading."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from codemods.syntax.written_imports import written_imports

IMPORTING_BY_TEXT = (b"import_module", b"__import__")
"""Functions that import what a text names."""


def module_of(path: str) -> str:
    """A Python file as what is imported: without its suffix; a package for its `__init__.py`."""
    stem = path.rpartition(".")[0]
    return posixpath.dirname(stem) if posixpath.basename(stem) == "__init__" else stem


def spellings(module: str) -> frozenset[str]:
    """How an import may name a module: the ends of its dotted path, or where a relative import leads: `/a/b`."""
    parts = module.split("/")
    return frozenset({f"/{module}", *(".".join(parts[at:]) for at in range(len(parts)))})


def spelled(importer: str, source: bytes) -> frozenset[str]:
    """The same of all that a file imports."""
    return frozenset(_spelling(importer, dotted) for dotted in written_imports(source))


def _spelling(importer: str, dotted: str) -> str:
    rest = dotted.lstrip(".")
    if len(rest) == len(dotted):
        return dotted
    base = posixpath.dirname(importer)
    for _ in range(len(dotted) - len(rest) - 1):
        base = posixpath.dirname(base)
    return "/" + posixpath.join(base, *rest.split("."))


class Importers:
    """Who may import what, of a whole tree that is read once."""

    def __init__(self, sources: Iterable[tuple[str, bytes]], modules: Iterable[str]) -> None:
        self._lasts = lasts = {posixpath.basename(module) for module in modules}
        self._by_spelling: dict[str, list[str]] = {}
        for path, source in sources:
            for spelling in spelled(path, source):
                if spelling.rpartition("/")[2].rpartition(".")[2] in lasts:
                    self._by_spelling.setdefault(spelling, []).append(path)

    def of(self, module: str) -> set[str] | None:
        """The files that may import a module; None for one that is called like no module of the tree."""
        if posixpath.basename(module) not in self._lasts:
            return None
        return {path for spelling in spellings(module) for path in self._by_spelling.get(spelling, ())}
