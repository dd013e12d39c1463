"""Who uses the gradients of a raw backward call beside an Accelerator, or Fabric."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from codemods.analysis import instances
from codemods.analysis.calls import binder, literal, named_calls, values
from codemods.analysis.definite_assignment import is_assigned
from codemods.analysis.gradient_use import (
    Consumers,
    Obstacle,
    ReachedCode,
    consumers,
    gradients_are_for_the_owner,
    gradients_are_taken_back,
    judge,
    obstacle,
)
from codemods.analysis.gradient_watchers import (
    every_backward_is_known,
    functions_are_linear,
    no_hook_sees_gradients,
    no_other_code_reads_gradients,
)
from codemods.analysis.python_context import PythonContext
from codemods.analysis.replacements import is_no_stand_in, nobody_overrides
from codemods.analysis.tensors import is_raw_backward
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.accelerators import Keeping, is_keeper, keeper, prepared
from codemods.frameworks.gradients.grad_mode import gradients
from codemods.model.names import TORCH_MODULE
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS, own

_CALLERS = 3
"""How many calls outward is looked for the code around a backward call."""


def redirecting(
    ctx: PythonContext, call: ast.Call, keeping: Keeping, name: str, stays: Callable[[PythonContext, ast.Call], bool]
) -> tuple[Answer, list[Answer]]:
    """What it rests on that a keeper has to differentiate a loss, and that it may, in place of a raw backward call.

    Args:
        name: of the keeper, as it is written at the call.
        stays: whether another raw backward call of the same code is left as it is.
    """

    def by_keeper(where: PythonContext, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=ast.Attribute(value=owner)):
                return where.name(owner) is not None and is_keeper(where, owner, keeping)
        return False

    def is_repaired(where: PythonContext, each: ast.Call) -> bool:
        return is_raw_backward(where, each) and (where is ctx or keeper(where, each, keeping) is not None)

    users, code = _consumers(ctx, call, keeping, f"`{name}`", stays, by_keeper)
    is_right = [
        nothing_else_takes_it(ctx, name, call),
        gradients_are_taken_back(users),
        is_assigned(ctx, name, call),
        nobody_overrides(ctx, keeping.classes, "backward"),
        is_no_stand_in(ctx, name, call, keeping.classes),
        no_hook_sees_gradients(ctx),
        functions_are_linear(ctx),
        every_backward_is_known(ctx, code, lambda where, each: is_repaired(where, each) or by_keeper(where, each)),
        no_other_code_reads_gradients(ctx, code, by_keeper),
    ]
    return gradients_are_for_the_owner(users.other()), is_right


@question
def nothing_else_takes_it(ctx: PythonContext, name: str, call: ast.Call) -> Answer:
    """Whether no call on another way past a raw backward is given the keeper, and may differentiate.

    Fixture: `either_by_a_helper`.
    """
    flow, scope = ctx.flow_of(ctx.scope(call)), own(ctx.scope(call))
    others = (each for each in scope if isinstance(each, ast.Call) and name in map(ctx.name, values(each)))
    return unless(ctx.evidence(each, f"`{name}` may differentiate here") for each in others if flow.apart(call, each))


def _consumers(
    ctx: PythonContext,
    call: ast.Call,
    keeping: Keeping,
    owner: str,
    stays: Callable[[PythonContext, ast.Call], bool],
    by_keeper: Callable[[PythonContext, ast.AST], bool],
) -> tuple[Consumers, ReachedCode]:
    """Who uses the gradients of a raw backward call beside a keeper: as far outward as an optimizer is stepped."""

    def undoes(where: PythonContext, node: ast.expr) -> bool | None:
        if isinstance(node, ast.Call) and any(o.startswith("torch.optim.") for o in where.origin(node.func)):
            return False
        if isinstance(node, ast.Name) and isinstance(function := binder(where, node.id, node), FUNCTIONS):
            bound = where.bindings(function).get(node.id, ())
            if all(isinstance(binding.value, (ast.Name, ast.Subscript)) for binding in bound):
                return None  # a parameter, or another name for something: what is given for it counts
        if isinstance(node, ast.Attribute) and node.attr == "optimizer":
            inner = judge(code, where, node.value, undoes)
            return False if inner else prepared(where, node, keeping)
        return prepared(where, node, keeping)

    users, at = Consumers(frozenset(), ()), ctx.evidence(call, "it is differentiated here")
    for outward in range(_CALLERS + 1):
        code = ReachedCode.around(ctx, call, outward)
        users = consumers(code, at, undoes, owner, known_to=by_keeper)
        if users.steps:
            break
    raw = ((where, n) for where, n in code.nodes if isinstance(n, ast.Call) and is_raw_backward(where, n))
    staying = [obstacle(where, n, "this call stays raw", sure=False) for where, n in raw if stays(where, n)]
    return users.beside((*staying, *_unprepared(code, keeping, owner))), code


def _unprepared(code: ReachedCode, keeping: Keeping, owner: str) -> Iterator[Obstacle]:
    """Modules that are made in sight, called with gradients on, and prepared by nobody."""
    seen: set[str] = set()
    for ctx, node in code.nodes:
        if not isinstance(node, ast.Call) or (name := ctx.name(node.func)) is None or name in seen:
            continue
        kind = instances.of(ctx, node.func)
        if kind is None or kind.how != "constructor" or not all(_has_parameters(ctx, k) for k in kind.names):
            continue
        if prepared(ctx, node.func, keeping) is not True and not _frozen(ctx, name, node):
            seen.add(name)
            yield obstacle(ctx, node, f"`{name}` is a module that {owner} is not seen to prepare", sure=False)


def _has_parameters(ctx: PythonContext, name: str) -> bool:
    """Whether a class is one of modules that may have parameters."""
    if ":" in name:
        return ctx.index.descends(Ref.of(name), TORCH_MODULE) is not False
    last = name.rpartition(".")[2]
    return name.startswith("torch.nn.") and last[:1].isupper() and not last.endswith("Loss")


def _frozen(ctx: PythonContext, name: str, call: ast.Call) -> bool:
    """Whether a call runs without gradients, or the module's parameters take none."""
    if gradients(ctx, call) == "off":
        return True
    frozen = (c for c in named_calls(ctx, "requires_grad_") if ctx.name(c.func) == f"{name}.requires_grad_")
    return any(c.args and literal(c.args[0]) is False for c in frozen)
