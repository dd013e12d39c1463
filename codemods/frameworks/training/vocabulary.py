"""What the nodes of a training loop do to its objects."""

from __future__ import annotations

import ast
import builtins

from codemods.analysis import instances
from codemods.analysis.calls import given, literal, positional
from codemods.analysis.instances import callee, library_values
from codemods.analysis.optimizers import is_schedule, optimizes, stepped
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import CLIP as CLIPPING
from codemods.analysis.scaled_training import writes
from codemods.analysis.sources import sources
from codemods.analysis.summaries import Cast
from codemods.analysis.values import possible_values
from codemods.flow.protocols import ANYTHING
from codemods.frameworks.training.tables import (
    BACKWARD,
    BOUND,
    CLIP,
    EVAL,
    HARMLESS,
    LEAVES,
    MADE,
    MAY,
    MAY_ADVANCE,
    MAY_BACKWARD,
    MAY_STEP,
    MAY_SWITCH,
    MAY_ZERO,
    MODEL,
    OPTIMIZER,
    SCHEDULER,
    STEP,
    TAKING,
    TRAIN,
)
from codemods.model.names import NO_GRAD, TORCH_MODULE
from codemods.project.index import Ref

_READING = frozenset(
    method for table in (OPTIMIZER, MODEL, SCHEDULER) for method, event in table.items() if event == LEAVES
)


def role_of(name: str | None, cast: Cast) -> str:
    """The role of an object that goes under a name; empty: it has none."""
    return next((role for role, known in cast.items() if known == name), "")


class LoopWords:
    """The vocabulary of plain training loops: the roles are `optimizer`, `model` and `scheduler`.

    Args:
        made: the calls that make the optimizer, as far as they are in sight.
        alone: whether the loop steps no other optimizer, so that each backward pass is meant for this one.
    """

    methods = frozenset({"step", "zero_grad", "train", "eval"})
    decorators = NO_GRAD | {"torch.enable_grad"}

    def __init__(self, made: frozenset[ast.Call], *, alone: bool) -> None:
        self.made, self.alone = made, alone

    def event(self, ctx: PythonContext, node: ast.AST, cast: Cast) -> str | None:
        """What a node does by itself."""
        if isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            role = role_of(ctx.name(node), cast)
            if role == "model" and _makes_a_module(ctx, node):
                return TRAIN  # the mode of a new module
            if role:
                return MADE if role == "scheduler" and _is_made(ctx, node) else BOUND[role]
        if isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Store) and role_of(ctx.name(node.value), cast) == "scheduler":
                return ANYTHING  # `scheduler.last_epoch = -1` (`set_back`)
            if node.attr == "backward" and not (isinstance(call := ctx.parent(node), ast.Call) and call.func is node):
                return MAY_BACKWARD  # taken, to be called under another name
            return MAY_ZERO if writes(ctx, node) or _is_deleted(ctx, node) else None
        if not isinstance(node, ast.Call):
            return None
        if (loss := ctx.loss_of(node)) is not None:
            return BACKWARD if self.alone or _is_of(ctx, loss, cast.get("model", "")) else MAY_BACKWARD
        if ctx.means(node.func, CLIPPING):
            return CLIP if self.alone and _is_clipped(ctx, node, cast) else LEAVES
        name = ctx.name(node.func)
        if name is not None and name in cast.values():
            return LEAVES  # `model(x)`
        if isinstance(node.func, ast.Attribute):
            return self._method(ctx, node, node.func, cast)
        return None

    def _method(self, ctx: PythonContext, call: ast.Call, func: ast.Attribute, cast: Cast) -> str | None:
        receiver, method = ctx.name(func.value), func.attr
        role = role_of(receiver, cast)
        if role == "model" and _has_modes_of_its_own(ctx, func):
            return None if callee(ctx, call) is not None else MAY.get(method)
        if role == "optimizer":
            return ANYTHING if method == "step" and (call.args or call.keywords) else OPTIMIZER.get(method)
        if role == "scheduler":
            return SCHEDULER.get(method)
        if role == "model":
            return _switched(call) if method == "train" else MODEL.get(method)
        first = positional(call, 0)
        if method in ("step", "unscale_") and first is not None and ctx.name(first) == cast.get("optimizer"):
            return STEP if method == "step" else LEAVES  # of a gradient scaler
        if callee(ctx, call) is not None:
            return None  # a method of the project's own
        if method == "step":
            return self._of_another(ctx, call, func.value, cast)
        if method in MAY:
            return LEAVES if self._is_another(ctx, func.value) else _may(ctx, func.value, method, cast)
        return None

    def _of_another(self, ctx: PythonContext, call: ast.Call, receiver: ast.expr, cast: Cast) -> str | None:
        """What `x.step()` does, of something that has no role."""
        if is_schedule(ctx, receiver):
            return MAY_ADVANCE if "scheduler" in cast else LEAVES
        if stepped(ctx, call) is None and (
            optimizes(ctx, receiver) is False or len(call.args) + len(call.keywords) > 1
        ):
            return None  # an optimizer is given a closure at most (made_elsewhere)
        return LEAVES if self._is_another(ctx, receiver) else MAY_STEP

    def _is_another(self, ctx: PythonContext, node: ast.expr) -> bool:
        """Whether something surely is another optimizer: other calls make it (`two_optimizers`)."""
        if not self.made or optimizes(ctx, node) is not True:
            return False
        found, complete = possible_values(ctx, node, returns=True, given=given)
        return complete and bool(found) and self.made.isdisjoint(each.node for each in found)

    def is_harmless(self, ctx: PythonContext, call: ast.Call) -> bool:
        """Whether a call of a library leaves the objects that it is given as they are."""
        origins = ctx.origin(call.func)
        if origins:
            return all(":" not in each and each.partition(".")[0] in HARMLESS for each in origins)
        func = call.func
        if isinstance(func, ast.Name):
            return hasattr(builtins, func.id) and not any(ctx.facts.named(func.id)) and func.id not in ctx.facts.rebound
        if not isinstance(func, ast.Attribute):
            return False
        if func.attr in TAKING | _READING:  # of whatever it is called (`evaluated_within`)
            return True
        made = library_values(ctx, func.value)
        return bool(made) and all(_is_plain(where, node) for where, node in made or ())


