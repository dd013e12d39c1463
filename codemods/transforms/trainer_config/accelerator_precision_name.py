"""Names of precisions that `Accelerator(mixed_precision=…)` refuses.

## Why is this bad?
Accelerate knows `"no"`, `"fp16"`, `"bf16"` and `"fp8"`, and nothing else:

    ValueError: Unknown mixed_precision mode: float16. Choose between ['no', 'fp8', 'fp16', 'bf16']

## Fix safety
Safe: before, the call could only raise, and a name such as `float16` leaves no choice.

## When it is not offered
For names that leave a choice (`16`, `half`), which are reported; for values that are no literals; for objects that are
not surely an `Accelerator`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from codemods.analysis.python_context import PythonContext
from codemods.analysis.unfollowed import no_weights_are_halved
from codemods.frameworks.removed_names.arguments import nobody_reads_it, old_values
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule

rule = Rule(
    code="HF006",
    name="accelerator-precision-name",
    summary="no release of Accelerate knows this name of a precision",
    fix_title="Use the name that Accelerate gives this precision",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.EQUAL,
    triggers=(("mixed_precision",), ("Accelerator",)),
    errors=("Unknown mixed_precision mode:",),
    references=("https://huggingface.co/docs/accelerate/package_reference/accelerator",),
)


@rule.on(ast.Call)
def unknown_precision(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    for draft in old_values(rule, call, ctx):
        remedy = draft.remedy
        if remedy is not None:  # a scaler refuses the gradients of halved weights (halved)
            read = nobody_reads_it(ctx, call, "mixed_precision")  # under its old name (`read_as_a_key`)
            remedy = replace(remedy, is_right=[*remedy.is_right, no_weights_are_halved(ctx), read])
        yield replace(draft, remedy=remedy)
