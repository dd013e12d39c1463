"""What runs a module's weights where, with or without gradients, followed through the project's calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from codemods.frameworks.autocast.modules import Path, is_module, path_of
from codemods.frameworks.autocast.openings import DEPTH, values
from codemods.frameworks.autocast.regions import lexical, switched_off
from codemods.model.names import NO_GRAD
from codemods.rules.context import Context
from codemods.syntax import flow
from codemods.syntax.rewrite import keyword, literal, positional

_FORWARDS = re.compile(r"_*(forward|encode|decode|embed|generate|predict|sample|extract|get_\w+_features)(_\w*)?")
_MATMULS = re.compile(
    r"linear|bilinear|matmul|mm|bmm|addmm|baddbmm|einsum|conv(_transpose)?[123]d|(multi_head|scaled)_.*"
)


BLOCKS = (cst.IndentedBlock, cst.SimpleStatementSuite, cst.SimpleStatementLine, cst.Module)


@dataclass(frozen=True, slots=True)
class Use:
    """One run of a module's weights, as seen from one function."""

    path: Path
    node: cst.CSTNode
    """The call (or operand) in that function, through which it happens."""
    off: bool
    """Without gradients."""
    sure: bool = True
    """Whether the use happens whenever `node` runs."""
    enclosed: bool = False
    """It runs in a region that is opened and closed inside the call."""


# -- gradients on or off


def grad_mode(ctx: Context, node: cst.CSTNode) -> str:
    """What a context manager or decorator does to gradients: `off`, `on`, `maybe`, or "" for nothing."""
    bare = node.func if isinstance(node, cst.Call) else node
    if ctx.means(bare, NO_GRAD):
        mode = positional(node, 0) or keyword(node, "mode") if isinstance(node, cst.Call) else None
        given = literal(mode.value) if mode else True
        return "off" if given is True else "maybe" if given is ... else ""
    if ctx.means(bare, "torch.enable_grad"):
        return "on"
    if ctx.means(bare, "torch.set_grad_enabled") and isinstance(node, cst.Call):
        mode = positional(node, 0) or keyword(node, "mode")
        given = literal(mode.value) if mode else ...
        return "off" if given is False else "on" if given is True else "maybe"
    if isinstance(node, cst.IfExp):
        return "maybe" if grad_mode(ctx, node.body) or grad_mode(ctx, node.orelse) else ""
    if isinstance(node, (cst.Name, cst.Call)):
        for where, value in values(ctx, bare):
            if value is not node and grad_mode(where, value):
                return "maybe"
    return ""


def gradients(ctx: Context, node: cst.CSTNode) -> str:
    """`off`, `on` or `maybe` where a node runs, as far as its own function says; "" where it says nothing."""
    below = node
    for above in ctx.ancestors(node):
        if isinstance(above, cst.With) and below is above.body:
            if modes := [m for item in above.items if (m := grad_mode(ctx, item.item))]:
                return modes[-1]
        elif isinstance(above, BLOCKS):
            before = above.body[: list(above.body).index(below)]
            if mode := next((m for each in reversed(list(singles(before))) if (m := switch(ctx, each))), ""):
                return mode
        elif isinstance(above, cst.FunctionDef) and below is above.body:
            return next((m for d in above.decorators if (m := grad_mode(ctx, d.decorator))), "")
        if isinstance(above, (cst.Lambda, cst.ClassDef)):
            return ""
        below = above
    return ""


