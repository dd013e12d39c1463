"""A `DistributedSampler` that nobody tells the epoch: every epoch has the same order, and the same share of the data.

`DistributedSampler` shuffles by its seed and its epoch, and the epoch stays 0 until `set_epoch` is called.

## Why is this bad?
Nothing raises and nothing warns. Each process sees the same samples in the same order in all epochs: the data is
neither shuffled anew nor distributed anew. It concerns all versions of torch.

## Fix safety
Unsafe: `sampler.set_epoch(epoch)` at the head of the loop over epochs changes the order of the data, and with it the
losses. It is inserted where the sampler has a name in that function and the loop is a `for` over a plain name.
Elsewhere the place is only reported.

## When it is not offered
With `shuffle=False`; where something in the program calls `set_epoch` for this sampler; for a loader that no loop with
a backward pass runs over, or only once; for what Accelerate's `prepare`, Fabric, and the trainers of Lightning and
Transformers hand out, which set the epoch themselves; for subclasses of the sampler; where a round of the outer loop
has a sampler with another seed, other data or another optimizer. Where it cannot be told whether the epoch is set, the
finding is possible and names the place, and so it is in a `while`, whose rounds may be something else, and where the
dataset may put its rows in another order itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.calls import given
from codemods.analysis.python_context import PythonContext
from codemods.frameworks.training import epochs
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import Verb, insert_before

_TRAINING = ("backward", "step", "zero_grad", "state_dict", "train", "DataLoader")
"""One of them at least a file says that counts epochs."""

rule = Rule(
    code="DST008",
    name="sampler-without-set-epoch",
    summary="nobody calls `set_epoch` of a `DistributedSampler`: every epoch has the same order",
    fix_title="Set the epoch of the sampler at the head of each epoch",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    effect=Effect.NUMBERS,
    triggers=(_TRAINING, ("range", "trange", "count", "while")),
    somewhere=(b"DistributedSampler",),
    imports=("torch",),
    references=("https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler",),
)


@rule.on(ast.For, ast.While)
def sampler_without_set_epoch(loop: ast.For | ast.While, ctx: PythonContext) -> Iterator[Draft]:
    if not epochs.counts_epochs(ctx, loop):
        return
    flow, told = ctx.flow_of(ctx.scope(loop)), set[ast.Call]()
    for each in epochs.passes(ctx, loop.body):
        start = each.sites[0].call if each.sites else each.loop.iter
        loaders = each.loaders() if flow.comes_round(start, start) else []
        alone = sum(bool(epochs.samplers(loader)[0]) for loader in loaders) == 1
        for loader in loaders:
            samplers, is_the_one = epochs.samplers(loader)
            if samplers and not epochs.counts_epochs(ctx, loop, given):
                return
            for sampler in samplers:
                if sampler.call in told or epochs.begins_anew(ctx, loop, sampler):
                    continue
                told.add(sampler.call)
                yield rule.finding(
                    loop,
                    fix=_fix(ctx, loop, sampler) if is_the_one and alone else None,
                    message=f"nobody sets the epoch of the sampler of `{each.ctx.written(each.loop.iter)}`: "
                    "every epoch has the same order",
                    is_bug=[
                        epochs.sampler_shuffles(sampler),
                        epochs.nobody_sets_the_epoch(ctx, sampler, loader),
                        epochs.rounds_are_epochs(ctx, loop),
                        epochs.rows_stay_in_order(ctx, loop, sampler),
                    ],
                    evidence=[sampler.ctx.evidence(sampler.call, "shuffles by its epoch, which stays 0")],
                )


def _fix(ctx: PythonContext, loop: ast.For | ast.While, sampler: epochs.Made) -> list[Verb] | None:
    """`sampler.set_epoch(epoch)` where both have a name."""
    scope = ctx.scope(loop)
    match loop, ctx.parent(sampler.call):
        case ast.For(target=ast.Name(id=epoch)), ast.Assign(targets=[ast.Name(id=name)]) as made:
            alone = len(ctx.bindings(scope).get(name, ())) == 1 and ctx.scope(made) is scope
            if alone and loop not in ctx.ancestors(made) and ctx.flow_of(scope).dominates(made, loop):
                return [insert_before(loop.body[0], f"{name}.set_epoch({epoch})")]
    return None
