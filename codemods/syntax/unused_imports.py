"""Imports taken out of a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import libcst as cst

from codemods.model.edits import Edit, Skip, Unreadable
from codemods.syntax import comments
from codemods.syntax.rewrite import Replacement, closing
from codemods.syntax.rewriting import edit_of
from codemods.syntax.tree import parse, spans, text_of, walk


def without(path: str, text: str, names: Iterable[str]) -> list[Edit]:
    """The edits that take the imports of `names` out of a file; none where libcst cannot read it."""
    tree = parse(path, text)
    if isinstance(tree, Skip):
        return []
    replacements = drop(tree, names)
    try:
        where = spans(path, text, tree, replacements)
    except Unreadable:
        return []
    edits = [edit_of(path, text, tree, node, new, where[node]) for node, new in replacements.items()]
    return comments.kept(text, edits)


def drop(module: cst.Module, names: Iterable[str]) -> dict[cst.CSTNode, Replacement]:
    """Replacements that remove the imports of `names`, except in lines with a `# noqa` comment."""
    gone = set(names)
    found: dict[cst.CSTNode, Replacement] = {}
    for line in walk(module):
        if not isinstance(line, cst.SimpleStatementLine):
            continue
        if not any(isinstance(statement, (cst.Import, cst.ImportFrom)) for statement in line.body):
            continue
        if re.search(r"#.*\bnoqa\b", text_of(line), re.IGNORECASE):
            continue
        body = [left for statement in line.body if (left := _without(statement, gone)) is not None]
        if not body:
            found[line] = None
        elif len(body) < len(line.body):
            body[-1] = body[-1].with_changes(semicolon=line.body[-1].semicolon)
            found[line] = line.with_changes(body=body)
        else:
            found |= {old: new for old, new in zip(line.body, body, strict=True) if old is not new}
    return found


def _without(statement: cst.BaseSmallStatement, gone: Collection[str]) -> cst.BaseSmallStatement | None:
    """A small statement, if it is an import, without what binds these names; None where nothing is left of it."""
    if not isinstance(statement, (cst.Import, cst.ImportFrom)) or isinstance(statement.names, cst.ImportStar):
        return statement
    kept = [a for a in statement.names if _bound(a, statement) not in gone]
    if len(kept) == len(statement.names) or not kept:
        return statement if kept else None
    kept[-1] = closing(kept[-1], statement.names[-1])
    return statement.with_changes(names=kept)


def _bound(alias: cst.ImportAlias, statement: cst.Import | cst.ImportFrom) -> str:
    name = alias.evaluated_alias or alias.evaluated_name
    return name if isinstance(statement, cst.ImportFrom) or alias.asname else name.partition(".")[0]
