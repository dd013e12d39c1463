"""A loss that is divided by the number of accumulated batches, and then by the Accelerator once more.

## Why is this bad?
`accelerator.backward` divides by `gradient_accumulation_steps` itself. With four batches and `loss / 4` the gradient
was 0.369 for 1.477, which is that of the four batches in one (run with Accelerate 1.15): steps are those of a learning
rate four times too small. Nothing raises and nothing warns.

## Fix safety
Unsafe: the division goes, and gradients grow by that factor, which is the point; a learning rate that was tuned on the
small ones may have to be lowered.

## When it is not offered
Reported where the division is a call, or stands in another file. Silent where the Accelerator is made without
`gradient_accumulation_steps`, or is not in sight, and where the loss is divided by something else. Possible where it is
divided by the same number, written out: that may be an average of other things.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.calls import binder, given, keyword, literal, values
from codemods.analysis.mentions import stores
from codemods.analysis.places import where_defined
from codemods.analysis.python_context import PythonContext
from codemods.analysis.sources import carried
from codemods.analysis.values import PossibleValue, possible_values
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks.accelerators import no_environment_says_how_many
from codemods.frameworks.trainer_config.divisions import DIVIDING, Division, factors
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.model.names import ACCELERATOR
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import Verb, delete, replace

_STEPS = "gradient_accumulation_steps"

rule = Rule(
    code="HF019",
    name="loss-divided-beside-accumulate",
    summary="the loss is divided by the number of accumulated batches, and by `accelerator.backward` once more",
    fix_title="Leave the division to the Accelerator",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    effect=Effect.FACTOR,
    triggers=(("backward",),),
    somewhere=(_STEPS.encode(),),
    imports=("accelerate",),
    references=("https://huggingface.co/docs/accelerate/usage_guides/gradient_accumulation",),
)


@rule.on(ast.Call)
def loss_divided_beside_accumulate(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "backward":
        return
    found, complete = possible_values(ctx, func.value, given=given)
    made = [(each.ctx, each.node) for each in found if each.ctx.calls(each.node, ACCELERATOR) and not each.path]
    if not complete or len(made) != 1 or len(found) != 1:
        return
    where, accelerator = made[0]
    steps = keyword(accelerator, _STEPS) if isinstance(accelerator, ast.Call) else None
    if steps is None or literal(steps) == 1:
        return
    for division in factors(ctx, call).divisions:
        if not _divides(division) or not _is_the_number(where, steps, division):
            continue
        shown = division.ctx.evidence(division.node, "divided here")
        yield rule.finding(
            call,
            fix=_undivided(ctx, division),
            message=f"`{ctx.written(func)}` divides by `{where.written(steps)}`, and the loss is divided by it already",
            evidence=[where.evidence(steps, "the Accelerator divides by this"), shown],
            is_bug=[
                is_no_other_average(division),
                number_is_told_nobody_else(division),
                nobody_changes_the_number(ctx),
                each_round_is_a_batch(ctx, call),
                no_environment_says_how_many(ctx),
            ],
        )
        return


def _divides(division: Division) -> bool:
    """Whether a place divides itself: what is given a number may do so, or not (`processes`)."""
    node = division.node
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in DIVIDING
    return isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div)


def _is_the_number(where: PythonContext, steps: ast.expr, division: Division) -> bool:
    """Whether a loss is divided by what the Accelerator is given as its number of batches."""
    ctx, by = division.ctx, division.by
    if isinstance(by, ast.Attribute) and by.attr == _STEPS and ctx.is_a(by.value, ACCELERATOR):
        return True
    if isinstance(literal(by), int):
        return literal(by) == literal(steps)
    mine, whole = possible_values(where, steps, given=given)
    other, complete = possible_values(ctx, by, given=given)
    return whole and complete and {*map(_end, mine)} == {*map(_end, other)}


def _end(value: PossibleValue) -> object:
    """What a value is, or the variable that it is taken from."""
    name = value.ctx.name(value.node)
    if name is None:
        return value.ctx.path, value.node, value.path
    return value.ctx.path, name, binder(value.ctx, name.partition(".")[0], value.node), value.path


def _undivided(ctx: PythonContext, division: Division) -> list[Verb] | None:
    match division.node:
        case ast.BinOp(left=left, op=ast.Div()) as quotient if division.ctx is ctx:
            above = ctx.parent(quotient)
            again = isinstance(above, ast.Assign) and [*map(ctx.name, above.targets)] == [ctx.name(left)]
            return [delete(quotient) if again else replace(quotient, left)]
        case ast.AugAssign(op=ast.Div()) as statement if division.ctx is ctx:
            return [delete(statement)]
    return None


@question
def is_no_other_average(division: Division) -> Answer:
    """Whether a loss is divided by a name for the number of batches, and no number that may mean something else."""
    if literal(division.by) is ...:
        return yes()
    return unknown(division.ctx.evidence(division.node, "this may be an average of something else"))


@question
def number_is_told_nobody_else(division: Division) -> Answer:
    """Whether no function that makes the loss is given the number of batches: it may add as many (`unrolled`)."""
    ctx, by = division.ctx, division.ctx.name(division.by)
    match division.node:
        case ast.BinOp(left=divided) | ast.AugAssign(target=divided) | ast.Call(func=ast.Attribute(value=divided)):
            leaves = carried(ctx, ctx.scope(divided), divided) if by is not None else ()
            calls = (call for leaf in leaves for call in ast.walk(leaf) if isinstance(call, ast.Call))
            told = (call for call in calls if any(ctx.name(each) == by for each in values(call)))
            says = f"this may add as many losses as `{by}` says"
            return unless(where_defined(ctx, call, says, at=call) for call in told)
    return yes()


@question
def nobody_changes_the_number(ctx: PythonContext) -> Answer:
    """Whether nothing in the program sets how many batches the Accelerator accumulates (`set_from_outside`)."""
    return unless(each.evidence("the Accelerator may divide by another number") for each in stores(ctx, _STEPS))


@question
def each_round_is_a_batch(ctx: PythonContext, call: ast.Call) -> Answer:
    """Whether no loop inside of `accelerator.accumulate(…)` divides a batch into as many parts (`chunks`).

    Nor does one add as many losses to the one that is divided (`predictions`).
    """
    loops = []
    region = next((each for each in ctx.ancestors(call) if isinstance(each, ast.With)), None)
    for inner in ast.walk(region) if region is not None else ():
        if isinstance(inner, (ast.For, ast.While)):
            loops.append(ctx.evidence(inner, "the loss may be divided by these rounds"))
    for above in ctx.ancestors(call):
        if isinstance(above, (ast.For, ast.While)):
            loops.append(ctx.evidence(above, "the loss may be divided by these rounds"))
        if isinstance(above, ast.With) and any(_accumulates(each.context_expr) for each in above.items):
            return unless(loops)
    return yes()


def _accumulates(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "accumulate"
