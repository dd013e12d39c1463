"""Syntax younger than the interpreter that runs us: `ast` refuses it, libcst reads it. Which Python would?"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator

import libcst as cst

from codemods.syntax.tree import text_of, walk

LONGEST_LINE = 10_000
DEEPEST = 100
"""libcst's parser ends the process on what is nested some thousand times, and here `ast` has not looked before it."""

Version = tuple[int, int]


def needed(text: str) -> str | None:
    """The oldest Python that reads a text which this one refuses, as `3.12`; None if none does."""
    if _too_deep(text):
        return None
    try:
        tree = cst.parse_module(text)
        version = max((version for node in walk(tree) for version in _constructs(node)), default=(3, 0))
    except (cst.ParserSyntaxError, RecursionError, MemoryError):
        return None
    return f"{version[0]}.{version[1]}" if version > sys.version_info[:2] else None


def _too_deep(text: str) -> bool:
    depth = deepest = 0
    for match in re.finditer(r"[(\[{]|[)\]}]", text):
        depth += 1 if match[0] in "([{" else -1
        deepest = max(depth, deepest)
    return deepest > DEEPEST or max(map(len, text.splitlines()), default=0) > LONGEST_LINE


def _constructs(node: cst.CSTNode) -> Iterator[Version]:
    """The versions that brought what is new in a node."""
    match node:
        case cst.TryStar():
            yield 3, 11
        case cst.TypeParameters():
            yield 3, 12
        case cst.TypeAlias():
            yield 3, 12
        case cst.TypeParam(default=cst.BaseExpression()):
            yield 3, 13
        case cst.TemplatedString():
            yield 3, 14
        case cst.ExceptHandler(type=cst.Tuple(lpar=[], elements=[*_, cst.Element(value=last)])):
            # `except IOError, e:` is Python 2
            if not (isinstance(last, cst.Name) and last.value.islower()):
                yield 3, 14
        case cst.FormattedString() if not _accepted(text_of(node)):
            yield 3, 12


def _accepted(expression: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(f"({expression})", mode="eval")
    except SyntaxError:
        return False
    return True
