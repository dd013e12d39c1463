"""What changes in files, as edits that an editor applies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from lsprotocol import types

from codemods.model.edits import Edit, Skip, trim
from codemods.sources import files
from fixer.lsp.documents import EditorText, OpenFile, Snapshot
from fixer.report.diff import differences

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def workspace_edit(
    opened: Snapshot, root: Path, changed: Mapping[str, tuple[bytes, bytes]], *, versioned: bool
) -> types.WorkspaceEdit | None:
    """The edits that turn files into others; None where one cannot be written as edits of texts.

    Args:
        changed: the bytes of each file before and after.
        versioned: the client takes the versions of documents, and refuses edits of a text that has changed since.
    """
    by_part: list[tuple[EditorText, list[types.TextEdit]]] = []
    for path, (before, after) in changed.items():
        parts = _parts(opened, root, path, before, after)
        if parts is None:
            return None
        by_part += ((part, edits) for part, text in parts if (edits := list(_edits(part, text))))
    return of_parts(by_part, versioned=versioned) if by_part else None


def of_parts(edits: Sequence[tuple[EditorText, list[types.TextEdit]]], *, versioned: bool) -> types.WorkspaceEdit:
    """Edits of some texts, for the client to apply together."""
    if not versioned:
        return types.WorkspaceEdit(changes={part.uri: inside for part, inside in edits})
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(part.uri, part.version), inside)
            for part, inside in edits
        ]
    )


def _parts(opened: Snapshot, root: Path, path: str, before: bytes, after: bytes) -> list[tuple[EditorText, str]] | None:
    """The texts of a file that the editor can change, each with what it is to be."""
    if path.endswith(files.NOTEBOOK):
        return _cells(opened.find(root, path), after)
    part, unit = opened.part(root, path, before), files.decode(path, after)
    return None if part is None or isinstance(unit, Skip) else [(part, unit.text)]


def _cells(file: OpenFile | None, after: bytes) -> list[tuple[EditorText, str]] | None:
    from codemods.sources.notebook import cells

    if file is None:
        return None
    return [(file.parts[number], source) for number, source in cells(after) if number in file.parts]


def _edits(part: EditorText, after: str) -> Iterator[types.TextEdit]:
    """The smallest edits, line by line, that turn a text into another."""
    old, new = _LINE.findall(part.text), _LINE.findall(after)
    starts = [0, *accumulate(map(len, old))]
    spans = differences([line.encode("utf-8", "surrogatepass") for line in old], [line.encode() for line in new])
    for a0, a1, b0, b1 in sorted(spans):
        edit = trim(Edit("", starts[a0], starts[a1], "".join(new[b0:b1])), part.text)
        yield types.TextEdit(types.Range(part.at(edit.start), part.at(edit.end)), edit.text)
