"""Configuration files: YAML, JSON and TOML as one kind of document.

What changes is only what a fix names; every other byte stays. A set of edits is handed out only after the changed text
was parsed again and said exactly what was meant.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from codemods.model.edits import Edit, Skip, SkipReason, splice
from codemods.sources.config.values import (
    Array,
    Entry,
    Key,
    Pair,
    Scalar,
    Table,
    Value,
    plain,
    same,
)
from codemods.sources.document import Node

FORMATS = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml"}
"""Suffix → format."""


@dataclass(frozen=True, slots=True, eq=False)
class Config:
    """A configuration file."""

    KIND: ClassVar[str] = "config"
    path: str
    text: str
    format: str
    """"yaml", "json" or "toml"."""
    roots: tuple[Value, ...]
    """One per document: several only in YAML, none in an empty file."""

    @property
    def start(self) -> int:
        return 0

    @property
    def end(self) -> int:
        return len(self.text)

    def nodes(self) -> Iterator[Config | Value | Entry]:
        """The document itself, then its values and entries, parents first; not the keys, nor what aliases lead to."""
        yield self
        for node, _ in _walk(self.roots):
            yield node

    def label(self, node: Node, /) -> str:
        """Where a node stands: `trainer.precision`, `steps[2].with`; in a file's second document `2:a.b`."""
        return next((label for each, label in _walk(self.roots) if each is node), "")

    def edits(self, node: Node, new: object, /) -> tuple[Edit, ...] | None:
        """The edits that turn `node` into `new`; None where that is not surely possible.

        A value becomes plain Python data. An entry becomes nothing (None), a `Pair`, or a sequence of pairs that may
        hold the entry itself: its new neighbours.
        """
        return self.together({node: new})

    def together(self, fix: Mapping[Node, object]) -> tuple[Edit, ...] | None:
        """The edits of several replacements at once, proved as a whole."""
        wanted: dict[Value | Entry, object] = {}
        for node, new in fix.items():
            if not isinstance(node, (Scalar, Array, Table, Entry)):
                return None
            wanted[node] = new
        from codemods.sources.config.edits import proposed
        from codemods.sources.config.style import site

        edits = proposed(site(self.path, self.text, self.format, self.roots), wanted)
        if not edits:
            return edits
        after = _compose(self.format, self.path, splice(self.text, edits))
        meant = {node: _become(new) if isinstance(node, Entry) else new for node, new in wanted.items()}
        intended = [plain(root, meant) for root in self.roots]
        return edits if not isinstance(after, Skip) and same([plain(root) for root in after], intended) else None


def _become(new: object) -> object:
    """What an entry becomes, as a sequence."""
    return () if new is None else (new,) if isinstance(new, (Pair, Entry)) else new


def read(path: str, text: str) -> Config | Skip:
    """The file by its suffix."""
    format = FORMATS.get(posixpath.splitext(path)[1].lower())
    if format is None:
        return Skip(path, SkipReason.UNPARSABLE, "line 1: neither YAML nor JSON nor TOML, by its name")
    roots = _compose(format, path, text)
    return roots if isinstance(roots, Skip) else Config(path, text, format, roots)


def _compose(format: str, path: str, text: str) -> tuple[Value, ...] | Skip:
    """The roots of a document; what reads a format is imported when the first one of it is met."""
    if format == "yaml":
        from codemods.sources.config.yaml_nodes import compose
    elif format == "json":
        from codemods.sources.config.json_nodes import compose
    else:
        from codemods.sources.config.toml_nodes import compose
    return compose(path, text)


def _walk(roots: tuple[Value, ...]) -> Iterator[tuple[Value | Entry, str]]:
    """Every value and entry with its label, parents first, in the order of the text."""
    for number, root in enumerate(roots, 1):
        todo: list[tuple[Value | Entry, str]] = [(root, "" if number == 1 else f"{number}:")]
        while todo:
            node, label = todo.pop()
            yield node, label
            if isinstance(node, Entry):
                todo.append((node.value, label))
            elif isinstance(node, Array):
                todo += [(item, f"{label}[{i}]") for i, item in reversed(list(enumerate(node.items)))]
            elif isinstance(node, Table):
                joint = "." if label and not label.endswith(":") else ""
                todo += [(entry, f"{label}{joint}{_named(entry)}") for entry in reversed(node.entries)]


def _named(entry: Entry) -> str:
    key = entry.key.value
    return str(key.value if isinstance(key, Key) else key)
