"""The requirements of setup.py: its literals, also by way of a variable. Nothing is executed."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from codemods.sources import pip
from codemods.sources.requirement import Entry, Piece, Site, lines, python, quoted

_LITERAL = re.compile(r"""(?:[rR]|[uU])?('''|\"\"\"|'|")""")


def requirements(path: str, text: str) -> Iterator[Entry]:
    """What is written for `install_requires`, `extras_require` and `python_requires`.

    Raises:
        SyntaxError: if it is not Python that this interpreter reads.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    starts = _line_starts(text)
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(node.value)

    def strings(node: ast.expr, site: Site, seen: set[str]) -> Iterator[tuple[Piece, Site]]:
        match node:
            case ast.Constant(value=str(value)):
                yield _piece(text, starts, node, value), site
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                for part in parts:
                    yield from strings(part, site, seen)
            case ast.BinOp(left=left, op=ast.Add(), right=right) if not (_is_text(left) or _is_text(right)):
                yield from strings(left, site, seen)
                yield from strings(right, site, seen)
            case ast.Starred(value=inner):
                yield from strings(inner, site, seen)
            case ast.Dict(values=parts):
                for part in parts:
                    yield from strings(part, site, seen)
            case ast.Name(id=name) if name not in seen:
                seen.add(name)
                bound = values.get(name, [])
                for expression in bound:
                    inner_site = site.under(f"one of {len(bound)}") if bound[1:] else site
                    yield from strings(expression, inner_site, seen)

    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _called(call.func) == "setup":
            for keyword in call.keywords:
                if keyword.arg in ("install_requires", "extras_require"):
                    site = Site(keyword.arg, "" if keyword.arg == "install_requires" else "extra")
                    for piece, where in strings(keyword.value, site, set()):
                        for line in lines(piece):
                            yield from pip.item(line, where)
                elif keyword.arg == "python_requires":
                    for piece, where in strings(keyword.value, Site("python_requires"), set()):
                        yield python(piece, where)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _called(function: ast.expr) -> str | None:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)


def _line_starts(text: str) -> list[tuple[int, str]]:
    """Offset and text of each line, as Python counts them."""
    found, start = [], 0
    for line in re.split(r"(?<=\n)|(?<=\r)(?!\n)", text):
        found.append((start, line))
        start += len(line)
    return found


def _piece(text: str, starts: list[tuple[int, str]], node: ast.Constant, value: str) -> Piece:
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
