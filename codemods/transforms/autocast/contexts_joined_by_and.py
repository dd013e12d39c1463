"""`with autocast(…) and torch.no_grad():` enters one of the two.

## Why is this bad?
`and` gives its last operand, and only that is entered: with `autocast(…) and no_grad()` everything is computed in 32
bits, with `no_grad() and autocast(…)` a graph is kept (run with PyTorch 2.13). Nothing raises and nothing warns. `or`
gives the first.

## Fix safety
Unsafe: a comma enters all of them, from left to right, as was meant. What runs inside is then computed in 16 bits, or
without gradients: a `backward` in the block, which worked before, may raise.

## When it is not offered
Reported where the operands stand in parentheses, which older versions of Python read in another way. Silent where an
operand is not surely a context manager that is made there: `manager or nullcontext()` is a choice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.places import where_defined
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, unless
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.model.names import AUTOCAST, NO_GRAD
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own
from codemods.syntax.verbs import replace

_MANAGERS = (
    AUTOCAST
    | NO_GRAD
    | {
        "torch.enable_grad",
        "torch.set_grad_enabled",
        "contextlib.nullcontext",
        "contextlib.suppress",
        "torch.cuda.device",
    }
    | {"torch.cuda.stream", "torch.autograd.detect_anomaly", "torch.autograd.set_detect_anomaly"}
    | {"torch.profiler.record_function", "torch.autograd.profiler.record_function", "torch.random.fork_rng"}
)

rule = Rule(
    code="AMP008",
    name="contexts-joined-by-and",
    summary="`and` between two context managers enters one of them",
    fix_title="Enter all of them",
    safety=Safety.UNSAFE,
    consequence=Consequence.STYLE,
    effect=Effect.NUMBERS,
    triggers=(("autocast", "no_grad", "inference_mode", "enable_grad", "set_grad_enabled"), ("with",)),
    references=("https://docs.python.org/3/reference/compound_stmts.html#the-with-statement",),
)


@rule.on(ast.With)
def contexts_joined_by_and(block: ast.With, ctx: PythonContext) -> Iterator[Draft]:
    for item in block.items:
        joined = item.context_expr
        if not isinstance(joined, ast.BoolOp) or not all(ctx.calls(each, _MANAGERS) for each in joined.values):
            continue
        last = isinstance(joined.op, ast.And)
        entered = joined.values[-1 if last else 0]
        others = [each for each in joined.values if each is not entered]
        start = ctx.module.span(joined)[0]
        bare = not ctx.module.text[:start].rstrip().endswith("(")
        yield rule.finding(
            joined,
            fix=[replace(joined, ", ".join(map(ctx.source, joined.values)))] if bare else None,
            is_right=[_nothing_inside_is_hidden(ctx, block)],
            message=f"`{'and' if last else 'or'}` enters `{ctx.written(entered)}` alone, "
            f"and not `{ctx.written(others[0])}`",
        )


def _nothing_inside_is_hidden(ctx: PythonContext, block: ast.With) -> Answer:
    """Whether no function of the project runs in a block: it may differentiate, or need the cast (`scored_inside`)."""
    return unless(
        where_defined(ctx, call, f"`{ctx.written(call.func)}` may need what was not entered so far", at=call)
        for call in own(block)
        if isinstance(call, ast.Call) and any(":" in origin for origin in ctx.origin(call.func))
    )
