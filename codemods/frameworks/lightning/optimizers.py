"""Which optimizers of a LightningModule a name in its methods stands for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from codemods.analysis import instances
from codemods.analysis.calls import argument, assigned_to_self, binder, literal
from codemods.analysis.python_context import Binding, PythonContext
from codemods.model.names import GRAD_SCALER, OPTIMIZER
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS

ALL = "*"
NOBODY: frozenset[str] = frozenset()


def which(ctx: PythonContext, node: ast.expr, depth: int = 4) -> frozenset[str]:
    """The optimizers that an expression surely stands for: positions in `self.optimizers()`, "" for the only one.

    `ALL` is in the answer for a name that a loop gives every one of them; empty: unknown, or no optimizer.
    """
    if depth == 0:
        return NOBODY
    if _is_optimizers(ctx, node):
        return frozenset({""})
    match node:
        case ast.Subscript(value=value, slice=index):
            position = literal(index)
            return frozenset({str(position)}) if isinstance(position, int) and _all_of(ctx, value) else NOBODY
        case ast.Name(id=name):
            scope = binder(ctx, name, node)
            bindings = ctx.bindings(scope).get(name, ()) if scope is not None else ()
            given = [_bound(ctx, b, name, depth) for b in bindings]
            return frozenset().union(*given) if given and all(given) and len(set(given)) == 1 else NOBODY
    return NOBODY


def _bound(ctx: PythonContext, binding: Binding, name: str, depth: int) -> frozenset[str]:
    match binding.node:
        case ast.Assign(targets=[ast.Tuple() | ast.List() as target], value=value):
            if binding.value is not None:
                return which(ctx, binding.value, depth - 1)
            if not _all_of(ctx, value) or any(isinstance(e, ast.Starred) for e in target.elts):
                return NOBODY
            names = [ctx.name(e) for e in target.elts]
            return frozenset({str(names.index(name))}) if names.count(name) == 1 else NOBODY
        case ast.For(target=ast.Name(), iter=ast.Tuple() | ast.List() as several):
            given = [which(ctx, e, depth - 1) for e in several.elts]
            return frozenset().union(*given) if given and all(given) else NOBODY
        case ast.For(target=ast.Name(), iter=several):
            return frozenset({ALL}) if _all_of(ctx, several) else NOBODY
        case ast.Assign() | ast.AnnAssign() | ast.NamedExpr() if binding.value is not None:
            return which(ctx, binding.value, depth - 1)
    return NOBODY


def _all_of(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether an expression is the list of all optimizers: `self.optimizers()`, or a name for it."""
    if _is_optimizers(ctx, node):
        return True
    if not isinstance(node, ast.Name):
        return False
    scope = binder(ctx, node.id, node)
    bindings = ctx.bindings(scope).get(node.id, ()) if scope is not None else ()
    return bool(bindings) and all(b.value is not None and _is_optimizers(ctx, b.value) for b in bindings)


def _is_optimizers(ctx: PythonContext, node: ast.expr) -> bool:
    """`self.optimizers()`."""
    if not isinstance(node, ast.Call) or not (method := ctx.method(node)):
        return False
    return ctx.name(node.func) == f"{method.self}.optimizers"


def stepped_by_the_trainer(ctx: PythonContext, node: ast.expr) -> bool | None:
    """Whether the `step` of an optimizer goes through the Trainer: it, or each of several, is of `self.optimizers()`.

    False: surely not (`use_pl_optimizer=False`, `opt.optimizer`, `trainer.optimizers`, an optimizer of torch).
    """
    return _bound_to(ctx, node, lambda each: _of_the_trainer(ctx, each))


def _of_the_trainer(ctx: PythonContext, node: ast.expr) -> bool | None:
    if isinstance(node, ast.Call) and _is_optimizers(ctx, node):
        wrapped = argument(node, "use_pl_optimizer", 0)
        value = True if wrapped is None else literal(wrapped)
        return value if isinstance(value, bool) else None
    if isinstance(node, ast.Attribute):
        if node.attr == "optimizer" and stepped_by_the_trainer(ctx, node.value):
            return False
        if (ctx.name(node) or "").endswith("trainer.optimizers"):
            return False
    kind = instances.of(ctx, node)
    if kind is None:
        return None
    return False if all(_is_raw(ctx, name) for name in kind.names) else None


def _is_raw(ctx: PythonContext, name: str) -> bool:
    """Whether a class is one of optimizers as torch has them, or of what steps them without the Trainer."""
    if ":" in name:
        return ctx.index.descends(Ref(*name.split(":", 1)), OPTIMIZER) is True
    last = name.rpartition(".")[2]
    return name in GRAD_SCALER or (name.startswith("torch.optim.") and last[:1].isupper())


def _bound_to(
    ctx: PythonContext, node: ast.expr, judge_one: Callable[[ast.expr], bool | None], depth: int = 4
) -> bool | None:
    """A verdict on an optimizer, or a collection of some, by the verdicts on what its name is given.

    `judge_one` is asked first, of each expression on the way; None: look further.
    """
    if (verdict := judge_one(node)) is not None or depth == 0:
        return verdict

    def together(parts: Iterable[ast.expr | None]) -> bool | None:
        verdicts = [_bound_to(ctx, part, judge_one, depth - 1) if part is not None else None for part in parts]
        return False if False in verdicts else True if verdicts and all(verdicts) else None

    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Dict(values=elements):
            return together(elements)
        case ast.IfExp(body=body, orelse=orelse):
            return together((body, orelse))
        case ast.Subscript(value=value) | ast.Starred(value=value):
            return together((value,))
        case ast.Call(func=ast.Name(id="reversed" | "list" | "tuple" | "iter" | "next"), args=[first, *_]):
            return together((first,))
        case ast.Call(func=ast.Attribute(value=value, attr="values" | "items")):
            return together((value,))
        case ast.Name(id=name):
            scope = binder(ctx, name, node)
            given = ctx.bindings(scope).get(name, ()) if scope is not None else ()
            if isinstance(scope, FUNCTIONS) and name in ctx.parameter_names(scope):
                return None
            return together(_source(ctx, b.node, name) if b.value is None else b.value for b in given)
        case ast.Attribute():
            method, written = ctx.method(node), ctx.name(node) or ""
            if method and written.startswith(f"{method.self}.") and written.count(".") == 1:
                attribute = written.partition(".")[2]
                here = assigned_to_self(ctx, method.klass, attribute)
                if len(here) == sum(1 for _ in ctx.index.assigned(method.owner, attribute)):
                    return together(_source(ctx, b.node, written) if b.value is None else b.value for b in here)
    return None


def _source(ctx: PythonContext, node: ast.AST, name: str) -> ast.expr | None:
    """The collection from which an unpacking, or a loop, gives a name its value; None: it cannot be told."""
    match node:
        case ast.Assign(targets=[ast.Tuple() | ast.List()], value=value):
            return value
        case ast.For(target=target, iter=several) | ast.comprehension(target=target, iter=several):
            if isinstance(target, (ast.Name, ast.Attribute)):
                return several
            if not isinstance(target, ast.Tuple):
                return None
            match several:
                case ast.Call(func=ast.Name(id=how), args=args):
                    position = next((i for i, e in enumerate(target.elts) if ctx.name(e) == name), -1)
                    if how == "zip" and 0 <= position < len(args):
                        return args[position]
                    return args[0] if how == "enumerate" and position == 1 and args else None
            return several
    return None
