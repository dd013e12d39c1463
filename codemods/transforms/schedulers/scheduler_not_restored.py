"""Training goes on from a saved optimizer, and the schedule of its learning rate begins again.

## Why is this bad?
A scheduler counts its steps itself. Made anew beside `optimizer.load_state_dict(…)`, it begins at 0: a cosine over ten
epochs that was resumed at the fifth went from 0.5 to 0.327 instead of 0.024, a linear decay jumped back to 0.9, and a
one-cycle schedule warmed up once more (run with PyTorch 2.13). Nothing raises and nothing warns.

## Fix safety
There is none: the state has to be saved as well, `"scheduler": scheduler.state_dict()`, and checkpoints that were
written before do not hold it; `last_epoch=` says where an old one stands.

## When it is not offered
Silent where a scheduler is restored, is made with `last_epoch`, is never advanced, or is told where it stands
(`step(epoch)`), and for `ExponentialLR`, which multiplies the rate that is restored with the optimizer. Possible where
a scheduler may be advanced to where it was, where a function computes the rate from something else than the count,
where what restores a state is not known, and where `last_epoch` is set.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.analysis import instances
from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.calls import argument, given, has_splat, keyword, literal, positional
from codemods.analysis.mentions import Occurrence, mentions, stores
from codemods.analysis.optimizers import is_schedule, optimizes
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own

_COMPUTED = ("LambdaLR", "MultiplicativeLR")
"""Schedulers that ask a function for the rate."""
_CONTINUED = (".ExponentialLR",)
"""Schedulers that multiply the rate that is there, whatever the count: it is restored with the optimizer."""

rule = Rule(
    code="SCH001",
    name="scheduler-not-restored",
    summary="training goes on from a saved optimizer, and its schedule begins again",
    fix_title="Restore the scheduler",
    safety=Safety.DISPLAY,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    effect=Effect.NUMBERS,
    triggers=(("load_state_dict",),),
    somewhere=(b"lr_scheduler",),
    references=("https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html",),
)


@rule.on(ast.Call)
def scheduler_not_restored(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "load_state_dict" or optimizes(ctx, func.value) is not True:
        return
    schedules = [*_schedules(ctx, func.value)]
    if not schedules and (given_one := _beside(ctx, call)) is not None:
        yield _of_a_given(call, ctx, *given_one)
        return
    steps = [(each, _makers(each)) for each in _steps(ctx)] if schedules else []
    for where, made in schedules:
        advances = [each for each, makers in steps if made in makers]
        if not advances or any(each.call is None or each.call.args or each.call.keywords for each in advances):
            continue
        if all(each.endswith(_CONTINUED) for each in where.origin(made.func)):
            continue
        what = (where.name(made.func) or "scheduler").rpartition(".")[2]
        yield rule.finding(
            call,
            message=f"`{ctx.written(func.value)}` is restored here, and its `{what}` is not: the schedule begins again",
            evidence=[where.evidence(made, "this counts from 0")],
            is_bug=[
                begins_at_zero(where, made),
                no_schedule_is_restored(ctx, made),
                is_not_advanced_before(advances),
                rate_follows_the_count(where, made),
                no_rate_is_set_anew(ctx, call),
            ],
        )
        return


def _beside(ctx: PythonContext, call: ast.Call) -> tuple[Occurrence, ast.expr] | None:
    """The step of a scheduler that the same class was given: nobody shows where it is made (`given_to_a_class`)."""
    klass = ctx.klass(call)
    for each in _steps(ctx) if klass is not None else ():
        if each.ctx is not ctx or ctx.klass(each.node) != klass or each.receiver is None or each.call is None:
            continue
        plain = not each.call.args and not each.call.keywords
        if plain and is_schedule(ctx, each.receiver) and not any(isinstance(m, ast.Call) for m in _makers(each)):
            return each, each.receiver
    return None


def _of_a_given(call: ast.Call, ctx: PythonContext, step: Occurrence, schedule: ast.expr) -> Draft:
    assert isinstance(call.func, ast.Attribute)
    restored, written = ctx.written(call.func.value), ctx.written(schedule)
    return rule.finding(
        call,
        message=f"`{restored}` is restored here, and `{written}` is not: the schedule begins again",
        evidence=[step.evidence("it is advanced here")],
        is_bug=[
            unknown(ctx.evidence(schedule, f"where `{written}` is made is not known")),
            no_schedule_is_restored(ctx, None),
            is_not_advanced_before([step]),
            no_rate_is_set_anew(ctx, call),
        ],
    )


def _schedules(ctx: PythonContext, optimizer: ast.expr) -> Iterator[tuple[PythonContext, ast.Call]]:
    """The calls that make a scheduler of an optimizer, in the files where that is made."""
    values, complete = possible_values(ctx, optimizer, returns=True, given=given)
    makers = {each.node for each in values if isinstance(each.node, ast.Call) and not each.path}
    for where in dict.fromkeys(each.ctx for each in values) if complete and makers else ():
        for made in where.all(ast.Call):
            first = positional(made, 0)
            if first is not None and not has_splat(made) and is_schedule(where, made):
                if any(each.node in makers for each in possible_values(where, first, returns=True, given=given)[0]):
                    yield where, made


def _steps(ctx: PythonContext) -> list[Occurrence]:
    """The places that advance a scheduler, or step something else."""
    return [each for each in mentions(ctx, "step") if each.receiver is not None]


def _makers(step: Occurrence) -> set[ast.AST]:
    assert step.receiver is not None
    return {each.node for each in possible_values(step.ctx, step.receiver, returns=True, given=given)[0]}


@question
def begins_at_zero(ctx: PythonContext, made: ast.Call) -> Answer:
    """Whether a scheduler is made at its beginning: not with `last_epoch`."""
    told = keyword(made, "last_epoch")
    if told is not None:
        return no(ctx.evidence(told, "this says where it stands"))
    return unless(
        each.evidence("this says where it stands") for each in stores(ctx, "last_epoch") if _is_of_another(each)
    )


def _is_of_another(store: Occurrence) -> bool:
    """Whether an attribute is set from outside: a class of schedulers counts with its own."""
    method = store.ctx.method(store.node)
    own = method is not None and store.receiver is not None and store.ctx.name(store.receiver) == method.self
    return store.word != "setattr" and not own


@question
def no_schedule_is_restored(ctx: PythonContext, made: ast.Call | None) -> Answer:
    """Whether nothing in the program restores the state of a scheduler, or of what nobody knows."""
    others = []
    for each in mentions(ctx, "load_state_dict"):
        if each.receiver is None or optimizes(each.ctx, each.receiver) is True:
            continue
        if is_schedule(each.ctx, each.receiver) or made in _makers(each):  # (made_by_a_helper)
            return no(each.evidence("a scheduler is restored here"))
        if _may_be_a_schedule(each):
            others.append(each.evidence("what is restored here is not known"))
    return unless(others)


def _may_be_a_schedule(each: Occurrence) -> bool:
    """Whether nothing shows that an object is something else: what the file calls, and what takes no optimizer."""
    ctx, receiver = each.ctx, each.receiver
    assert receiver is not None
    if (name := ctx.name(receiver)) is not None and any(ctx.name(call.func) == name for call in ctx.all(ast.Call)):
        return False
    return instances.of(ctx, receiver) is None


@question
def is_not_advanced_before(advances: Sequence[Occurrence]) -> Answer:
    """Whether no loop without a backward pass advances a scheduler, as far as it had come (`unsure`)."""
    return unless(
        each.evidence("the scheduler may be advanced to where it was")
        for each in advances
        if _is_in_an_empty_loop(each)
    )


def _is_in_an_empty_loop(step: Occurrence) -> bool:
    loop = step.ctx.enclosing(step.node, ast.For, ast.While)
    return isinstance(loop, (ast.For, ast.While)) and len(loop.body) == 1


@question
def rate_follows_the_count(ctx: PythonContext, made: ast.Call) -> Answer:
    """Whether no function computes the rate from something else than the count."""
    function = argument(made, "lr_lambda", 1)
    if function is None or not all(each.endswith(_COMPUTED) for each in ctx.origin(made.func)):
        return yes()
    return unless([ctx.evidence(function, "this may know where training goes on")])


@question
def no_rate_is_set_anew(ctx: PythonContext, call: ast.Call) -> Answer:
    """Whether the function that restores an optimizer gives it no other rate, for a second stage (`second_stage`)."""
    return unless(
        ctx.evidence(node, "another rate is set here")
        for node in own(ctx.scope(call))
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        if literal(node.slice) in ("lr", "initial_lr")
    )
