"""When a method of a LightningModule runs: in training, in evaluation, or before `fit` has set anything up."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from codemods.analysis import instances
from codemods.analysis.calls import imports_of, named_calls
from codemods.analysis.gradient_use import ReachedCode, deep
from codemods.analysis.mentions import called_by_text
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, no, question, unless
from codemods.model.edits import Evidence
from codemods.project.index import Ref
from codemods.syntax.module import Function

TRAINING = (
    "training_step",
    "on_train_start",
    "on_train_epoch_start",
    "on_train_epoch_end",
    "on_train_batch_start",
    "on_train_batch_end",
    "on_before_optimizer_step",
    "on_before_zero_grad",
)
"""Hooks in which the Trainer's strategy is at work, and gradients are on."""
EVALUATION = tuple(
    [f"{kind}_step" for kind in ("validation", "test", "predict")]
    + [
        f"on_{kind}_{when}"
        for kind in ("validation", "test", "predict")
        for when in ("start", "end", "epoch_start", "epoch_end", "batch_start", "batch_end")
    ]
)
STEPPING = ("on_before_optimizer_step",)
"""Hooks in which the gradients of the optimizer that steps are unscaled already."""
BACKWARD_HOOKS = ("on_before_backward", "on_after_backward")
"""Hooks that `manual_backward` runs, and a raw `backward()` does not."""
BEFORE = ("__init__", "prepare_data", "setup", "configure_model", "configure_sharded_model", "configure_optimizers")

Reached = dict[tuple[str, str], tuple[PythonContext, Function]]
"""Functions by path and qualified name."""


def reached(ctx: PythonContext, owner: Ref, roots: Iterable[str]) -> Reached:
    """What instances of `owner` run, or hand on as `self.method`, once these methods run."""
    found: Reached = {}
    waiting = [pair for root in roots if (pair := _own(ctx, owner, root))]
    while waiting:
        context, function = waiting.pop()
        key = (context.path, context.qualified(function))
        if key not in found:
            found[key] = (context, function)
            waiting.extend(_leads_to(context, function, owner))
    return found


def _own(ctx: PythonContext, owner: Ref, name: str) -> tuple[PythonContext, Function] | None:
    """The method that instances of `owner` have under a name."""
    place = ctx.index.method(owner, name)
    context = ctx.other(place.path) if place else None
    return context.definition(f"{place.name}.{name}") if context and place else None


def _leads_to(ctx: PythonContext, function: Function, owner: Ref) -> Iterator[tuple[PythonContext, Function]]:
    given = [*function.args.posonlyargs, *function.args.args]
    self = given[0].arg if given and ctx.klass(function) else None
    for node in deep(function):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == self:
                pair = _own(ctx, owner, attribute)
            case ast.Call(func=ast.Name(id=name)) if name == self:
                pair = _own(ctx, owner, "forward")
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=attribute):
                pair = _parents(ctx, function, attribute)
            case ast.Call():
                pair = ctx.callee(node)
            case _:
                continue
        if pair:
            yield pair


def _parents(ctx: PythonContext, function: Function, name: str) -> tuple[PythonContext, Function] | None:
    """The method that `super().name` means in `function`."""
    here = ctx.klass(function)
    for ref in ctx.index.lineage(here).refs[1:] if here else ():
        klass = ctx.index.klass(ref)
        if klass and name in klass.methods:
            context = ctx.other(ref.path)
            return context.definition(f"{ref.name}.{name}") if context else None
    return None


def runs(ctx: PythonContext, owner: Ref, function: Function, roots: Iterable[str]) -> bool:
    """Whether these methods of `owner`, or of a class of the project that descends from it, lead to `function`."""
    key = (ctx.path, ctx.qualified(function))
    roots = tuple(roots)
    return key in reached(ctx, owner, roots) or any(
        key in reached(ctx, heir, roots) for heir in ctx.index.subclasses(owner)
    )


def training_code(ctx: PythonContext, owner: Ref, function: Function) -> ReachedCode:
    """What runs in training beside `function`, in `owner` and in classes of the project that descend from it.

    Without hooks that see unscaled gradients, with those that see every backward.
    """
    key = (ctx.path, ctx.qualified(function))
    roots = (*(hook for hook in TRAINING if hook not in STEPPING), *BACKWARD_HOOKS)
    found: Reached = {}
    for each in (owner, *ctx.index.subclasses(owner)):
        if key in (there := reached(ctx, each, roots)):
            found |= there
    return ReachedCode(found.values())


def called_from_outside(ctx: PythonContext, owner: Ref, function: Function) -> bool:
    """Whether the file calls a method of that name outside the class, as in `model.warm_up(batch)` before `fit`."""
    calls = named_calls(ctx, function.name)
    return any(isinstance(c.func, ast.Attribute) and not _inside(ctx, c.func, owner) for c in calls)


@question
def runs_under_the_trainer(ctx: PythonContext, owner: Ref, function: Function) -> Answer:
    """Whether nobody but the Trainer runs a method of `owner`, or what leads to it: elsewhere there is no strategy."""
    sure: list[Evidence] = []
    found: list[Evidence] = []
    for where, node, surely in _uses_elsewhere(ctx, owner, function):
        does = "runs" if surely else "may run"
        (sure if surely else found).append(where.evidence(node, f"`{where.written(node)}` {does} it outside `fit`"))
    by_text = (replace(each, why=f"`{function.name}` may be called here") for each in called_by_text(ctx))
    return no(*sure) if sure else unless([*found, *by_text])


def _uses_elsewhere(
    ctx: PythonContext, owner: Ref, function: Function
) -> Iterator[tuple[PythonContext, ast.Attribute, bool]]:
    """The places outside of the class that call, or hand on, a method that may lead to `function`.

    Each with whether it surely does. Files that import nothing of the module that holds the class do not count.
    """
    key = (ctx.path, ctx.qualified(function))
    heirs = (owner, *ctx.index.subclasses(owner))
    methods = {name for ref in ctx.index.lineage(owner).refs if (k := ctx.index.klass(ref)) for name in k.methods}
    leading = [name for name in sorted(methods) if key in reached(ctx, owner, (name,))]
    paths = {ref.path for ref in heirs}
    for path in ctx.index.search(ctx.path, tuple(name.encode() for name in leading)) if leading else ():
        mine = path in paths
        if not mine and not any(imports_of(ctx, path, each) for each in paths):
            continue
        if (other := ctx.other(path)) is None:
            continue
        for used in other.all(ast.Attribute):
            if used.attr not in leading or not isinstance(used.ctx, ast.Load) or _inside(other, used, owner):
                continue
            kind = instances.of(other, used.value)
            surely = kind is not None and bool(kind.names & {str(ref) for ref in heirs})
            called = isinstance(call := other.parent(used), ast.Call) and call.func is used
            if kind is None or surely:
                yield other, used, surely and called


def _inside(ctx: PythonContext, used: ast.Attribute, owner: Ref) -> bool:
    """Whether a method is used by an object of the class itself: `self.method()`, `super().method()`."""
    here, receiver = ctx.klass(used), used.value
    if here == owner:
        return True
    method = ctx.method(used)
    own = method is not None and ctx.name(receiver) == method.self
    if not own and not (isinstance(receiver, ast.Call) and ctx.name(receiver.func) == "super"):
        return False
    return here is None or here in ctx.index.lineage(owner).refs or owner in ctx.index.lineage(here).refs
