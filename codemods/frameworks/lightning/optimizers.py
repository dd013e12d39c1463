"""Which optimizers of a LightningModule a name in its methods stands for."""

from __future__ import annotations

import libcst as cst

from codemods.frameworks.accelerators import binder
from codemods.frameworks.gradient_consumers import bound
from codemods.model.names import GRAD_SCALER, OPTIMIZER
from codemods.project.index import Ref
from codemods.rules.context import Binding, Context
from codemods.syntax.rewrite import argument, literal

ALL = "*"
NOBODY: frozenset[str] = frozenset()


def which(ctx: Context, node: cst.BaseExpression, depth: int = 4) -> frozenset[str]:
    """The optimizers that an expression surely stands for: positions in `self.optimizers()`, "" for the only one.

    `ALL` is in the answer for a name that a loop gives every one of them; empty: unknown, or no optimizer.
    """
    if depth == 0:
        return NOBODY
    if _is_optimizers(ctx, node):
        return frozenset({""})
    match node:
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            position = literal(index)
            return frozenset({str(position)}) if isinstance(position, int) and _all_of(ctx, value) else NOBODY
        case cst.Name(value=name):
            scope = binder(ctx, name, node)
            bindings = ctx.bindings(scope).get(name, ()) if scope is not None else ()
            given = [_bound(ctx, b, name, depth) for b in bindings]
            return frozenset().union(*given) if given and all(given) and len(set(given)) == 1 else NOBODY
    return NOBODY


def _bound(ctx: Context, binding: Binding, name: str, depth: int) -> frozenset[str]:
    match binding.node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() | cst.List() as target)], value=value):
            if binding.value is not None:
                return which(ctx, binding.value, depth - 1)
            if not _all_of(ctx, value) or any(isinstance(e, cst.StarredElement) for e in target.elements):
                return NOBODY
            names = [ctx.name(e.value) for e in target.elements]
            return frozenset({str(names.index(name))}) if names.count(name) == 1 else NOBODY
        case cst.For(target=cst.Name(), iter=cst.Tuple() | cst.List() as several):
            given = [which(ctx, e.value, depth - 1) for e in several.elements]
            return frozenset().union(*given) if given and all(given) else NOBODY
        case cst.For(target=cst.Name(), iter=several):
            return frozenset({ALL}) if _all_of(ctx, several) else NOBODY
        case cst.Assign() | cst.AnnAssign() | cst.NamedExpr() if binding.value is not None:
            return which(ctx, binding.value, depth - 1)
    return NOBODY


def _all_of(ctx: Context, node: cst.BaseExpression) -> bool:
    """Whether an expression is the list of all optimizers: `self.optimizers()`, or a name for it."""
    if _is_optimizers(ctx, node):
        return True
    if not isinstance(node, cst.Name):
        return False
    scope = binder(ctx, node.value, node)
    bindings = ctx.bindings(scope).get(node.value, ()) if scope is not None else ()
    return bool(bindings) and all(b.value is not None and _is_optimizers(ctx, b.value) for b in bindings)


def _is_optimizers(ctx: Context, node: cst.BaseExpression) -> bool:
    """`self.optimizers()`."""
    if not isinstance(node, cst.Call) or not (method := ctx.method(node)):
        return False
    return ctx.name(node.func) == f"{method.self}.optimizers"


def stepped_by_the_trainer(ctx: Context, node: cst.BaseExpression) -> bool | None:
    """Whether the `step` of an optimizer goes through the Trainer: it, or each of several, is of `self.optimizers()`.

    False: surely not (`use_pl_optimizer=False`, `opt.optimizer`, `trainer.optimizers`, an optimizer of torch).
    """
    return bound(ctx, node, lambda each: _of_the_trainer(ctx, each))


def _of_the_trainer(ctx: Context, node: cst.BaseExpression) -> bool | None:
    if isinstance(node, cst.Call) and _is_optimizers(ctx, node):
        wrapped = argument(node, "use_pl_optimizer", 0)
        value = True if wrapped is None else literal(wrapped.value)
        return value if isinstance(value, bool) else None
    if isinstance(node, cst.Attribute):
        if node.attr.value == "optimizer" and stepped_by_the_trainer(ctx, node.value):
            return False
        if (ctx.name(node) or "").endswith("trainer.optimizers"):
            return False
    kind = ctx.kind(node)
    if kind is None:
        return None
    return False if all(_is_raw(ctx, name) for name in kind.names) else None


def _is_raw(ctx: Context, name: str) -> bool:
    """Whether a class is one of optimizers as torch has them, or of what steps them without the Trainer."""
    if ":" in name:
        return ctx.index.descends(Ref(*name.split(":", 1)), OPTIMIZER) is True
    last = name.rpartition(".")[2]
    return name in GRAD_SCALER or (name.startswith("torch.optim.") and last[:1].isupper())
