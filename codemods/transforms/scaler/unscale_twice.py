"""A gradient scaler unscales an optimizer twice between two updates.

## Why is this bad?
`unscale_` notes that the optimizer is unscaled, and only `update` forgets it. The second call raises:

    RuntimeError: unscale_() has already been called on this optimizer since the last update().

Mostly the gradients of several batches are added up, and each batch unscales, where only the last one steps and
updates. Moved into the condition of the step, the norm that is clipped is the one of float32 (2.236; PyTorch 2.13).

## Fix safety
There is none: which of the two calls goes depends on what works with the gradients in between.

## When it is not offered
Silent where another optimizer is unscaled, where something in between may update the scaler or bind another one to its
name, where the error is caught, where the second call depends on another condition than a count of batches, and for a
scaler that is off. Possible where a setting may switch the scaler off, and where the count may be 1.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.grad_scaler import Scaler, optimizer
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import Training, trainings
from codemods.analysis.unfollowed import nothing_here_is_unfollowed
from codemods.flow.answers import Answer, unknown
from codemods.flow.protocols import Violation
from codemods.frameworks.scaler.course import unscaled_twice
from codemods.frameworks.scaler.questions import is_scaler, made_in_sight, scaler_is_on
from codemods.frameworks.training import questions
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import TRIES

rule = Rule(
    code="SCL007",
    name="unscale-twice",
    summary="a scaler unscales an optimizer twice between two updates",
    fix_title="Unscale once before each step",
    safety=Safety.DISPLAY,
    consequence=Consequence.RAISES,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    triggers=(("unscale_",), ("step", "scale")),
    errors=("unscale_() has already been called on this optimizer since the last update().",),
    references=("https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler.unscale_",),
)


@rule.on(ast.Module)
def unscale_twice(_: ast.Module, ctx: PythonContext) -> Iterator[Draft]:
    for training in trainings(ctx):
        for scaler in training.scalers:
            if not scaler.sure or scaler.disabled or training.hides("update"):
                continue
            given = [name for each in scaler.unscales if (name := ctx.name(optimizer(each)))]
            for name in dict.fromkeys(given):
                yield from _of_optimizer(training, scaler, name)


def _of_optimizer(training: Training, scaler: Scaler, name: str) -> Iterator[Draft]:
    """The first place where an optimizer is unscaled a second time."""
    ctx, cast = training.ctx, {"scaler": scaler.name, "optimizer": name}
    found = [each for each in unscaled_twice(ctx, training.scope, cast) if not _is_caught(training, each)]
    for each in sorted(found, key=lambda each: getattr(each.node, "lineno", 0)):
        test = next((t for s in scaler.steps if (t := questions.counted(ctx, s, each)) is not None), None)
        always = each.hangs_only_on(questions.own_tests(ctx, each.node))
        if (
            not isinstance(each.since, ast.Call)
            or not isinstance(each.node, ast.Call)
            or not (always or test is not None)
        ):
            continue
        again = (
            "in each round, and not each round updates the scaler"
            if each.since is each.node
            else "again before an update"
        )
        yield rule.finding(
            each.node,
            message=f"`{ctx.written(each.node.func)}` unscales `{name}` {again}",
            evidence=[ctx.evidence(each.since, "unscaled here")] if each.since is not each.node else [],
            is_bug=[
                is_scaler(training, scaler),
                scaler_is_on(ctx, scaler),
                *made_in_sight(ctx, scaler),
                questions.whatever_is_decided(ctx, each.node, [each]),
                *([_counts(ctx, test)] if test is not None and not always else []),
                nothing_here_is_unfollowed(ctx, each.node),
            ],
        )
        return


def _is_caught(training: Training, violation: Violation) -> bool:
    """Whether a handler around the second call alone takes what it raises (`guarded`)."""
    node, since = violation.node, violation.since
    loop = training.flow.loop(node)
    around = [above for above in training.ctx.ancestors(node) if isinstance(above, TRIES) and _handles(above)]
    alone = (loop is not None and training.inside(each, loop) for each in around)
    return any(since is None or not training.inside(since, each) for each in around) or (since is node and any(alone))


def _handles(block: ast.AST) -> bool:
    return bool(getattr(block, "handlers", ()))


def _counts(ctx: PythonContext, test: ast.expr) -> Answer:
    """Whether a test that counts batches lets some of them pass (`named_gate`)."""
    if not any(isinstance(node, (ast.Mod, ast.Compare)) for node in ast.walk(test)):
        return unknown(ctx.evidence(test, f"`{ctx.written(test)}` may hold for each batch"))
    return questions.a_window_has_several_rounds(ctx, test)
