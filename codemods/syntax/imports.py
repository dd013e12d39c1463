"""Imports are needs, not edits: satisfy what new code needs, drop what our edits orphaned."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from codemods.model.edits import Edit, Need
from codemods.model.names import canonical
from codemods.syntax.facts import Facts, Import

FAR = 3
"""More lines than these between two imports, and the second is not one of the first of a module."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


def spelling(facts: Facts, dotted: str, scope: str, line: int) -> tuple[str, Need | None] | None:
    """How to write a library object in a scope: by the imports in force there, else with an import that it needs.

    Args:
        scope: qualified name of the scope.
        line: on which the statement of the module begins that holds the place; imports below it do not count.

    Returns:
        None where its name is taken by something else.
    """
    best: tuple[tuple[int, int], str] | None = None
    for i in facts.imports:
        if i.type_checking or i.conditional or i.name == "*" or facts.rebound.get(i.name):
            continue
        if not _visible(facts, i, scope) or (not i.scope and i.line > line):
            continue
        if any(other.target != i.target and _visible(facts, other, scope) for other in facts.named(i.name)):
            continue
        if i.target == dotted or canonical(i.target) == canonical(dotted):
            written = i.name
        elif dotted.startswith(i.target + "."):
            written = i.name + dotted[len(i.target) :]
        else:
            continue
        rank = (written.count("."), len(written))
        if best is None or rank < best[0]:
            best = (rank, written)
    if best is not None:
        return best[1], None
    package = dotted.partition(".")[0]
    if facts.rebound.get(package) or any(i.target != package for i in facts.named(package)):
        return None
    return dotted, Need(package, scope=scope)


def _visible(facts: Facts, i: Import, scope: str) -> bool:
    """Whether what an import binds is seen in a scope: from inside a function, but not from inside a class."""
    return i.scope in ("", scope) or (i.scope not in facts.classes and scope.startswith(f"{i.scope}."))


def satisfy(
    path: str, text: str, facts: Facts, need: Need, scopes: Sequence[str] = ("",), line: int | None = None
) -> Edit | None:
    """The edit that makes `need.statement` hold, as narrow as the package's own imports; None if nothing is missing.

    `scopes` are the qualified names of the scopes around the use, innermost first, ending with "" for the module.
    `line` is the first one that needs it: an import below comes too late, as in a notebook that imports cell by cell.
    """
    above = [i for i in facts.imports if not i.type_checking and (line is None or i.line <= line)]
    if any(_binds(i, need) and i.scope in scopes for i in above):
        return None
    lines = _LINE.findall(text)
    here = [i for i in above if not i.conditional and _leads(i, lines)]
    same = [i for i in here if i.scope in scopes and _package(i.target) == need.package]
    if same and all(i.scope for i in same):
        scope = next(s for s in scopes if any(i.scope == s for i in same))
        last = max((i for i in same if i.scope == scope), key=lambda i: i.end_line)
        indent = lines[last.line - 1][: last.column]
        return _line(path, lines, last.end_line, f"{indent}{need.statement}")
    top = [i for i in here if not i.scope and i.end_line > facts.header]
    return _line(path, lines, *(_among(top, need, lines) if top else _alone(facts.header, need, lines)))


def _line(path: str, lines: Sequence[str], number: int, written: str, before: str = "", after: str = "") -> Edit:
    """A line of its own after so many others, with line ends like theirs; an empty line before or after it perhaps."""
    ends = [line[len(line.rstrip("\r\n")) :] for line in lines]
    newline = next(filter(None, ends), "\n")
    offset = sum(map(len, lines[:number]))
    if number and not ends[number - 1]:  # the file ends without a newline, and goes on doing so
        return Edit(path, offset, offset, f"{newline}{before and newline}{written}", shared=True)
    return Edit(path, offset, offset, f"{before and newline}{written}{newline}{after and newline}", shared=True)