def singles(statements: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """Statements one by one: the small ones of each line, and the compound ones."""
    for each in statements:
        if isinstance(each, cst.SimpleStatementLine):
            yield from each.body
        else:
            yield each


def switch(ctx: Context, statement: cst.CSTNode) -> str:
    """`off`, `on` or `maybe` for a statement `torch.set_grad_enabled(…)`."""
    match statement:
        case cst.Expr(value=cst.Call() as call) if ctx.means(call.func, "torch.set_grad_enabled"):
            return grad_mode(ctx, call)
        case _:
            return ""


# -- uses


def uses(ctx: Context, root: cst.CSTNode, depth: int = DEPTH) -> list[Use]:
    """Every run of weights in a body, with those in the project's functions that it calls.

    Left out are those of which cannot be told whether they run with gradients.
    """
    key = (uses, root, depth)
    if key not in ctx.memo:
        ctx.memo[key] = []  # what a function that calls itself sees
        ctx.memo[key] = [
            replace(use, off=use.off or mode == "off")
            for use in runs(ctx, root, depth)
            if (mode := gradients(ctx, use.node)) != "maybe"
        ]
    found: list[Use] = ctx.memo[key]
    return found


def runs(ctx: Context, root: cst.CSTNode, depth: int = DEPTH) -> Iterator[Use]:
    """Every run of weights in a body, whatever the body says of gradients."""
    for node in flow.own(root):
        found: Iterator[Use] = iter(())
        if isinstance(node, cst.Call):
            found = _call(ctx, node, depth)
        elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.MatrixMultiply):
            found = (Use(p, node, False) for side in (node.left, node.right) if (p := _parameter(ctx, side)))
        yield from (use for use in found if not switched_off(ctx, node))


def _call(ctx: Context, call: cst.Call, depth: int) -> Iterator[Use]:
    if (target := followed(ctx, call)) is not None:
        where, function = target
        for inner in uses(where, function.body, depth - 1) if depth else ():
            if (path := outward(ctx, call, where, function, inner.path)) is not None:
                sure = inner.sure and flow.dominates(where.parents, inner.node, function)
                yield Use(path, call, inner.off, sure, inner.enclosed or lexical(where, inner.node) is not None)
        return
    last = (ctx.name(call.func) or "").rpartition(".")[2]
    if _MATMULS.fullmatch(last):
        yield from (Use(p, call, False) for arg in call.args if (p := _parameter(ctx, arg.value)))
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value=attribute)) if _FORWARDS.fullmatch(attribute):
            if is_module(ctx, owner) and (path := path_of(ctx, call.func)):
                yield Use(path[:-1] if attribute == "forward" else path, call, False)
                return
    if is_module(ctx, call.func) and (path := path_of(ctx, call.func)):
        yield Use(path, call, False)


def followed(ctx: Context, call: cst.Call) -> tuple[Context, cst.FunctionDef] | None:
    """The project's function that a call runs; `self(x)` runs `forward`."""
    method = ctx.method(call)
    if method is not None and ctx.name(call.func) == method.self:
        owner = ctx.index.method(method.owner, "forward")
        where = ctx.other(owner.path) if owner else None
        return where.definition(f"{owner.name}.forward") if where and owner else None
    return ctx.callee(call)


def outward(ctx: Context, call: cst.Call, where: Context, function: cst.FunctionDef, path: Path) -> Path | None:
    """A path in a called function as the caller would write it."""
    root, rest = path[0], path[1:]
    params = [p.name.value for p in (*function.params.posonly_params, *function.params.params)]
    if (inner := where.method(function)) is not None and inner.node is function:
        if root == inner.self:
            caller = ctx.method(call)
            return (caller.self, *rest) if caller is not None else None
        params = params[1:]
    given: cst.Arg | None = None
    if root in params:
        given = keyword(call, root) or positional(call, params.index(root))
    elif root in (p.name.value for p in function.params.kwonly_params):
        given = keyword(call, root)
    elif root in where.bindings(function) or where is not ctx:
        return None
    else:
        return path
    base = path_of(ctx, given.value) if given is not None else None
    return (*base, *rest) if base is not None else None


def _parameter(ctx: Context, node: cst.CSTNode) -> Path | None:
    if isinstance(node, cst.Attribute) and ctx.is_a(node, frozenset({"torch.nn.Parameter"})):
        return path_of(ctx, node)
    return None


def forgets(ctx: Context, root: cst.CSTNode, depth: int = DEPTH) -> list[cst.CSTNode]:
    """The nodes of a body that empty the weight cache."""
    key = (forgets, root, depth)
    if key not in ctx.memo:
        ctx.memo[key] = []
        ctx.memo[key] = [node for node in flow.own(root) if isinstance(node, cst.Call) and _forgets(ctx, node, depth)]
    found: list[cst.CSTNode] = ctx.memo[key]
    return found


def _forgets(ctx: Context, call: cst.Call, depth: int) -> bool:
    if ctx.means(call.func, "torch.clear_autocast_cache"):
        return True
    target = ctx.callee(call) if depth else None
    return target is not None and bool(forgets(target[0], target[1].body, depth - 1))
