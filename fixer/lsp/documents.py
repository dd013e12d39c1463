"""What the editor has open: documents and notebooks as files of a tree, and places in them as the editor counts."""

from __future__ import annotations

import io
import json
import os
import re
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import PositionCodec, ServerTextPosition, TextDocument, Workspace

from codemods.model.edits import Skip
from codemods.sources import files
from fixer.git.command import top
from fixer.project.discover import root_of

_LINE_END = re.compile(r"\r\n|\n|\r")


class LspTextDocument(TextDocument):
    """A text document whose lines end where the protocol says so, and not at form feeds or Unicode separators."""

    @property
    def lines(self) -> Sequence[str]:
        """The lines with their ends."""
        return tuple(re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+", self.source))


def adopt(workspace: Workspace, uri: str) -> None:
    """Let a document that the client has opened count its lines as the protocol does."""
    plain = workspace.text_documents.get(unquote(uri))
    if plain is not None:
        workspace.text_documents[unquote(uri)] = LspTextDocument(
            plain.uri,
            plain.source,
            plain.version,
            plain.language_id,
            position_codec=workspace.position_codec,
        )


@dataclass(frozen=True, slots=True)
class EditorText:
    """A text that the editor knows by a URI: a file, or a cell of a notebook."""

    uri: str
    version: int | None
    text: str
    codec: PositionCodec

    def position(self, line: int, column: int) -> types.Position:
        """A line and column, from 1, as the editor counts: from 0, and columns in units of the agreed encoding."""
        lines = _LINE_END.split(self.text)
        place = ServerTextPosition(min(line, len(lines)) - 1, column - 1)
        return self.codec.position_to_client_units(lines, place)

    def end_of(self, line: int) -> types.Position:
        """The end of a line, from 1."""
        return self.position(line, len(_LINE_END.split(self.text)[line - 1]) + 1)

    def at(self, offset: int) -> types.Position:
        """An offset into the text, as the editor counts."""
        ends = [match.end() for match in _LINE_END.finditer(self.text, 0, offset)]
        if self.text[offset - 1 : offset + 1] == "\r\n":
            ends.pop()
        return self.position(len(ends) + 1, offset - (ends[-1] if ends else 0) + 1)


@dataclass(frozen=True, slots=True)
class FilePlace:
    """The tree that a file belongs to, and its path there."""

    root: Path
    path: str
    alone: bool = False
    """Nobody said how far the project reaches: no repository, no folder that is open. Its directory is looked at."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that the editor has open, as it stands there now."""

    uri: str
    """Of the document, or of the whole notebook."""
    place: FilePlace
    data: bytes
    parts: Mapping[int | None, EditorText]
    """A notebook by the numbers of its cells, any other file by None."""

    @property
    def root(self) -> Path:
        """The root of the tree."""
        return self.place.root

    @property
    def path(self) -> str:
        """The path in the tree."""
        return self.place.path

    @property
    def versions(self) -> tuple[tuple[str, int | None], ...]:
        """What tells this state of the file from others."""
        return tuple((part.uri, part.version) for part in self.parts.values())


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All open files at one moment. Another thread may read it."""

    files: tuple[OpenFile, ...]
    codec: PositionCodec

    def find(self, root: Path, path: str) -> OpenFile | None:
        """The open file of that path."""
        return next((file for file in self.files if (file.root, file.path) == (root, path)), None)

    def texts(self, root: Path) -> Mapping[str, bytes]:
        """What the open files of a tree hold, by path."""
        return {file.path: file.data for file in self.files if file.root == root}

    def part(self, root: Path, path: str, before: bytes) -> EditorText | None:
        """The text of a file, open or not, that holds these bytes; None for a notebook, and where it is no text."""
        if (file := self.find(root, path)) is not None:
            return file.parts.get(None)
        unit, uri = files.decode(path, before), from_fs_path(str(root / path))
        if uri is None or isinstance(unit, Skip) or path.endswith(files.NOTEBOOK):
            return None
        return EditorText(uri, None, unit.text, self.codec)


class OpenFiles:
    """The files of a client's workspace that are open now."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._places: dict[str, FilePlace | None] = {}

    def snapshot(self) -> Snapshot:
        """All of them."""
        known = (*self._workspace.notebook_documents.values(), *self._workspace.text_documents.values())
        found = {file.uri: file for document in known if (file := self.get(document.uri)) is not None}
        return Snapshot(tuple(found.values()), self._workspace.position_codec)

    def get(self, uri: str) -> OpenFile | None:
        """The file behind the URI of a document, a notebook, or a cell; None where it is not open, or not a file.

        A notebook that the client sends as text (its JSON) is passed over.
        """
        workspace = self._workspace
        notebook = workspace.get_notebook_document(notebook_uri=uri) or workspace.get_notebook_document(cell_uri=uri)
        if notebook is not None:
            return self._notebook(notebook)
        document = workspace.text_documents.get(unquote(uri))
        place = self._place(uri) if document is not None else None
        if document is None or place is None or place.path.endswith(files.NOTEBOOK):
            return None
        data = _encoded(place.path, document.source)
        return OpenFile(document.uri, place, data, {None: self._part(document)})

    def forget(self, uri: str) -> None:
        """Look anew where a document lies: directories may have been made meanwhile."""
        self._places.pop(uri, None)

    def _notebook(self, notebook: types.NotebookDocument) -> OpenFile | None:
        place = self._place(notebook.uri)
        if place is None:
            return None
        cells: list[dict[str, object]] = []
        parts: dict[int | None, EditorText] = {}
        for number, cell in enumerate(notebook.cells, start=1):
            document = self._workspace.text_documents.get(unquote(cell.document))
            python = cell.kind == types.NotebookCellKind.Code and getattr(document, "language_id", "") == "python"
            text = document.source if document is not None else ""
            cells.append({"cell_type": "code" if python else "markdown", "metadata": {}, "source": text})
            if document is not None and python:
                parts[number] = self._part(document)
        content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        return OpenFile(notebook.uri, place, json.dumps(content).encode(), parts)

    def _part(self, document: TextDocument) -> EditorText:
        return EditorText(document.uri, document.version, document.source, self._workspace.position_codec)

    def _place(self, uri: str) -> FilePlace | None:
        """Where a file lies; None for what is not a file, or lies in no directory that is there."""
        if uri not in self._places:
            try:
                self._places[uri] = self._looked_up(uri)
            except (OSError, ValueError):
                self._places[uri] = None
        return self._places[uri]

    def _looked_up(self, uri: str) -> FilePlace | None:
        name = to_fs_path(uri)
        if not name or "\0" in name or not Path(name).is_absolute():
            return None
        place = Path(os.path.realpath(name))
        if not place.parent.is_dir():
            return None
        folder = next((folder for folder in self._folders() if place.is_relative_to(folder)), None)
        root = root_of((str(place),), folder or place.parent)
        if top(root) is None and (folder is None or root in (Path.home(), Path(root.anchor))):
            return FilePlace(place.parent, place.name, alone=True)
        return FilePlace(root, place.relative_to(root).as_posix())

    def _folders(self) -> Sequence[Path]:
        """The folders that the editor has open, the innermost first."""
        uris = [*self._workspace.folders, *([self._workspace.root_uri] if self._workspace.root_uri else [])]
        places = {Path(os.path.realpath(place)) for uri in uris if (place := to_fs_path(uri))}
        return sorted(places, key=lambda place: -len(place.parts))


def _encoded(path: str, text: str) -> bytes:
    """The bytes that a file with this text would hold."""
    data = text.encode("utf-8", "surrogatepass")
    if files.is_python(path):
        try:
            return text.encode(tokenize.detect_encoding(io.BytesIO(data).readline)[0])
        except (SyntaxError, LookupError, UnicodeError):
            pass
    return data
