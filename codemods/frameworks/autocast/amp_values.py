"""Uses of a deprecated name that are no calls: decorators, annotations, callables that are passed on, imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import named_calls
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, unknown
from codemods.frameworks.autocast.amp_names import NAMES, Renamed
from codemods.rules.rule import Remedy
from codemods.syntax.verbs import Argument, Verb, delete, drop, edit_call, insert_after, insert_before, replace

Node = ast.Name | ast.Attribute


def decorator(node: Node, new: Renamed, ctx: PythonContext) -> Iterator[tuple[str, Remedy]]:
    """`@custom_fwd` becomes a call; a bare `@autocast` never worked."""
    target = ctx.spell(new.name, at=node) if new.device_keyword else None
    if target is not None:
        code = f"{target.code}({new.device_keyword}={ctx.quoted(new.device)})"
        yield "rename", Remedy([replace(node, code)], needs=[target.need], requires=new.requires)


def annotation(node: Node, new: Renamed, ctx: PythonContext) -> Iterator[tuple[str, Remedy]]:
    """The old classes extend the new ones, so the new name annotates instances of either."""
    target = None if new.device_keyword else ctx.spell(new.name, at=node)
    if target is not None:
        yield "rename", Remedy([replace(node, target.code)], needs=[target.need], requires=new.requires)


def value(node: Node, new: Renamed, ctx: PythonContext) -> Iterator[tuple[str, Remedy]]:
    """A class check, or a callable that is passed on: with the device bound, if it is called with keywords only."""
    target, parent = ctx.spell(new.name, at=node), ctx.parent(node)
    if target is None:
        return
    device: Argument = (new.device_keyword, ctx.quoted(new.device))
    if isinstance(parent, ast.Call):
        if ctx.name(parent.func) in ("isinstance", "issubclass") and not new.device_keyword:
            fix = [replace(node, target.code)]
            doubt = unknown(ctx.evidence(parent, "an object of the old class may come from elsewhere"))
            yield "rename", Remedy(fix, is_right=[doubt], needs=[target.need], requires=new.requires)
        elif ctx.calls(parent, "functools.partial") and parent.args[0] is node and _passed_well(parent, new, ctx):
            if len(parent.args) == 1 and all(k.arg is not None for k in parent.keywords):
                fixed = edit_call(parent, first=[(None, target.code), device], drop=[node])
                right = [_later(node, ctx)]
                yield "rename", Remedy([fixed], is_right=right, needs=[target.need], requires=new.requires)
        return
    partial = ctx.spell("functools.partial", at=node)
    if partial is not None and not isinstance(parent, ast.keyword) and _passed_well(node, new, ctx):
        bound = "=".join(filter(None, device))
        fix = [replace(node, f"{partial.code}({target.code}, {bound})")]
        needs = [target.need, partial.need]
        yield "rename", Remedy(fix, is_right=[_later(node, ctx)], needs=needs, requires=new.requires)


def _later(node: ast.expr, ctx: PythonContext) -> Answer:
    """What stands against a callable with the device bound: arguments by position that it is given later."""
    return unknown(ctx.evidence(node, "arguments by position that are given later would mean something else"))


def _passed_well(node: ast.expr, new: Renamed, ctx: PythonContext) -> bool:
    """Whether a callable gets one name, or is called on the spot, and every call in sight suits the new one."""
    parent = ctx.parent(node)
    while isinstance(parent, ast.IfExp) and node is not parent.test:
        node, parent = parent, ctx.parent(parent)
    if isinstance(parent, ast.Call) and parent.func is node:
        return _suits(parent, new)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return False
    alias = ctx.name(parent.targets[0])
    if alias is None or ("." not in alias and ctx.index.imported_elsewhere(ctx.path, alias)):
        return False
    calls = named_calls(ctx, alias.rpartition(".")[2])
    return all(_suits(call, new) for call in calls if ctx.name(call.func) == alias)


def _suits(call: ast.Call, new: Renamed) -> bool:
    return not new.shifts or not call.args


def try_import(node: Node, ctx: PythonContext) -> Remedy | None:
    """The import under `try`, with the device bound to what is imported; every use stays as it is.

    Only where each name concerned is merely called or decorates: a bound class is no class.
    """
    given = next((s for s in ctx.module.tree.body if isinstance(node, ast.Name) and _imports(s, node.id)), None)
    if not isinstance(given, ast.ImportFrom) or not isinstance(node, ast.Name) or not _is_alone(given, ctx):
        return None
    young = [a for a in given.names if NAMES.get(f"{given.module}.{a.name}", _NONE).guard]
    names = [(a.name, a.asname or a.name) for a in young]
    if given.level or node.id not in [bound for _, bound in names]:
        return None
    for _, bound in names:
        if not all(_merely_called(read, ctx) for read in ctx.all(ast.Name) if read.id == bound):
            return None
        exported = bound in ctx.facts.exports or ctx.index.imported_elsewhere(ctx.path, bound)
        if exported or sum(1 for _ in ctx.facts.named(bound)) != 1:
            return None
    partial, lead = _partial(ctx, given.lineno)
    written = ", ".join(a if a == b else f"{a} as {b}" for a, b in names)
    binds = []
    for name, bound in names:
        new = NAMES[f"{given.module}.{name}"]
        keyword = f"{new.device_keyword}=" if new.device_keyword else ""
        binds.append(f"    {bound} = {partial}({bound}, {keyword}{ctx.quoted(new.device)})\n")
    old_import = f"    from {given.module} import {written}\n"
    code = f"try:\n    from torch.amp import {written}\n{''.join(binds)}except ImportError:\n{old_import}"
    changes: list[Verb] = [insert_before(given, *lead)] if lead else []
    if len(young) < len(given.names):
        changes += [drop(*young), insert_after(given, code)]
    else:
        changes = [insert_before(given, *lead, code), delete(given)]
    return Remedy(changes)


_NONE = Renamed("", "")


def _imports(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.ImportFrom) and any((a.asname or a.name) == name for a in statement.names)


def _is_alone(statement: ast.stmt, ctx: PythonContext) -> bool:
    """Whether no other statement of the module stands on the lines of one."""
    others = (s for s in ctx.module.tree.body if s is not statement)
    return not any(s.end_lineno == statement.lineno or s.lineno == statement.end_lineno for s in others)


def _merely_called(read: ast.Name, ctx: PythonContext) -> bool:
    match ctx.parent(read):
        case ast.Call(func=func):
            return func is read
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() as decorated:
            return read in decorated.decorator_list
    return not isinstance(read.ctx, ast.Load)


def _partial(ctx: PythonContext, line: int) -> tuple[str, list[str]]:
    """How to write `functools.partial` at a line of the module, and the import that has to stand before it."""
    for i in ctx.facts.imports:
        if i.line < line and not i.scope and not i.conditional and not ctx.facts.rebound.get(i.name):
            if i.target == "functools.partial":
                return i.name, []
            if i.target == "functools":
                return f"{i.name}.partial", []
    return "functools.partial", ["import functools"]
