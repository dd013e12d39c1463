"""A loss that is computed by the model inside of `DistributedDataParallel`, and not by the wrapper.

## Why is this bad?
`DistributedDataParallel` prepares the averaging of gradients in its own `forward`. What `model.module(x)`,
`model.module.encode(x)` or the model under its old name computes has gradients, and every process steps with its own:
after three steps the weights of two processes differed (run with PyTorch 2.13). Nothing raises and nothing warns.

## Fix safety
Unsafe: `model(x)` for `model.module(x)` changes what is trained, which is the point. Another method of the model is not
called through the wrapper: let `forward` call it.

## When it is not offered
Silent where the wrapper itself is called in training, where gradients are off, where the program averages gradients
itself, and for `DataParallel`. Reported where the model inside has a name (`raw_model`), and where a function is given
it to compute the loss. Possible where a call may run the wrapper, and beside Accelerate, which wraps a model only where
several processes run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.python_context import PythonContext
from codemods.analysis.sources import sources
from codemods.frameworks.gradients.grad_mode import gradients
from codemods.frameworks.training import replicas
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import replace

rule = Rule(
    code="DST007",
    name="forward-around-ddp",
    summary="a loss is computed around `DistributedDataParallel`: its gradients are not averaged",
    fix_title="Call the wrapper",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    triggers=(("backward",), ("module", "unwrap_model", "DistributedDataParallel")),
    somewhere=(b"DistributedDataParallel", b"Accelerator"),
    imports=("torch",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",),
)


@rule.on(ast.Call)
def forward_around_ddp(backward: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if (loss := ctx.loss_of(backward)) is None:
        return
    for call in sources(ctx, ctx.scope(backward), loss):
        if not isinstance(call, ast.Call):
            continue
        if gradients(ctx, call) == "off" or ctx.enclosing(call, ast.Lambda) is not None:
            continue
        bypass, handed = replicas.bypass(ctx, call), replicas.given_without(ctx, call)
        if bypass is None and handed is not None:
            yield from _handed(ctx, call, *handed)
            return
        if bypass is None:
            continue
        wrapper = bypass.wrapper
        repaired = replace(call.func, ctx.source(wrapper)) if bypass.is_plain and wrapper is not None else None
        yield rule.finding(
            call,
            fix=[repaired] if repaired else None,
            message=f"`{ctx.written(call.func)}` goes around `DistributedDataParallel`: gradients are not averaged",
            evidence=[bypass.where.evidence(bypass.made, "wrapped here")],
            is_bug=[
                replicas.wrapper_stays_uncalled(ctx, bypass),
                replicas.nobody_averages_gradients(ctx),
                replicas.several_processes_train(bypass),
            ],
        )
        return


def _handed(ctx: PythonContext, call: ast.Call, bypass: replicas.Bypass, model: ast.expr) -> Iterator[Draft]:
    """A model that a function is given without its wrapper, to compute a loss with it."""
    to = f"`{ctx.written(call.func)}` is given `{ctx.written(model)}`"
    yield rule.finding(
        call,
        message=f"{to}, which goes around `DistributedDataParallel`: gradients are not averaged",
        evidence=[bypass.where.evidence(bypass.made, "wrapped here")],
        is_bug=[
            replicas.it_is_called_there(ctx, call, model),
            replicas.wrapper_stays_uncalled(ctx, bypass),
            replicas.nobody_averages_gradients(ctx),
            replicas.several_processes_train(bypass),
        ],
    )
