"""Programs in which every local variable has another name, and so mean the same.

Renamed are local variables, and parameters that no call names by keyword and that belong to no method which a framework
calls. A name that a module or a class binds, that is imported, or that stands in a string stays.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence

HOOKS = re.compile(
    r"forward|backward|step|closure|compute_loss|configure_\w+|on_\w+|(?:training|validation|test|predict)_\w+|setup|"
    r"prepare_data|\w+_dataloader|optimizer_\w+|create_\w+|get_\w+|__\w+__|clip_gradients|manual_backward|log|jvp|vjp|"
    r"prediction_step"
)
"""Methods of classes with bases that a framework may call, with its own names for the arguments."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def renamed(texts: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The texts of a program with other names for its local variables, and which they are: old → new."""
    trees = {path: ast.parse(text) for path, text in texts.items()}
    kept = set(dir(builtins)) | set(keyword.kwlist) | {"self", "cls"}
    local: dict[str, None] = {}
    for tree in trees.values():
        kept |= set(_kept(tree))
        local |= dict.fromkeys(_local(tree))
    kept |= set(_spread_into(list(trees.values())))
    taken = {node.id for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.Name)}
    free = (name for number in range(10_000) if (name := f"v{number}") not in taken)
    names = {old: next(free) for old in local if old not in kept}
    return {path: _replaced(text, trees[path], names) for path, text in texts.items()}, names


def rewritten(text: str, names: Mapping[str, str]) -> str:
    """A text of the same program with the same names replaced."""
    return _replaced(text, ast.parse(text), names)


def _local(tree: ast.Module) -> Iterator[str]:
    """What functions bind, in source order."""
    for function in (node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)):
        for node in ast.walk(function):
            match node:
                case ast.arg(arg=name):
                    yield name
                case ast.Name(id=name, ctx=ast.Store()):
                    yield name


def _kept(tree: ast.Module) -> Iterator[str]:
    """The names that must stay: because others know them, or because they cannot be found by their place."""
    for node in ast.walk(tree):
        match node:
            case ast.Module() | ast.ClassDef():
                yield from _bound_outside(node)
            case ast.keyword(arg=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]
            case ast.Constant(value=str(text)):
                yield from re.findall(r"\w+", text) if len(text) < 200 else ()
            case ast.JoinedStr():
                yield from (n.id for n in ast.walk(node) if isinstance(n, ast.Name))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
        if isinstance(node, ast.ClassDef):
            yield node.name
            yield from _of_hooks(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name


def _spread_into(trees: Sequence[ast.Module]) -> Iterator[str]:
    """The parameters of functions that are called with `**`, which gives them by keyword."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    calls = (node for node in nodes if isinstance(node, ast.Call) and any(each.arg is None for each in node.keywords))
    called = {getattr(call.func, "attr", getattr(call.func, "id", "")) for call in calls}
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in called:
            yield from (each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg))


def _bound_outside(root: ast.Module | ast.ClassDef) -> Iterator[str]:
    """What a module or class binds outside of its functions."""
    waiting: list[ast.AST] = list(root.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            yield node.id
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
        elif not isinstance(node, ast.Lambda):
            waiting += node.decorator_list


def _of_hooks(klass: ast.ClassDef) -> Iterator[str]:
    """The parameters of methods that a framework calls."""
    for node in klass.body if klass.bases else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and HOOKS.fullmatch(node.name):
            yield from (each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg))


def _replaced(text: str, tree: ast.Module, names: Mapping[str, str]) -> str:
    """A text with its names replaced where they stand."""
    lines = text.splitlines(keepends=True)
    places: set[tuple[int, int, str]] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) if name in names:
                places.add((node.lineno, node.col_offset, name))
    for line, column, name in sorted(places, reverse=True):
        data = lines[line - 1].encode()
        assert data[column : column + len(name)].decode() == name, (line, column, name)
        lines[line - 1] = (data[:column] + names[name].encode() + data[column + len(name) :]).decode()
    return "".join(lines)