def _is_plain(ctx: PythonContext, node: ast.expr) -> bool:
    maker = node.func if isinstance(node, ast.Call) else node
    return all(each.partition(".")[0] in HARMLESS for each in ctx.origin(maker))


def _switched(call: ast.Call) -> str:
    """What `model.train(…)` does."""
    if not call.args and not call.keywords:
        return TRAIN
    given = literal(call.args[0] if call.args else call.keywords[0].value)
    return TRAIN if given is True else EVAL if given is False else MAY_SWITCH


def _is_of(ctx: PythonContext, loss: ast.expr, model: str) -> bool:
    """Whether a loss is made of what a model computes, and hands gradients back to it."""
    made = sources(ctx, ctx.scope(loss), loss) if model else ()
    return any(isinstance(node, ast.Call) and ctx.name(node.func) == model and not _is_cut(ctx, node) for node in made)


def _is_clipped(ctx: PythonContext, clip: ast.Call, cast: Cast) -> bool:
    """Whether a clip is of all parameters of the model whose parameters the optimizer holds."""
    match positional(clip, 0):
        case ast.Call(func=ast.Attribute(value=owner, attr="parameters"), args=[], keywords=[]):
            return "model" in cast and ctx.name(owner) == cast["model"]
    return False


def _is_cut(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether a value is detached where it is made (`several`)."""
    within = (each for each in ctx.ancestors(node) if isinstance(each, ast.Attribute))
    return any(each.attr in ("detach", "data", "item") for each in within)


def _may(ctx: PythonContext, receiver: ast.expr, method: str, cast: Cast) -> str | None:
    """What `x.zero_grad()`, `x.train()` and `x.eval()` do, of something that has no role."""
    name, model = ctx.name(receiver), cast.get("model", "")
    if method != "zero_grad" and model and name is not None and name.startswith(f"{model}."):
        return LEAVES  # a part of the model has a mode of its own
    return MAY[method]


def _is_deleted(ctx: PythonContext, node: ast.Attribute) -> bool:
    return node.attr == "grad" and isinstance(node.ctx, ast.Del)


def _has_modes_of_its_own(ctx: PythonContext, method: ast.Attribute) -> bool:
    """Whether a class of the project overrides a method of a model, or the one behind `eval` (`overridden`).

    Of a model that a function is given the class is not known: it may be any of the file (the law of indirections).
    """
    kind = instances.of(ctx, method.value)
    asked = {"train", "eval"} if method.attr == "eval" else {method.attr} & {"train", "zero_grad"}
    if kind is not None:
        refs = [Ref.of(each) for each in kind.names if ":" in each]
    else:
        refs = [Ref(ctx.path, name) for name in ctx.facts.classes]
        refs = [each for each in refs if ctx.index.descends(each, TORCH_MODULE) is not False]
    return any(ctx.index.method(ref, name) is not None for ref in refs for name in asked)


def _makes_a_module(ctx: PythonContext, target: ast.Name | ast.Attribute) -> bool:
    """Whether a name is given a module that a class of torch or of the project makes, perhaps moved to a device."""
    holder = ctx.parent(target)
    made = holder.value if isinstance(holder, (ast.Assign, ast.AnnAssign)) else None
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr in ("to", "cuda"):
        made = made.func.value
    origins = ctx.origin(made.func) if isinstance(made, ast.Call) else frozenset()
    return bool(origins) and all(_is_a_module(ctx, each) for each in origins)


def _is_a_module(ctx: PythonContext, name: str) -> bool:
    """Whether a class is one of modules, and leaves its mode as it is when it is made."""
    if ":" not in name:
        package, _, last = name.rpartition(".")
        return package == "torch.nn" and last[:1].isupper()
    ref = Ref.of(name)
    there = ctx.other(ref.path)
    if there is None or ctx.index.klass(ref) is None or ctx.index.descends(ref, TORCH_MODULE) is not True:
        return False
    words = {
        node.attr for klass in there.classes(ref.name) for node in ast.walk(klass) if isinstance(node, ast.Attribute)
    }
    return "eval" not in words and ctx.index.method(ref, "train") is None


def _is_made(ctx: PythonContext, target: ast.Name | ast.Attribute) -> bool:
    """Whether a name is given a scheduler that a call makes."""
    match ctx.parent(target):
        case ast.Assign(value=ast.Call() as call) | ast.AnnAssign(value=ast.Call() as call):
            return is_schedule(ctx, call)
    return False
