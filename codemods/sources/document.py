"""What every source gives the engine: text and the way back to bytes; where it is not Python, nodes with spans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from codemods.model.edits import Edit


class Reader(Protocol):
    """How the pure core sees files: a work tree, a commit, or a dictionary in a test. Paths are POSIX, relative to
    one root, which itself is ""."""

    def read(self, path: str, /) -> bytes | None:
        """The bytes of a regular file, None where there is none."""

    def exists(self, path: str, /) -> bool: ...

    def files(self) -> Sequence[str]:
        """Every file that may be read, sorted."""


class Unit(Protocol):
    """Decoded text of one unit: a file, or a part of one that is a program of its own."""

    @property
    def path(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def notes(self) -> Sequence[str]:
        """What was left out while decoding, as sentences."""

    @property
    def unread(self) -> frozenset[str]:
        """The words that stand in what was left out: names that may be used there."""

    def encode(self, text: str, /) -> bytes:
        """The bytes of the file with `text` in place of the unit's own.

        Raises:
            ValueError: with a sentence, if the file cannot hold the text.
        """

    def position(self, offset: int, /) -> tuple[int | None, int, int]:
        """Cell of a notebook (else None), line and column of an offset into `text`, each from 1."""

    def file_line(self, offset: int, /) -> int:
        """The line of the file itself, from 1."""


class Node(Protocol):
    """A part of a document, at `text[start:end]`."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


class Document(Protocol):
    """A file that is not Python, read: immutable plain data. A node is known by its identity."""

    @property
    def path(self) -> str: ...

    @property
    def text(self) -> str: ...

    def nodes(self) -> Iterator[Node]:
        """Everything that a rule may register on, the document itself first."""

    def together(self, fix: Mapping[Any, object], /) -> tuple[Edit, ...] | None:
        """The minimal edits that turn nodes into their replacements; None where that cannot surely be done."""

    def label(self, node: Node, /) -> str:
        """Where a node stands, without line numbers: `trainer.precision`."""
