"""The requirements of setup.py: its literals, also by way of a variable. Nothing is executed."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.sources.manifest import pip
from codemods.sources.manifest.requirement import Entry, Piece, RequirementList, lines, python, quoted

_LITERAL = re.compile(r"""(?:[rR]|[uU])?('''|\"\"\"|'|")""")


@dataclass(frozen=True, slots=True)
class _Program:
    text: str
    starts: list[tuple[int, str]]
    """Offset and text of each line."""
    given: dict[str, list[ast.expr]]
    """What names are set to."""
    added: dict[str, list[ast.expr]]
    """What is added to names, perhaps under a condition."""


def requirements(path: str, text: str) -> Iterator[Entry]:
    """What is written for `install_requires`, `extras_require` and `python_requires`.

    Raises:
        SyntaxError: if it is not Python that this interpreter reads.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    program = _Program(text, _line_starts(text), *_bound(tree))
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _called(call.func) == "setup":
            for keyword in call.keywords:
                if keyword.arg in ("install_requires", "extras_require"):
                    site = RequirementList(keyword.arg, "" if keyword.arg == "install_requires" else "extra")
                    for piece, where in _strings(program, keyword.value, site, set()):
                        for line in lines(piece):
                            yield from pip.item(line, where)
                elif keyword.arg == "python_requires":
                    for piece, where in _strings(program, keyword.value, RequirementList("python_requires"), set()):
                        yield python(piece, where)


def _strings(
    program: _Program, node: ast.expr, site: RequirementList, seen: set[str]
) -> Iterator[tuple[Piece, RequirementList]]:
    """The literals that an expression consists of, names followed, each with the conditions on the way."""
    parts: list[tuple[ast.expr, RequirementList]] = []
    match node:
        case ast.Constant(value=str(value)):
            yield _piece(program, node, value), site
        case ast.List(elts=inner) | ast.Tuple(elts=inner) | ast.Set(elts=inner) | ast.Dict(values=inner):
            parts = [(part, site) for part in inner]
        case ast.BinOp(left=left, op=ast.Add(), right=right) if not (_is_text(left) or _is_text(right)):
            parts = [(left, site), (right, site)]
        case ast.IfExp(body=one, orelse=other):
            parts = [(each, site.under("one of 2")) for each in (one, other)]
        case ast.Starred(value=starred):
            parts = [(starred, site)]
        case ast.Name(id=name) if name not in seen:
            seen.add(name)
            given = program.given.get(name, ())
            parts = [(each, site.under(f"one of {len(given)}") if len(given) > 1 else site) for each in given]
            parts += [(each, site.under("added")) for each in program.added.get(name, ())]
    for part, where in parts:
        yield from _strings(program, part, where, seen)


def _bound(tree: ast.Module) -> tuple[dict[str, list[ast.expr]], dict[str, list[ast.expr]]]:
    """Name → what it is set to; name → what is added to it."""
    given: dict[str, list[ast.expr]] = {}
    added: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, ast.Name):
                        given.setdefault(target.id, []).append(value)
                    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                        added.setdefault(target.value.id, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                given.setdefault(name, []).append(value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                added.setdefault(name, []).append(value)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend"), args=[value]):
                added.setdefault(name, []).append(value)
    return given, added


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _called(function: ast.expr) -> str | None:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)


def _line_starts(text: str) -> list[tuple[int, str]]:
    """Each line as Python counts them."""
    found, start = [], 0
    for line in re.split(r"(?<=\n)|(?<=\r)(?!\n)", text):
        found.append((start, line))
        start += len(line)
    return found


def _piece(program: _Program, node: ast.Constant, value: str) -> Piece:
    text, starts = program.text, program.starts
    start, end = (
        starts[line - 1][0] + len(starts[line - 1][1].encode()[:column].decode(errors="ignore"))
        for line, column in ((node.lineno, node.col_offset), (node.end_lineno or 1, node.end_col_offset or 0))
    )
    opening = _LITERAL.match(text, start)
    if opening is None:
        return Piece(value, start, end, verbatim=False)
    inner = text[opening.end() : end - len(opening[1])]
    if inner != value and inner.replace("\r\n", "\n") == value:
        value = inner  # Python reads every line end as a line feed
    return quoted(text, opening.end(), end - len(opening[1]), 0, value)
