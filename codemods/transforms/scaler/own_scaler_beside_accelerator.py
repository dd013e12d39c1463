"""A loss that a gradient scaler of the program multiplies, in front of `accelerator.backward`.

## Why is this bad?
With `mixed_precision="fp16"` the Accelerator has a scaler of its own. The loss is multiplied by both, and the step
divides by one: with Accelerate 1.15 the update was 0.0 for 0.002. Nothing raises and nothing warns. In other precisions
the Accelerator scales nothing, and the scaler of the program works.

## Fix safety
There is none: the scaler goes, with its `step`, `update` and `unscale_`, or the precision of the Accelerator does.

## When it is not offered
Silent where the Accelerator has another precision. Possible where its precision is not in sight: `accelerate launch`
may set it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.python_context import PythonContext
from codemods.frameworks.accelerators import scales_gradients
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.names import ACCELERATOR, GRAD_SCALER
from codemods.rules.rule import Draft, Rule

rule = Rule(
    code="SCL013",
    name="own-scaler-beside-accelerator",
    summary="the loss is multiplied by a scaler of the program, and by that of the Accelerator",
    fix_title="Leave the scaling to the Accelerator",
    safety=Safety.DISPLAY,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    triggers=(("backward",), ("scale",), ("Accelerator", "accelerator", "accelerate")),
    references=("https://huggingface.co/docs/accelerate/concept_guides/gradient_synchronization",),
)


@rule.on(ast.Call)
def own_scaler(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    match call:
        case ast.Call(
            func=ast.Attribute(value=accelerator, attr="backward"),
            args=[ast.Call(func=ast.Attribute(value=scaler, attr="scale")) as scaled, *_],
        ):
            pass
        case _:
            return
    name = ctx.name(accelerator)
    if name is None or not ctx.is_a(accelerator, ACCELERATOR) or not ctx.is_a(scaler, GRAD_SCALER):
        return
    yield rule.finding(
        scaled,
        message=f"`{ctx.written(scaled.func)}` multiplies the loss by a scale, and `{name}` by another one",
        is_bug=[scales_gradients(ctx, name)],
    )
