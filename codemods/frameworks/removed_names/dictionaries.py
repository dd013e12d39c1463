"""The arguments that `**` gives a call, wherever in the file they are written: `**dict(gpus=2)`, `kw["gpus"] = 2`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from codemods.analysis.calls import binder
from codemods.analysis.definitions import uses
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import PossibleValue, possible_values
from codemods.flow.answers import Answer, question, unknown, unless, yes

Holder = ast.Dict | ast.Call | ast.Subscript
"""A display, a call (`dict(gpus=2)`, `kw.update(gpus=2)`), or an item that is set."""

FILLING = frozenset({"update", "setdefault"})
"""Methods that put arguments into a dictionary."""


@dataclass(frozen=True, slots=True)
class Written:
    """One argument of a dictionary."""

    name: str
    node: ast.expr | ast.keyword
    """The key, or the keyword of `dict(…)`."""
    value: ast.expr
    holder: Holder


def written(ctx: PythonContext, spread: ast.expr) -> list[tuple[Written, Answer]]:
    """The arguments that a dictionary holds where `**` spreads it, each with whether the call surely gets it."""
    displays = _displays(ctx, spread)
    found: list[tuple[Written, Answer]] = []
    for display in displays:
        keys = list(_keys(ctx, display, set()))
        sure = only_this_call_reads_it(ctx, spread, display) if keys and len(displays) == 1 else None
        found += [(each, sure if sure is not None and each.holder is display else _open(ctx, each)) for each in keys]
    found += [(each, _open(ctx, each)) for each in _changes(ctx, spread)]
    gone = _taken_away(ctx, spread) if found else ()
    return [(each, answer) for each, answer in found if each.name not in gone]


def _open(ctx: PythonContext, each: Written) -> Answer:
    return unknown(ctx.evidence(each.holder, "whether the call gets this as it is written here is not known"))


@question
def only_this_call_reads_it(ctx: PythonContext, spread: ast.expr, written: ast.expr) -> Answer:
    """Whether a dictionary is spread into one call, and nothing else may change or read it."""
    if spread is written:
        return yes()
    name = ctx.name(spread)
    if name is None or "." in name:
        return unknown(ctx.evidence(spread, "something else may change these arguments"))
    scope = binder(ctx, name, spread)
    if isinstance(scope, ast.Module) and ctx.index.imported_elsewhere(ctx.path, name):
        return unknown(ctx.evidence(written, f"`{name}` is read in another file"))
    others = (node for node in readers(ctx, spread) if node is not spread)
    return unless(ctx.evidence(node, f"`{name}` is used here, too") for node in others)


def readers(ctx: PythonContext, spread: ast.expr) -> Iterator[ast.Name]:
    """The places of the file that read the variable which is spread; none where it is no plain name."""
    if not isinstance(spread, ast.Name):
        return
    scope = binder(ctx, spread.id, spread)
    for node in ctx.all(ast.Name):
        if node.id == spread.id and isinstance(node.ctx, ast.Load) and binder(ctx, node.id, node) is scope:
            yield node


def may_hold(ctx: PythonContext, spread: ast.expr, name: str) -> bool:
    """Whether a dictionary that is spread may hold an argument of this name."""
    found, complete = possible_values(ctx, spread)
    for each in found:
        match each.node:
            case ast.Dict(keys=keys) if not each.path:
                complete = complete and all(isinstance(k, ast.Constant) and k.value != name for k in keys)
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords) if not each.path:
                complete = complete and all(k.arg not in (name, None) for k in keywords)
            case _:
                return True
    return not complete


def names_of_keys(ctx: PythonContext) -> frozenset[str]:
    """The keys of all dictionaries of a file, however they are written."""
    if (key := (names_of_keys,)) not in ctx.memo:
        keys = [each for node in ctx.all(ast.Dict) for each in node.keys]
        keys += [node.slice for node in ctx.all(ast.Subscript) if isinstance(node.ctx, ast.Store)]
        found: set[str] = set()
        for call in ctx.all(ast.Call):
            match call.func:
                case ast.Name(id="dict") | ast.Attribute(attr="update"):
                    found |= {each.arg for each in call.keywords if each.arg is not None}
                case ast.Attribute(attr="setdefault"):
                    keys += call.args[:1]
        found |= {each.value for each in keys if isinstance(each, ast.Constant) and isinstance(each.value, str)}
        ctx.memo[key] = frozenset(found)
    held: frozenset[str] = ctx.memo[key]
    return held


def _displays(ctx: PythonContext, spread: ast.expr) -> Sequence[ast.expr]:
    """What gives a dictionary of this file its value where it is spread."""
    found, complete = possible_values(ctx, spread, ordered=True, returns=True)
    if [each.node for each in found] == [spread] and isinstance(spread, (ast.Name, ast.Attribute)):
        found, complete = possible_values(ctx, spread, returns=True)
        found = found if complete and len(found) == 1 else []
    return [each.node for each in found if _is_here(ctx, each) and isinstance(each.node, ast.expr)]


def _is_here(ctx: PythonContext, value: PossibleValue) -> bool:
    return value.ctx is ctx and not value.path


def _keys(ctx: PythonContext, node: ast.expr, seen: set[ast.expr]) -> Iterator[Written]:
    """The arguments in an expression that makes a dictionary, and in those that it takes in (`{**common, …}`)."""
    if node in seen:  # a loop that adds to what it made before (`dictionaries_that_are_built`)
        return
    seen.add(node)
    inner: list[ast.expr] = []
    match node:
        case ast.Dict(keys=keys, values=values):
            pairs = list(zip(keys, values, strict=True))
            inner = [value for key, value in pairs if key is None]
            for key, value in pairs:
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield Written(key.value, key, value, node)
        case ast.Call(func=ast.Name(id="dict") | ast.Attribute(attr="update"), args=args, keywords=keywords):
            if isinstance(node.func, ast.Name) and binder(ctx, "dict", node) is not None:  # another `dict`
                return
            inner = [*args, *(each.value for each in keywords if each.arg is None)]
            yield from (Written(each.arg, each, each.value, node) for each in keywords if each.arg is not None)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            inner = [left, right]
    for each in inner:
        for display in _displays(ctx, each):
            yield from _keys(ctx, display, seen)


def _changes(ctx: PythonContext, spread: ast.expr) -> Iterator[Written]:
    """The arguments that are put into a dictionary before it is spread, in the function that spreads it."""
    name = ctx.name(spread)
    for use in uses(ctx, name, spread) if name is not None else ():
        match above := ctx.parent(use):
            case ast.Subscript(value=held, slice=ast.Constant(value=str(key)) as written, ctx=ast.Store()):
                statement = ctx.parent(above)
                if held is use and isinstance(statement, ast.Assign) and statement.targets == [above]:
                    yield Written(key, written, statement.value, above)
            case ast.Attribute(attr="update") if isinstance(call := ctx.parent(above), ast.Call):
                yield from _keys(ctx, call, set())
            case ast.Attribute(attr="setdefault"):
                match call := ctx.parent(above):
                    case ast.Call(args=[ast.Constant(value=str(key)) as written, value]):
                        yield Written(key, written, value, call)


def _taken_away(ctx: PythonContext, spread: ast.expr) -> Collection[str]:
    """The keys that are taken out of a dictionary again: `kw.pop("gpus")`, `del kw["gpus"]`."""
    name, found = ctx.name(spread), set()
    for use in uses(ctx, name, spread) if name is not None else ():
        match above := ctx.parent(use):
            case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Del()):
                found.add(key)
            case ast.Attribute(attr="pop"):
                match ctx.parent(above):
                    case ast.Call(args=[ast.Constant(value=str(key)), *_]):
                        found.add(key)
    return found
