"""Uses of a deprecated name that are no calls: decorators, annotations, callables that are passed on, imports."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from codemods.frameworks.autocast.amp_names import NAMES, Renamed, Repair, device, reads
from codemods.model.edits import Safety
from codemods.rules.context import Context
from codemods.syntax.rewrite import Replacement, make_argument, statement

Node = cst.Name | cst.Attribute
_BETWEEN = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def decorator(node: Node, new: Renamed, ctx: Context) -> Iterator[tuple[str, Repair]]:
    """`@custom_fwd` becomes a call; a bare `@autocast` never worked."""
    target = ctx.spell(new.name, at=node) if new.device_keyword else None
    if target is not None:
        call = cst.Call(target.node, [make_argument(new.device_keyword, device(new, ctx))])
        yield "rename", Repair({node: call}, (target.need,), new.requires)


def annotation(node: Node, new: Renamed, ctx: Context) -> Iterator[tuple[str, Repair]]:
    """The old classes extend the new ones, so the new name annotates instances of either."""
    target = None if new.device_keyword else ctx.spell(new.name, at=node)
    if target is not None:
        renamed = target.node.with_changes(lpar=node.lpar, rpar=node.rpar)
        yield "rename", Repair({node: renamed}, (target.need,), new.requires)


def value(node: Node, new: Renamed, ctx: Context) -> Iterator[tuple[str, Repair]]:
    """A class check, or a callable that is passed on: with the device bound, if it is called with keywords only."""
    target, parent = ctx.spell(new.name, at=node), ctx.parent(node)
    if target is None:
        return
    call = ctx.parent(parent) if isinstance(parent, cst.Arg) else None
    if isinstance(call, cst.Call) and isinstance(parent, cst.Arg):
        if ctx.name(call.func) in ("isinstance", "issubclass") and not new.device_keyword:
            yield "rename", Repair({node: target.node}, (target.need,), new.requires, Safety.UNSAFE)
        elif ctx.calls(call, "functools.partial") and call.args[0] is parent and _passed_well(call, new, ctx):
            rest = list(call.args[1:])
            if any(a.star or a.keyword is None for a in rest):
                return
            bound = make_argument(new.device_keyword, device(new, ctx))
            first = parent.with_changes(value=target.node, comma=parent.comma if rest else _BETWEEN)
            bound = bound.with_changes(comma=_BETWEEN if rest else parent.comma)
            fixed = call.with_changes(args=[first, bound, *rest])
            yield "rename", Repair({call: fixed}, (target.need,), new.requires, Safety.UNSAFE)
        return
    partial = ctx.spell("functools.partial", at=node)
    if partial is not None and _passed_well(node, new, ctx):
        bound = make_argument(new.device_keyword, device(new, ctx))
        fixed = cst.Call(partial.node, [cst.Arg(target.node, comma=_BETWEEN), bound])
        yield "rename", Repair({node: fixed}, (target.need, partial.need), new.requires, Safety.UNSAFE)


def _passed_well(node: cst.BaseExpression, new: Renamed, ctx: Context) -> bool:
    """Whether a callable gets one name, or is called on the spot, and every call in sight suits the new one."""
    parent = ctx.parent(node)
    while isinstance(parent, cst.IfExp) and node is not parent.test:
        node, parent = parent, ctx.parent(parent)
    if isinstance(parent, cst.Call) and parent.func is node:
        return _suits(parent, new)
    if not isinstance(parent, cst.Assign) or len(parent.targets) != 1:
        return False
    alias = ctx.name(parent.targets[0].target)
    if alias is None or ("." not in alias and ctx.index.imported_elsewhere(ctx.path, alias)):
        return False
    return all(_suits(call, new) for call in ctx.all(cst.Call) if ctx.name(call.func) == alias)


def _suits(call: cst.Call, new: Renamed) -> bool:
    return not new.shifts or all(a.keyword is not None or a.star == "**" for a in call.args)


def try_import(node: Node, ctx: Context) -> Repair | None:
    """The import under `try`, with the device bound to what is imported; every use stays as it is.

    Only where each name concerned is merely called or decorates: a bound class is no class.
    """
    if not isinstance(node, cst.Name):
        return None
    line = next((s for s in ctx.module.body if _imports(s, node.value)), None)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    given = line.body[0]
    if not isinstance(given, cst.ImportFrom) or isinstance(given.names, cst.ImportStar):
        return None
    package = ctx.name(given.module)
    young = [a for a in given.names if NAMES.get(f"{package}.{a.evaluated_name}", _NONE).guard]
    names = [(a.evaluated_name, a.evaluated_alias or a.evaluated_name) for a in young]
    if node.value not in [bound for _, bound in names]:
        return None
    for _, bound in names:
        if not all(_merely_called(read, ctx) for read in reads(ctx, bound)):
            return None
        exported = bound in ctx.facts.exports or ctx.index.imported_elsewhere(ctx.path, bound)
        if exported or sum(1 for _ in ctx.facts.named(bound)) != 1:
            return None
    first = min(i.line for i in ctx.facts.named(node.value))
    partial, lead = _partial(ctx, first)
    written = ", ".join(a if a == b else f"{a} as {b}" for a, b in names)
    binds = []
    for name, bound in names:
        new = NAMES[f"{package}.{name}"]
        keyword = f"{new.device_keyword}=" if new.device_keyword else ""
        binds.append(f"    {bound} = {partial}({bound}, {keyword}{device(new, ctx).value})\n")
    old_import = f"    from {package} import {written}\n"
    code = f"try:\n    from torch.amp import {written}\n{''.join(binds)}except ImportError:\n{old_import}"
    kept = [a for a in given.names if a not in young]
    lines: list[cst.CSTNode] = [statement(ctx, lead)] if lead else []
    if kept:
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        lines.append(line.with_changes(leading_lines=[], body=[given.with_changes(names=kept)]))
    lines.append(statement(ctx, code))
    lines[0] = lines[0].with_changes(leading_lines=line.leading_lines)
    changes: dict[cst.CSTNode, Replacement] = {line: lines}
    return Repair(changes, (), {})


_NONE = Renamed("", "")


def _imports(line: cst.CSTNode, name: str) -> bool:
    if not isinstance(line, cst.SimpleStatementLine):
        return False
    for each in line.body:
        if isinstance(each, cst.ImportFrom) and not isinstance(each.names, cst.ImportStar):
            if any((a.evaluated_alias or a.evaluated_name) == name for a in each.names):
                return True
    return False


def _merely_called(read: cst.Name, ctx: Context) -> bool:
    parent = ctx.parent(read)
    if ctx.enclosing(read, cst.ImportFrom, cst.Import):
        return True
    return isinstance(parent, cst.Decorator) or (isinstance(parent, cst.Call) and parent.func is read)


def _partial(ctx: Context, line: int) -> tuple[str, str]:
    """How to write `functools.partial` at a line of the module, and the import that has to stand before it."""
    for i in ctx.facts.imports:
        if i.line < line and not i.scope and not i.conditional and not ctx.facts.rebound.get(i.name):
            if i.target == "functools.partial":
                return i.name, ""
            if i.target == "functools":
                return f"{i.name}.partial", ""
    return "functools.partial", "import functools"
