"""A torch below 2.6, where the project evaluates a `nn.TransformerEncoder` under autocast on the CPU.

## Why is this bad?
In evaluation the encoder leaves its Python code for a fused kernel, which below torch 2.6 mixes weights and
activations of different dtypes under CPU autocast:

    RuntimeError: mat1 and mat2 must have the same dtype, but got BFloat16 and Float

torch 2.6 cures every form of it but one: right-padded batches with a padding mask, whose nested path still fails in
2.15 (`expected scalar type Float but found BFloat16`). ATT001 finds each encoder and switches the path off in the
code; this rule is for people who would rather move on to a release without the bug.

## Fix safety
By default nothing is edited. The strategy `torch-2.6` raises the floor: unsafe, for a new minor release of torch
changes much besides. A pin stays a pin, a range keeps its ceiling. Possible where the number of heads is not in sight,
and where the program sets an `eps` or enters `enable_grad`.

## When it is not offered
Where no `batch_first=True` layer and no mixed precision on the CPU are surely there (CUDA is not affected), and where
a padding mask is passed, for which no release helps. A range that allows 2.6 as well is mentioned only when the
strategy is asked for. Lock files are reported with the command that refreshes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemods.analysis.pinned_in_code import no_code_pins_another_release
from codemods.frameworks import minimum_versions
from codemods.frameworks.versions import encoders
from codemods.frameworks.versions.messages import why_not
from codemods.model.edits import Consequence, Safety
from codemods.project import ranges
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.sources.manifest import Requirement

AFFECTED, FLOOR = "<2.6", "2.6.0"

rule = Rule(
    code="VER003",
    name="encoder-fastpath-floor",
    summary="torch below 2.6 fails where `nn.TransformerEncoder` is evaluated under CPU autocast",
    fix_title="Ask for a torch whose fused encoder takes autocast",
    safety=Safety.DISPLAY,
    bounds={"torch-2.6": Safety.UNSAFE},
    consequence=Consequence.RAISES,
    elsewhere=(b"torch", b"Torch"),
    errors=(
        "mat1 and mat2 must have the same dtype, but got BFloat16 and Float",
        "expected scalar type BFloat16 but found Float",
    ),
    references=(
        "https://github.com/pytorch/pytorch/pull/135936",
        "https://github.com/pytorch/pytorch/issues/132613",
    ),
    strategies=("report", "torch-2.6"),
    bites={"torch": AFFECTED},
)


@rule.on(Requirement)
def encoder_fastpath_floor(requirement: Requirement, ctx: FileContext) -> Iterator[Draft]:
    if requirement.package != "torch" or requirement.specs is None:
        return
    asked = ctx.strategies.get(rule.code) == "torch-2.6"
    weigh = ranges.some if asked else ranges.every
    if not weigh(requirement.specs, AFFECTED) or (path := encoders.evaluated_on_cpu(ctx)) is None:
        return
    message = f"the encoder in {path} is evaluated under CPU autocast, which torch 2.6 cures"
    is_bug = [encoders.layers_are_in_sight(ctx, path), no_code_pins_another_release(ctx, {"torch": AFFECTED})]
    edits = minimum_versions.floor_edits(ctx, "torch", FLOOR) if asked else None
    if edits is None:
        why = f"; {why_not(requirement, FLOOR)}" if asked or not requirement.editable else ""
        yield rule.finding(requirement, message=message + why, is_bug=is_bug)
    elif (new := edits.get(ctx.path, {}).get(requirement)) is not None:
        raised = Remedy({requirement: new}, "Ask for torch 2.6")
        yield rule.offer(requirement, {"report": Remedy(), "torch-2.6": raised}, message=message, is_bug=is_bug)
