"""Training goes on from a saved optimizer, and its gradient scaler begins again.

## Why is this bad?
A scaler learns its scale: it halves it after an overflow, and doubles it after 2000 steps without one. Made anew beside
`optimizer.load_state_dict(…)` it begins at 65536, and the first steps overflow and are left out, silently: the weights
are others than those of a run that was not interrupted (run with PyTorch 2.13). It mends itself after some steps; each
resume costs them again.

## Fix safety
There is none: the state has to be saved as well, `"scaler": scaler.state_dict()`, and checkpoints that were written
before do not hold it. A scaler that is off has an empty state, which one that is on refuses to load:

    RuntimeError: The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.

## When it is not offered
Silent where a scaler is restored, is off, or steps another optimizer. Possible where what restores a state is not
known, and where the scaler may be off.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis import instances
from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.calls import given, literal
from codemods.analysis.grad_scaler import switch
from codemods.analysis.mentions import Occurrence, mentions
from codemods.analysis.optimizers import optimizes
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, no, question, unless
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.model.names import GRAD_SCALER
from codemods.rules.rule import Draft, Rule
from codemods.syntax.facts import Facts

_CLASS = "GradScaler"

rule = Rule(
    code="SCL014",
    name="scaler-state-not-saved",
    summary="training goes on from a saved optimizer, and its gradient scaler begins again",
    fix_title="Save and restore the scaler",
    safety=Safety.DISPLAY,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    effect=Effect.NUMBERS,
    triggers=(("load_state_dict",),),
    somewhere=(b"GradScaler",),
    errors=("The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler",),
    references=("https://docs.pytorch.org/docs/stable/notes/amp_examples.html",),
)


@rule.on(ast.Call)
def scaler_state_not_saved(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "load_state_dict" or not _scalers_are_made(ctx):
        return
    if optimizes(ctx, func.value) is not True:
        return
    optimizer, complete = possible_values(ctx, func.value, returns=True, given=given)
    makers: set[ast.AST] = {each.node for each in optimizer if isinstance(each.node, ast.Call) and not each.path}
    if not complete or not makers:
        return
    for step in mentions(ctx, "step"):
        made = _scaler(step, makers)
        if made is None:
            continue
        where, scaler = made
        yield rule.finding(
            call,
            message=f"`{ctx.written(func.value)}` is restored here, and its gradient scaler is not",
            evidence=[where.evidence(scaler, "this begins at its first scale")],
            is_bug=[no_scaler_is_restored(ctx), the_scaler_is_on(where, scaler)],
        )
        return


def _scalers_are_made(ctx: PythonContext) -> bool:
    """Whether a file of the project may call a class of scalers: cheaper to tell than who is given an optimizer."""
    if (_scalers_are_made,) not in ctx.memo:
        found = (ctx.index.facts(path) for path in ctx.index.search(ctx.path, (_CLASS.encode(),)))
        ctx.memo[_scalers_are_made,] = any(facts is not None and _calls_one(facts) for facts in found)
    return bool(ctx.memo[_scalers_are_made,])


def _calls_one(facts: Facts) -> bool:
    """By its name, as a value, or by another name that an import gives it (`under_another_name`)."""
    renamed = (each for each in facts.imports if each.target.endswith(_CLASS) and not each.name.endswith(_CLASS))
    return any(name.endswith(_CLASS) for name in (*facts.called, *facts.loads)) or next(renamed, None) is not None


def _scaler(step: Occurrence, makers: set[ast.AST]) -> tuple[PythonContext, ast.Call] | None:
    """The call that makes the scaler of `scaler.step(optimizer)`, where the optimizer is one that these calls make."""
    if step.call is None or len(step.call.args) != 1 or step.receiver is None:
        return None
    stepped = possible_values(step.ctx, step.call.args[0], returns=True, given=given)[0]
    if not any(each.node in makers for each in stepped):
        return None
    found, complete = possible_values(step.ctx, step.receiver, returns=True, given=given)
    made = [(each.ctx, each.node) for each in found if isinstance(each.node, ast.Call) and not each.path]
    sure = complete and len(made) == len(found) == 1 and made[0][0].means(made[0][1].func, GRAD_SCALER)
    off = sure and (flag := switch(made[0][1])) is not None and literal(flag) is False
    return made[0] if sure and not off else None


@question
def no_scaler_is_restored(ctx: PythonContext) -> Answer:
    """Whether nothing in the program restores the state of a gradient scaler, or of what nobody knows."""
    others = []
    for each in mentions(ctx, "load_state_dict"):
        if each.receiver is None or optimizes(each.ctx, each.receiver) is True:
            continue
        if each.ctx.is_a(each.receiver, GRAD_SCALER):
            return no(each.evidence("a scaler is restored here"))
        if instances.of(each.ctx, each.receiver) is None and not _is_called(each):
            others.append(each.evidence("what is restored here is not known"))
    return unless(others)


def _is_called(each: Occurrence) -> bool:
    """Whether the file calls what is restored, as a model is."""
    name = each.ctx.name(each.receiver)
    return name is not None and any(each.ctx.name(call.func) == name for call in each.ctx.all(ast.Call))


@question
def the_scaler_is_on(ctx: PythonContext, scaler: ast.Call) -> Answer:
    """Whether no setting may switch a scaler off, whose state is empty (`by_a_setting`)."""
    flag = switch(scaler)
    known = flag is None or literal(flag) is True or ctx.calls(flag, "torch.cuda.is_available")
    return unless([] if known or flag is None else [ctx.evidence(flag, "the scaler may be off")])
