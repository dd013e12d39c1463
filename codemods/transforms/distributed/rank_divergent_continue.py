"""Some processes leave a round of training that the others go through to its backward pass.

## Why is this bad?
In `backward`, `DistributedDataParallel` averages gradients with all other processes. Where one leaves the loop or skips
a round, its next backward pass meets that of another round, and in the end the others wait for one that never comes.
So it was after `break` and `continue` of rank 0, and after a loss that was not a number in one process (run with
PyTorch 2.13 and gloo):

    RuntimeError: Timed out waiting 8000ms for recv operation to complete

## Fix safety
There is none that fits all: let the processes agree first (`all_reduce` of a flag), or let each run the backward pass,
with a loss of zero where there is nothing to learn.

## When it is not offered
Silent where the test comes after the backward pass of the round, inside of `join()`, for tests of anything but the rank
or the loss of the backward pass, and where no `DistributedDataParallel` in sight computes that loss. Possible where
something in the loop may exchange data between processes; of a loss, where it is not in sight that each process gets
batches of its own, or what makes the loss.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.mentions import mentions_during
from codemods.analysis.python_context import PythonContext
from codemods.analysis.sources import sources
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.training.ranks import differs_by_rank, is_of_finiteness, losses_surely_differ
from codemods.frameworks.training.replicas import WRAPPER, wraps
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import LOOPS, own

_EXCHANGING = (
    *("all_reduce", "all_gather", "all_gather_object", "broadcast", "broadcast_object_list", "reduce", "gather"),
    *("gather_object", "scatter", "all_gather_into_tensor", "reduce_scatter", "send", "recv"),
)

rule = Rule(
    code="DST009",
    name="rank-divergent-continue",
    summary="some processes leave a round of training, and the others wait for them in its backward pass",
    fix_title="Let the processes agree before one of them leaves",
    safety=Safety.DISPLAY,
    consequence=Consequence.RAISES,
    triggers=(("backward",), ("continue", "break")),
    somewhere=(b"DistributedDataParallel",),
    imports=("torch",),
    references=("https://docs.pytorch.org/docs/stable/notes/ddp.html",),
)


@rule.on(ast.Continue, ast.Break)
def rank_divergent_continue(leaving: ast.Continue | ast.Break, ctx: PythonContext) -> Iterator[Draft]:
    loop = ctx.enclosing(leaving, *LOOPS)
    gates = [a for a in ctx.ancestors(leaving) if isinstance(a, ast.If) and loop and ctx.module.contains(loop, a)]
    if loop is None or not gates or _joins(ctx, leaving):
        return
    for backward in own(loop):
        loss = ctx.loss_of(backward)
        if loss is None or not _misses(ctx, leaving, gates[0], backward) or not _is_averaged(ctx, loss):
            continue
        for gate in gates:
            by_rank = differs_by_rank(ctx, gate.test)
            if not by_rank and not is_of_finiteness(ctx, gate.test, loss):
                continue
            who = "some processes" if by_rank else "a process whose loss is not finite"
            does = "this round" if isinstance(leaving, ast.Continue) else "the loop"
            yield rule.finding(
                leaving,
                message=f"only {who} may leave {does} here: the others wait in `backward`",
                evidence=[ctx.evidence(gate.test, "not so in each process")],
                is_bug=[
                    processes_do_not_agree(ctx, loop),
                    *([] if by_rank else [losses_surely_differ(ctx, gate.test, loss)]),
                ],
            )
            return


def _joins(ctx: PythonContext, leaving: ast.stmt) -> bool:
    """Whether a process that has no more batches is waited for: `with model.join():`."""
    entered = (item.context_expr for a in ctx.ancestors(leaving) if isinstance(a, ast.With) for item in a.items)
    return any(isinstance(each, ast.Call) and (ctx.name(each.func) or "").lower().endswith("join") for each in entered)


def _misses(ctx: PythonContext, leaving: ast.stmt, gate: ast.If, backward: ast.AST) -> bool:
    """Whether a process that leaves misses a backward pass of this round, or by `break` of the next one."""
    flow = ctx.flow_of(ctx.scope(leaving))
    if ctx.module.contains(gate, backward):
        return False
    later = isinstance(leaving, ast.Break) and flow.comes_round(gate.test, backward)
    return flow.reaches(gate.test, backward) or later


def _is_averaged(ctx: PythonContext, loss: ast.expr) -> bool:
    """Whether a wrapper that averages gradients computes a loss."""
    called = (node.func for node in sources(ctx, ctx.scope(loss), loss) if isinstance(node, ast.Call))
    return any((made := wraps(ctx, func)) is not None and made[0].means(made[1].func, WRAPPER) for func in called)


@question
def processes_do_not_agree(ctx: PythonContext, loop: ast.stmt) -> Answer:
    """Whether nothing in a loop exchanges data between processes, by which they may agree to leave (`agreed`)."""
    places = mentions_during(ctx, {loop: ctx}, *_EXCHANGING)
    return unless(each.evidence("the processes may agree here") for each in places)
