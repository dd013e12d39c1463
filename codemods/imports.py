"""Imports are needs, not edits: satisfy what new code needs, drop what our edits orphaned."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence

import libcst as cst

from codemods.edits import Edit
from codemods.facts import Facts, Import
from codemods.rule import Need, Replacement
from codemods.tree import walk


def satisfy(path: str, text: str, facts: Facts, need: Need, scopes: Sequence[str] = ("",)) -> Edit | None:
    """The edit that makes `need.statement` hold, as narrow as the package's own imports; None if nothing is missing.

    `scopes` are the qualified names of the scopes around the use, innermost first, ending with "" for the module.
    """
    if any(_binds(i, need) and i.scope in scopes and not i.type_checking for i in facts.imports):
        return None
    package = need.module.partition(".")[0]
    here = [i for i in facts.imports if not i.type_checking and not i.conditional]
    local = [i for i in here if i.scope in scopes and i.scope and _package(i) == package]
    if local and not any(not i.scope and _package(i) == package for i in here):
        scope = next(s for s in scopes if any(i.scope == s for i in local))
        return _after(path, text, max((i for i in local if i.scope == scope), key=lambda i: i.end_line), need)
    top = [i for i in here if not i.scope and i.end_line > facts.header]
    same = [i for i in top if _package(i) == package]
    if same:
        return _after(
            path, text, max(same, key=lambda i: i.end_line) if need.name else same[0], need, need.name is None
        )
    if top:
        first = _leading(top)
        return _after(path, text, first[-1], need)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    header = facts.header
    if not header:
        while header < len(lines) and lines[header].startswith("#"):
            header += 1
    offset = sum(map(len, lines[:header]))
    lead = newline if header and lines[header - 1].strip() and not lines[header - 1].startswith("#!") else ""
    if offset and not text[:offset].endswith(("\n", "\r")):
        lead = newline * 2
    rest = lines[header : header + 1]
    tail = newline if rest and rest[0].strip() else ""
    return Edit(path, offset, offset, f"{lead}{need.statement}{newline}{tail}", shared=True)


def _leading(imports: Sequence[Import]) -> list[Import]:
    """The first run of imports, so that an import far down (after code) does not attract new ones."""
    ordered = sorted(imports, key=lambda i: i.line)
    run = [ordered[0]]
    for each in ordered[1:]:
        if each.line - run[-1].end_line > 3:
            break
        run.append(each)
    return run


def _binds(i: Import, need: Need) -> bool:
    if need.name:
        return i.name == need.name and i.target == f"{need.module}.{need.name}"
    if "." in need.module:
        return i.dotted and i.path == need.module
    return i.name == need.module and i.target == need.module


def _package(i: Import) -> str:
    return i.target.partition(".")[0]


def _after(path: str, text: str, anchor: Import, need: Need, before: bool = False) -> Edit:
    """A line of its own after (or before) the statement of `anchor`, at its indentation."""
    lines = text.splitlines(keepends=True)
    newline = "\r\n" if lines[anchor.line - 1].endswith("\r\n") else "\n"
    number = anchor.line - 1 if before else anchor.end_line
    offset = sum(map(len, lines[:number]))
    indent = lines[anchor.line - 1][: anchor.column]
    if indent.strip():  # the import shares its line with other code
        indent = indent[: len(indent) - len(indent.lstrip())]
    lead = "" if not offset or text[:offset].endswith(("\n", "\r")) else newline
    return Edit(path, offset, offset, f"{lead}{indent}{need.statement}{newline}", shared=True)


def orphans(path: str, before: Facts, after: Facts, text: str) -> frozenset[str]:
    """Imported names that were read in `before` and are no longer in `after`: our edits took their last use.

    A name that still stands in a string that may be evaluated (an annotation, perhaps) is kept.
    """
    if path.rpartition("/")[2] == "__init__.py":
        return frozenset()
    found = frozenset(
        i.name
        for i in after.imports
        if before.loads.get(i.name)
        and not after.loads.get(i.name)
        and i.name not in before.exports
        and not i.type_checking
        and i.name != "*"
        and any(b.name == i.name and b.target == i.target for b in before.imports)
    )
    return found - _quoted(text) if found else found


_LOOKS_UP = frozenset({"cast", "getattr", "eval", "ForwardRef", "TypeVar", "NewType", "globals", "locals", "vars"})
"""What makes a name of a string."""


def _quoted(text: str) -> set[str]:
    """The names in strings that a program may evaluate: annotations, type expressions, `globals()["name"]`."""
    names: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    for node in ast.walk(tree):
        for part in _evaluated(node):
            for each in ast.walk(part):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    names |= set(re.findall(r"\w+", each.value))
    return names


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node in which a string stands for what it says."""
    for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
        if isinstance(part, ast.AST):
            yield part
    if isinstance(node, ast.Call) and _last(node.func) in _LOOKS_UP:
        yield from node.args
    if isinstance(node, ast.Subscript):
        called = node.value.func if isinstance(node.value, ast.Call) else node.value
        if _last(called) in _LOOKS_UP or _last(called)[:1].isupper():
            yield node.slice


def _last(node: ast.AST) -> str:
    return getattr(node, "attr", "") or getattr(node, "id", "")


def drop(module: cst.Module, names: Iterable[str]) -> dict[cst.CSTNode, Replacement]:
    """Replacements that remove the imports of `names`, except in lines with a `# noqa` comment."""
    gone = set(names)
    found: dict[cst.CSTNode, Replacement] = {}
    for line in walk(module):
        if not isinstance(line, cst.SimpleStatementLine):
            continue
        comment = line.trailing_whitespace.comment
        if comment is not None and "noqa" in comment.value.lower():
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
    kept[-1] = kept[-1].with_changes(comma=statement.names[-1].comma)
    return statement.with_changes(names=kept)


def _bound(alias: cst.ImportAlias, statement: cst.Import | cst.ImportFrom) -> str:
    name = alias.evaluated_alias or alias.evaluated_name
    return name if isinstance(statement, cst.ImportFrom) or alias.asname else name.partition(".")[0]
