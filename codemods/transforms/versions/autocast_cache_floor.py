"""A torch below 2.11, where the project surely meets its autocast cache.

Autocast keeps the low-precision copy of a weight until its outermost region ends. Below torch 2.11 a copy made under
`no_grad` or `inference_mode` is kept as well, without a graph, and is what later forward passes get.

## Why is this bad?
The weights concerned are not trained. Where all are, an error says so; where some are, nothing does:

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

torch 2.11 keeps no such copies; Lightning 2.5.5 switches the cache off around its steps, whatever torch is below it
(both run, with the releases before and after). AMP001 finds each place and repairs it in the code; this rule is for
people who would rather move on to a release without the bug.

## Fix safety
By default nothing is edited. The strategies `torch-2.11` and `lightning-2.5.5` raise the floor: unsafe, for a new
minor release of torch changes much besides. A pin stays a pin, a range keeps its ceiling.

## When it is not offered
Where no such pair of uses is surely there: one module called under `no_grad` and then with gradients in one
`with torch.autocast(…)`, or in the `training_step` of a LightningModule that is trained in mixed precision. A range
that allows 2.11 as well is mentioned only when a strategy is asked for. Lock files are reported with the command that
refreshes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemods.analysis.pinned_in_code import no_code_pins_another_release
from codemods.frameworks import minimum_versions
from codemods.frameworks.versions import cached_weights
from codemods.frameworks.versions.cached_weights import CachedUse
from codemods.frameworks.versions.messages import why_not
from codemods.model.edits import Consequence, Safety
from codemods.project import ranges
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.sources.manifest import Requirement

TORCH, LIGHTNING = "<2.11", "<2.5.5"
FLOORS = {"torch-2.11": ("torch", "2.11.0"), "lightning-2.5.5": ("lightning", "2.5.5")}

rule = Rule(
    code="VER002",
    name="autocast-cache-floor",
    summary="torch below 2.11 gives a forward pass the weights that autocast cached under `no_grad`",
    fix_title="Ask for a release that caches no weights without a graph",
    safety=Safety.DISPLAY,
    bounds=dict.fromkeys(FLOORS, Safety.UNSAFE),
    consequence=Consequence.SILENT,
    elsewhere=(b"torch", b"Torch", b"lightning", b"Lightning"),
    errors=("element 0 of tensors does not require grad and does not have a grad_fn",),
    references=(
        "https://github.com/pytorch/pytorch/pull/165068",
        "https://github.com/Lightning-AI/pytorch-lightning/pull/20921",
    ),
    strategies=("report", *FLOORS),
    bites={"torch": TORCH},
)


@rule.on(Requirement)
def autocast_cache_floor(requirement: Requirement, ctx: FileContext) -> Iterator[Draft]:
    asked = ctx.strategies.get(rule.code, "report")
    package, floor = FLOORS.get(asked, ("torch", "2.11.0"))
    if not _is_about(requirement, package) or requirement.specs is None:
        return
    affected = TORCH if package == "torch" else LIGHTNING
    weigh = ranges.every if asked == "report" else ranges.some
    if not weigh(requirement.specs, affected) or (pair := cached_weights.pair(ctx)) is None:
        return
    if package != "torch" and not pair.in_step:
        return
    bites = {"torch": TORCH, "lightning": LIGHTNING} if pair.in_step else {"torch": TORCH}
    is_bug = [*pair.is_bug, no_code_pins_another_release(ctx, bites)]  # an image may (`image_of_another_release`)
    edits = minimum_versions.floor_edits(ctx, requirement.package, floor) if asked != "report" else None
    if edits is None:
        why = "" if asked == "report" and requirement.editable else f"; {why_not(requirement, floor)}"
        yield rule.finding(requirement, message=_message(pair) + why, is_bug=is_bug, bites=bites)
    elif (new := edits.get(ctx.path, {}).get(requirement)) is not None:
        raised = Remedy({requirement: new}, f"Ask for {requirement.package} {floor}")
        yield rule.offer(
            requirement, {"report": Remedy(), asked: raised}, message=_message(pair), is_bug=is_bug, bites=bites
        )


def _is_about(requirement: Requirement, package: str) -> bool:
    return requirement.package == package if package == "torch" else requirement.package in minimum_versions.COMPROMISED


def _message(pair: CachedUse) -> str:
    cure = "torch 2.11 or Lightning 2.5.5" if pair.in_step else "torch 2.11"
    where = f"in one region of autocast ({pair.path})"
    return f"`{pair.name}` runs under `no_grad`, then with gradients, {where}; {cure} cures it"
