"""Lightning below 2.0.7 beside an optimizer that runs its closure with gradients off.

In automatic optimization Lightning runs `training_step` and the backward pass inside `optimizer.step(closure)`. Where
that `step` is under `torch.no_grad()` and calls the closure as it is, everything in it is computed without a graph.

## Why is this bad?
Nothing can be trained; `loss`, the logits and all hidden states have `requires_grad=False`:

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

Such are `AdamW` (until 4.49) and `Adafactor` of Transformers since 4.30, and many optimizers that people write or copy.
Lightning 2.0.7 switches gradients on around its closure, whatever the optimizer does. Run with torch 2.4.1:
pytorch-lightning 1.5.10, 1.8.6, 1.9.5 and 2.0.6 with Transformers 4.31 fail, 2.0.7 trains; so does 2.0.6 with
Transformers 4.29. Precision has no part in it: 32-true fails alike.

Two pieces of advice that are passed around do not help: `torch.set_grad_enabled(True)` in `training_step` leaks into
the optimizer, which then raises `a leaf Variable that requires grad is being used in an in-place operation.`; and
`with torch.enable_grad()` in `training_step` still fails, because Lightning divides the loss outside.

## Fix safety
Unsafe: another release of a framework is installed. `floor-2.0.7` (default) asks for the first release that has the
cure, `floor-2.2.2` for the one that the reports name. A pin stays a pin, a range keeps its ceiling, comments stay.
Possible where a class of the project has an `optimizer_step`, and where modules may be optimized by hand.

An optimizer of your own is better cured where it stands (GRD005): other callers of `step(closure)` meet the same error.
For `AdamW` of Transformers see HF004.

## When it is not offered
Without evidence: an optimizer in the project that surely calls its closure under `no_grad`, a use of Transformers'
`AdamW` or `Adafactor`, or, where no program of the project has a `configure_optimizers`, Lightning 2.0 pinned below
2.0.7 beside Transformers pinned to 4.30 or newer. The optimizers of torch run their closure as it is. Reported only:
constraints that allow Lightning 1.x alone (2.0 is a migration), lock files (with the command that refreshes them),
hashes, addresses, and constraints whose ceiling forbids the cure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from codemods.frameworks import minimum_versions
from codemods.frameworks.versions import closures
from codemods.frameworks.versions.call_graph import trains_with_lightning
from codemods.frameworks.versions.messages import why_not
from codemods.model.edits import Consequence, Safety
from codemods.project import ranges, versions
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.sources.manifest import Requirement

FIXED = {"floor-2.0.7": "2.0.7", "floor-2.2.2": "2.2.2"}
AFFECTED = "<2.0.7"

rule = Rule(
    code="VER001",
    name="lightning-closure-floor",
    summary="below Lightning 2.0.7 gradients stay off in the closure where the optimizer switches them off",
    fix_title="Ask for a Lightning that switches gradients on in its closure",
    safety=Safety.UNSAFE,
    consequence=Consequence.RAISES,
    elsewhere=(b"lightning", b"Lightning", b"LIGHTNING"),
    errors=("element 0 of tensors does not require grad and does not have a grad_fn",),
    references=(
        "https://github.com/Lightning-AI/pytorch-lightning/pull/18268",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/19767",
        "https://github.com/huggingface/transformers/pull/23417",
    ),
    strategies=tuple(FIXED),
)


@dataclass(frozen=True, slots=True)
class ClosureUse:
    """What runs Lightning's closure with gradients off."""

    text: str
    bites: dict[str, str] = field(default_factory=dict)


@rule.on(Requirement)
def lightning_closure_floor(requirement: Requirement, ctx: FileContext) -> Iterator[Draft]:
    if requirement.package not in minimum_versions.COMPROMISED or requirement.specs is None:
        return
    if not ranges.some(requirement.specs, AFFECTED) or not trains_with_lightning(ctx):
        return
    evidence = _evidence(requirement, ctx)
    if evidence is None:
        return
    message = f"{requirement.package} below 2.0.7 runs its closure with gradients off under {evidence.text}"
    bites = {requirement.package: AFFECTED, **evidence.bites}
    is_bug = [closures.lightning_runs_it(ctx), closures.lightning_is_given_it(ctx)]
    found = closures.transformers(ctx) if evidence.bites else None
    is_bug += [closures.nobody_extends_it(ctx, found[0])] if found is not None else []
    if ranges.every(requirement.specs, "<2"):
        yield rule.finding(
            requirement, message=f"{message}; from 1.x to 2.0 is a migration", bites=bites, is_bug=is_bug
        )
        return
    remedies = _remedies(requirement)
    asked = ctx.strategies.get(rule.code)
    if not remedies or (asked and asked not in remedies):
        message += f"; {why_not(requirement, FIXED.get(asked or '', '2.0.7'))}"
    yield rule.offer(requirement, remedies, message=message, bites=bites, is_bug=is_bug)


def _evidence(requirement: Requirement, ctx: FileContext) -> ClosureUse | None:
    if own := closures.own(ctx):
        return ClosureUse(f"`{own.name}` in {own.path}")
    if found := closures.transformers(ctx):
        name, path = found
        bites = {"transformers": closures.TRANSFORMERS[name]}
        if all(versions.may(ctx.target(package), spec) for package, spec in bites.items()):
            return ClosureUse(f"`{name}` in {path}", bites)
    if closures.configuring(ctx):
        return None
    beside = ctx.target("transformers")
    specs = requirement.specs
    if versions.surely(beside, ">=4.30") and ranges.every(specs, AFFECTED) and ranges.some(specs, ">=2"):
        return ClosureUse("the optimizers of Transformers", {"transformers": ">=4.30"})
    return None


def _remedies(requirement: Requirement) -> dict[str, Remedy]:
    """The floors that the file can hold."""
    raised = {strategy: minimum_versions.raised(requirement, floor) for strategy, floor in FIXED.items()}
    return {
        strategy: Remedy({requirement: new}, f"Ask for {requirement.package} {FIXED[strategy]}")
        for strategy, new in raised.items()
        if new is not None
    }
