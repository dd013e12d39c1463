"""Comments survive a fix: what an edit takes away is put on lines of its own above the statement."""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace

from codemods.model.edits import Edit, Lines

_PRAGMA = re.compile(
    r"#+\s*(?:noqa\b|type:|pylint:|pyright:|mypy:|ruff:|isort:|fmt:|yapf:|pragma:|nosec\b|noinspection\b|fixer:|!|-\*-)",
    re.IGNORECASE,
)
"""Words to a tool about the line they stand on; on a line of their own they would say something else."""


def kept(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """The edits of one file, changed so that each comment that they would take away stands above its statement.

    Comments that speak to a tool (`# noqa`) go with the code that they are about. The edits are returned as they are
    where the text has no comments, or cannot be read as Python.
    """
    edits = list(edits)
    taking = [edit for edit in edits if "#" in text[edit.start : edit.end]]
    if not taking:
        return edits
    comments, logical = _comments(text)
    written = "\n".join(edit.text for edit in edits)
    newline = "\r\n" if "\r\n" in text else "\n"
    for edit in taking:
        lost = [text[a:b] for a, b in comments if edit.start <= a and b <= edit.end]
        lost = [comment for comment in lost if comment not in written and not _PRAGMA.match(comment)]
        above = logical[bisect_right(logical, edit.start) - 1]
        if not lost or any(other.start < above < other.end for other in edits):
            continue
        indent = text[above : len(text) - len(text[above:].lstrip(" \t"))]
        lines = "".join(f"{indent}{comment}{newline}" for comment in lost)
        at = next((n for n, other in enumerate(edits) if other.start == above), None)
        if at is None:
            edits.append(Edit(edit.path, above, above, lines))
        else:
            edits[at] = replace(edits[at], text=f"{lines}{edits[at].text}")
    return edits


def _comments(text: str) -> tuple[list[tuple[int, int]], list[int]]:
    """The spans of the comments of a program, and where its logical lines begin; nothing where it cannot be read."""
    starts = Lines(text).starts
    comments: list[tuple[int, int]] = []
    logical = [0]
    begun = False
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            row, column = token.start
            if token.type == tokenize.COMMENT:
                start = starts[row - 1] + column
                comments.append((start, start + len(token.string)))
            elif token.type == tokenize.NEWLINE:
                begun = False
            elif not begun and token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                begun = True
                logical.append(starts[row - 1])
    except (tokenize.TokenError, SyntaxError, IndexError):
        return [], [0]
    return comments, logical
