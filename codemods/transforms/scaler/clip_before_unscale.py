"""Gradients are clipped while the scaler's factor is still in them.

Between `scaler.scale(loss).backward()` and `scaler.step(optimizer)` every gradient is multiplied by the loss scale
(65,536 to begin with). A clip that runs in between measures and shortens these numbers, not the gradients.

## Why is this bad?
Nothing is raised. `clip_grad_norm_(parameters, 1.0)` sees a norm tens of thousands of times too large, scales all
gradients down to a norm of 1, and `scaler.step` then divides by the scale once more: the update all but vanishes, and
what is left of it changes whenever the scale does. Logged norms are wrong by the same factor. In every version of
torch that has a `GradScaler`, up to 2.15.

`scaler.unscale_(optimizer)` divides the gradients first; `scaler.step` notices and does not divide again.

## Fix safety
Safe: `scaler.unscale_(optimizer)` is inserted directly before the first clip, for every optimizer that the scaler steps
after it. A disabled scaler ignores the call. Training changes, and that is the point: with the intended clip the
steps are as large as asked for, so a learning rate that was tuned around the bug may need another look.

Where scaling and stepping stand under the same condition (`if use_amp:`) and the clip does not, the inserted call
stands under that condition, too.

Unsafe where the scaler comes from outside and no annotation, constructor or caller in sight says that it is a
`GradScaler` (other classes of scalers may have no `unscale_`), and where a handler, a hook or a context manager may
unscale already: a second `unscale_` before `update()` raises. Possible, and unsafe, where a bound may know the scale,
where other code may make or replace the gradients, where what is clipped seems to belong to another optimizer, and
where an option or a test may switch the scaler off, or the scaler is told by how much its scale changes: a bound may be
meant for a scale that stays. Unsafe where something between the clip and the step may raise: the update is left out
then, and the next `unscale_` is the second before one.

## When it is not offered
Only reported: where a caller gives a scaler of another class; where the clip runs more often than the step (on every
micro-step of an accumulation; a second `unscale_` before `update()` raises `unscale_() has already been called on this
optimizer since the last update().`), where the step can be skipped after the clip by `continue`, `break` or `return`
(same message one iteration later), where the receiver is only half known to be a `GradScaler`, and where it cannot be
told which optimizer is stepped.

Silent where `unscale_` is called before, here or in a function called in between, where the code divides by
`get_scale()` or writes to `.grad` itself, where the bound of the clip or what becomes of the norm knows of the scale
(`clip_grad_norm_(p, 0.5 * scale)`, `norm / scaler.get_scale()`), and where a backward without scaling may have made the
gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.grad_scaler import Scaler
from codemods.analysis.mentions import mentions
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import Training, trainings
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.scaler.clips import ScaledClip, scaled_clips
from codemods.frameworks.scaler.questions import scale_may_change
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule

rule = Rule(
    code="SCL001",
    name="clip-before-unscale",
    summary="gradients are clipped while they are still multiplied by the loss scale",
    fix_title="Unscale the gradients before the clip",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.SIZES,
    knows=AROUND_STEPS,
    triggers=(("step",), ("GradScaler", "scaler", "scale", "unscale_")),
    references=("https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping",),
)


@rule.on(ast.Module)
def clip_before_unscale(_: ast.Module, ctx: PythonContext) -> Iterator[Draft]:
    for training in trainings(ctx):
        for scaler in training.scalers:
            if not scaler.disabled:
                yield from (_draft(training, scaler, each) for each in scaled_clips(training, scaler))


def _draft(training: Training, scaler: Scaler, found: ScaledClip) -> Draft:
    ctx = training.ctx
    written = (ctx.name(found.clip.func) or "the clip").rpartition(".")[2]
    wanted = found.calls(scaler)
    message = f"`{written}` sees gradients that are still multiplied by the loss scale: {wanted} must run before it"
    if found.fix is None:
        message = f"{message} ({found.obstacle})"
    fix = found.fix if scaler.sure else None
    # a bound may be meant for the scale, where that stays as it is (`static_scale`)
    is_bug = (*found.is_bug, no_scale_is_thrown_away(ctx), scale_may_change(training, scaler))
    return rule.finding(found.clip, fix=fix, message=message, is_bug=is_bug, is_right=found.is_right)


@question
def no_scale_is_thrown_away(ctx: PythonContext) -> Answer:
    """Whether no scaled loss of the program is thrown away: such gradients are not scaled (`beside_a_discard`)."""
    return unless(
        each.evidence("this scaled loss is thrown away")
        for each in mentions(ctx, "scale")
        if each.call is not None and isinstance(each.ctx.parent(each.call), ast.Expr)
    )