def _among(imports: Iterable[Import], need: Need, lines: Sequence[str]) -> tuple[int, str, str, str]:
    """Where isort would have a new import among the first ones of a module: number of lines before, text, blank lines.

    In the block of its package, else of its section; plain imports come before `from` and are sorted, unless the
    block mixes them.
    """
    blocks = _blocks(imports, lines)
    section = _section(need.module)
    own = [b for b in blocks if any(_package(i.target) == need.package for i in b)]
    own = own or [b for b in blocks if any(_section(i.target) == section for i in b)]
    if not own:
        earlier = [b for b in blocks if all(_section(i.target) < section for i in b)]
        if earlier:
            return earlier[-1][-1].end_line, need.statement, "blank", ""
        return blocks[0][0].line - 1, need.statement, "", "blank"
    block = [i for i in own[0] if _section(i.target) == section] or own[0]
    mixed = any(_is_from(a, lines) and not _is_from(b, lines) for a, b in pairwise(block))

    def key(is_from: bool, module: str) -> tuple[bool, str, bool]:
        return (is_from and not mixed, module.lower(), is_from)

    mine = key(need.name is not None, need.module)
    after = [i for i in block if key(_is_from(i, lines), _module(i, lines)) <= mine]
    if after:
        return after[-1].end_line, need.statement, "", ""
    return block[0].line - 1, need.statement, "", ""


def _alone(header: int, need: Need, lines: Sequence[str]) -> tuple[int, str, str, str]:
    """Where the first import of a module goes: below its docstring and `__future__` imports, or its first comments."""
    number = header
    while not header and number < len(lines) and lines[number].startswith("#"):
        number += 1
    above, below = lines[number - 1 : number] if number else [], lines[number : number + 1]
    before = "blank" if above and above[0].strip() and not above[0].startswith("#!") else ""
    return number, need.statement, before, "blank" if below and below[0].strip() else ""


def _blocks(imports: Iterable[Import], lines: Sequence[str]) -> list[list[Import]]:
    """The first imports of a module, in groups between empty lines; an import far below, after code, is not of them."""
    first, *others = sorted(imports, key=lambda i: i.line)
    blocks = [[first]]
    for each in others:
        last = blocks[-1][-1]
        between = lines[last.end_line : each.line - 1]
        if len(between) > FAR:
            break
        if all(line.strip() for line in between):
            blocks[-1].append(each)
        else:
            blocks.append([each])
    return blocks


def _section(target: str) -> int:
    """isort's sections, as far as a name tells: standard library, others, relative."""
    return 2 if target.startswith(".") else int(_package(target) not in sys.stdlib_module_names)


def _leads(i: Import, lines: Sequence[str]) -> bool:
    """Whether the import is the first thing on its line."""
    return not lines[i.line - 1][: i.column].strip()


def _is_from(i: Import, lines: Sequence[str]) -> bool:
    return lines[i.line - 1].lstrip().startswith("from")


def _module(i: Import, lines: Sequence[str]) -> str:
    if i.name == "*" or not _is_from(i, lines):
        return i.path or i.target
    return i.target.rpartition(".")[0]


def _binds(i: Import, need: Need) -> bool:
    if need.name:
        return i.name == need.name and i.target == f"{need.module}.{need.name}"
    if "." in need.module:
        return i.dotted and i.path == need.module
    return i.name == need.module and i.target == need.module


def _package(target: str) -> str:
    return target.partition(".")[0]


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
        and not after.rebound.get(i.name)
        and not any(other.type_checking or other.conditional for other in after.named(i.name))
        and any(b.name == i.name and b.target == i.target for b in before.imports)
    )
    return found - _quoted(text) if found else found


_LOOKS_UP = frozenset({"cast", "getattr", "eval", "ForwardRef", "TypeVar", "NewType", "globals", "locals", "vars"})
"""What makes a name of a string."""


_RUNS = frozenset({"eval", "exec", "compile", "instantiate"})
"""What runs a string: where one of these is called with something, any string of the program may be given to it."""


def _quoted(text: str) -> set[str]:
    """The names in strings that a program may evaluate: annotations, type expressions, `globals()["name"]`."""
    names: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    runs = any(isinstance(node, ast.Call) and node.args and _last(node.func) in _RUNS for node in ast.walk(tree))
    for node in ast.walk(tree):
        for part in [node] if runs and isinstance(node, ast.Constant) else _evaluated(node):
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
