"""What happens to the gradients of an optimizer beside a gradient scaler, over the functions that a training calls."""

from __future__ import annotations

import ast

from codemods.analysis.calls import positional, super_method
from codemods.analysis.grad_scaler import spelled
from codemods.analysis.gradient_use import is_used
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import made_of, writes
from codemods.analysis.summaries import Cast, happenings
from codemods.analysis.tensors import METHODS
from codemods.flow.answers import Answer, question, unknown, yes
from codemods.flow.protocols import ANYTHING, Happening, Violation, run
from codemods.frameworks.training.tables import BOUND, LEAVES, MODEL, OPTIMIZER, SCALING, UNSCALED
from codemods.frameworks.training.vocabulary import LoopWords, role_of
from codemods.syntax.module import Scope

_OF_A_SCALER = frozenset({"scale", "update", "state_dict", "load_state_dict", "is_enabled", "get_growth_interval"})
_STEPS = {"step": "scaler step", "unscale_": "unscale"}


class ScaledWords(LoopWords):
    """The vocabulary of trainings with a gradient scaler: the roles are `scaler` and `optimizer`."""

    methods = frozenset({"step", "unscale_", "zero_grad"})

    def event(self, ctx: PythonContext, node: ast.AST, cast: Cast) -> str | None:
        """What a node does by itself."""
        if isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            if role := role_of(ctx.name(node), cast):
                return BOUND[role]
        if isinstance(node, ast.Attribute):
            return "touched" if writes(ctx, node) or is_used(ctx, node) else None
        if not isinstance(node, ast.Call):
            return None
        if (loss := ctx.loss_of(node)) is not None:
            receiver = node.func.value if isinstance(node.func, ast.Attribute) else loss
            scale = f"{cast.get('scaler', '')}.scale"
            scaled = any(made_of(ctx, ctx.scope(node), each, scale) for each in (receiver, loss))
            return "scaled" if scaled else "raw"
        return self._called(ctx, node, node.func, cast) if isinstance(node.func, ast.Attribute) else None

    def _called(self, ctx: PythonContext, call: ast.Call, func: ast.Attribute, cast: Cast) -> str | None:
        receiver, first = spelled(ctx, func.value), spelled(ctx, positional(call, 0))
        mine = first is not None and first == cast.get("optimizer")
        if func.attr in _STEPS and mine:
            return _STEPS[func.attr]
        if receiver is not None and receiver == cast.get("scaler"):
            return LEAVES if func.attr in _OF_A_SCALER or func.attr in _STEPS else "touched"
        if receiver is not None and receiver == cast.get("optimizer"):
            return OPTIMIZER.get(func.attr)
        return "touched" if func.attr == "get_scale" else None


class UnscaledWords(ScaledWords):
    """The same for what the scaler notes of an optimizer, which its `update` forgets, and its own attributes hold."""

    methods = ScaledWords.methods | {"update"}

    def event(self, ctx: PythonContext, node: ast.AST, cast: Cast) -> str | None:
        """What a node does by itself."""
        method = node.func if isinstance(node, ast.Call) else node
        mine = isinstance(method, ast.Attribute) and spelled(ctx, method.value) == cast.get("scaler", "")
        if isinstance(method, ast.Attribute) and mine:
            if method.attr == "update" and method is not node:
                return "update"
            if method.attr.startswith("_"):
                return ANYTHING  # `scaler._per_optimizer_states.clear()` (`by_hand`)
        if isinstance(node, ast.Call) and super_method(node):
            return ANYTHING  # (`of_its_base`)
        event = super().event(ctx, node, cast)
        return event if event != "touched" else ANYTHING if mine else LEAVES

    def is_harmless(self, ctx: PythonContext, call: ast.Call) -> bool:
        """Whether a call is of a library, of a tensor, or of what has parameters: a module knows no scaler."""
        if isinstance(call.func, ast.Attribute) and (call.func.attr in MODEL or call.func.attr in METHODS):
            return True
        modules = {ctx.name(each.value) for each in ctx.all(ast.Attribute) if each.attr == "parameters"} - {None}
        return ctx.name(call.func) in modules or super().is_harmless(ctx, call)


_WORDS = ScaledWords(frozenset(), alone=True)
_UNSCALED_WORDS = UnscaledWords(frozenset(), alone=True)


def violations(ctx: PythonContext, scope: Scope, cast: Cast) -> frozenset[Violation]:
    """Where a function uses gradients of an optimizer that are multiplied by the scale of a scaler."""
    key = (violations, scope, tuple(sorted(cast.items())))
    if key not in ctx.memo:
        ctx.memo[key] = run(SCALING, ctx.flow_of(scope), _happening(ctx, scope, cast), SCALING.start).violations
    found: frozenset[Violation] = ctx.memo[key]
    return found


def unscaled_twice(ctx: PythonContext, scope: Scope, cast: Cast) -> frozenset[Violation]:
    """Where a function has a scaler unscale an optimizer that is unscaled already."""
    nodes = happenings(ctx, scope, cast, _UNSCALED_WORDS, UNSCALED)
    return run(UNSCALED, ctx.flow_of(scope), nodes, UNSCALED.start).violations


def _happening(ctx: PythonContext, scope: Scope, cast: Cast) -> dict[ast.AST, Happening]:
    key = (_happening, scope, tuple(sorted(cast.items())))
    if key not in ctx.memo:
        ctx.memo[key] = happenings(ctx, scope, cast, _WORDS, SCALING)
    found: dict[ast.AST, Happening] = ctx.memo[key]
    return found


@question
def gradients_stay_scaled(ctx: PythonContext, scope: Scope, cast: Cast, violation: Violation) -> Answer:
    """Whether nothing between a backward pass and a step may divide the gradients, or is another optimizer's."""
    if violation.name != "doubtful":
        return yes()
    unseen = [
        ctx.evidence(node, f"`{ctx.written(node)}` may take part")
        for node, what in _happening(ctx, scope, cast).items()
        if isinstance(node, ast.expr) and SCALING.may_lead(what, "scaled", "doubtful")
    ]
    return unknown(*unseen) if unseen else yes()
