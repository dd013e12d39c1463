"""Binary cross-entropy of a sigmoid, in a region of autocast.

## Why is this bad?
On a GPU the call raises, whatever its tensors are (run on an H200 with PyTorch 2.11):

    RuntimeError: torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.

On a CPU nothing raises. The sigmoid of 16 bits rounds to 1, and the loss is cut off there: with a logit of 6.5 and the
label 0 it is 100.0 and its gradient 0.0, where 6.5015 and 0.9985 are right. What the model gets most wrong trains
nothing (run with PyTorch 2.13).

## Fix safety
Safe: `binary_cross_entropy_with_logits` computes both in one function, which autocast runs in 32 bits. Only where the
sigmoid stands in the call itself.

## When it is not offered
Where the probabilities have a name, or pass through something else, the call is reported: the name may be used for
other things. Silent outside of a region, where a region around the call is switched off, and where what is given is no
sigmoid in sight. Possible where the precision of a Trainer, or an option of the region, is not in sight, and where
nothing in sight is on the GPU that the region is for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, has_splat
from codemods.analysis.mentions import definers
from codemods.analysis.python_context import PythonContext
from codemods.analysis.sources import sources
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.autocast.low_precision import (
    is_for_a_gpu,
    nobody_leaves_the_region,
    region_is_on,
    something_is_on_its_gpu,
)
from codemods.frameworks.autocast.questions import no_manager_is_unknown
from codemods.frameworks.autocast.regions import around
from codemods.frameworks.numerics.criteria import computes
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import edit_call

_LOSS = "torch.nn.functional.binary_cross_entropy"
_CRITERION = frozenset({"torch.nn.BCELoss", "torch.nn.modules.loss.BCELoss"})
_SIGMOID = frozenset({"torch.sigmoid", "torch.special.expit", "torch.nn.functional.sigmoid"})

rule = Rule(
    code="AMP004",
    name="bce-in-autocast",
    summary="binary cross-entropy of a sigmoid under autocast raises on a GPU, and is cut off on a CPU",
    fix_title="Compute the loss from the logits",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    follows=True,
    effect=Effect.NUMBERS,
    triggers=(("binary_cross_entropy", "BCELoss"), ("sigmoid", "expit")),
    somewhere=(b"autocast", b"training_step"),
    errors=("binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast",),
    references=(
        "https://docs.pytorch.org/docs/stable/amp.html#prefer-binary-cross-entropy-with-logits-over-binary-cross-entropy",
    ),
)


@rule.on(ast.Call)
def bce_in_autocast(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if has_splat(call) or not computes(ctx, call, _LOSS, _CRITERION) or (given := argument(call, "input", 0)) is None:
        return
    logits = _logits(ctx, given)
    if logits is None and not _is_a_sigmoid(ctx, given):
        return
    if (region := around(ctx, call)) is None or region.precision == "none":
        return
    target = ctx.spell(f"{_LOSS}_with_logits", at=call)
    fix = None
    if logits is not None and target is not None and ctx.means(call.func, _LOSS):
        held = next((k for k in call.keywords if k.value is given), given)
        bare = isinstance(logits, (ast.NamedExpr, ast.GeneratorExp))
        written = f"({ctx.source(logits)})" if bare else ctx.source(logits)
        fix = [edit_call(call, function=target.code, values={held: written})]
    raises = is_for_a_gpu(region)
    yield rule.finding(
        call,
        fix=fix,
        needs=[target.need] if fix and target is not None else [],
        message="`binary_cross_entropy` under autocast raises: give the logits to `binary_cross_entropy_with_logits`"
        if raises
        else "this loss raises under autocast on a GPU, and is cut off on a CPU: compute it from the logits",
        consequence=Consequence.RAISES if raises else Consequence.SILENT,
        is_bug=[
            region_is_on(ctx, call, region),
            something_is_on_its_gpu(ctx, region),
            no_manager_is_unknown(ctx, call),
            nobody_leaves_the_region(ctx),
            *([] if raises else [logits_are_in_16_bits(ctx, call, given)]),
        ],
    )


def _logits(ctx: PythonContext, node: ast.expr) -> ast.expr | None:
    """What a sigmoid that stands here is of."""
    match node:
        case ast.Call(func=func, args=[logits], keywords=[]) if ctx.means(func, _SIGMOID):
            return None if isinstance(logits, ast.Starred) else logits
        case ast.Call(func=ast.Attribute(value=logits, attr="sigmoid") as method, args=[], keywords=[]):
            # a class of the project may have one of its own (`its_own_sigmoid`)
            return None if ctx.origin(method) or any(definers(ctx, "sigmoid")) else logits
    return None


def _is_a_sigmoid(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether probabilities that have a name, or are converted, surely are a sigmoid's."""
    while (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("float", "squeeze")
    ):
        node = node.func.value
    found, complete = possible_values(ctx, node, ordered=True)
    sure = [_logits(each.ctx, each.node) for each in found if isinstance(each.node, ast.expr) and not each.path]
    return complete and len(sure) == len(found) > 0 and None not in sure


@question
def logits_are_in_16_bits(ctx: PythonContext, call: ast.Call, given: ast.expr) -> Answer:
    """Whether nothing makes 32 bits of the logits before the sigmoid, which rounds nothing then (`in_32_bits`)."""
    made = [node for node in sources(ctx, ctx.scope(call), given) if isinstance(node, ast.Attribute)]
    return unless(
        ctx.evidence(node, "in 32 bits nothing is cut off")
        for node in made
        if node.attr in ("float", "double", "float32")
    )
