"""A schedule that is counted in the steps of one process, and that Accelerate advances once for each process.

## Why is this bad?
A scheduler that went through `accelerator.prepare` is advanced `num_processes` times by every step: Accelerate takes
its length for one that was counted without processes. Counted from a loader that was prepared before, or divided by
`num_processes`, it ends after a part of the training, and the rest runs with the last rate: told of two processes, a
decay over eight steps was at 0 after four (Accelerate 1.15). Nothing raises and nothing warns.

## Fix safety
There is none that fits all: count before `prepare`, multiply the number of steps by `accelerator.num_processes`, or
leave the scheduler out of `prepare` and step it where the optimizer steps.

## When it is not offered
Possible at most: with one process it is right. Silent where the number is multiplied by `num_processes`, and where the
Accelerator is made with `split_batches` or `step_scheduler_with_optimizer`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.calls import given, has_splat, keyword, values
from codemods.analysis.optimizers import is_schedule
from codemods.analysis.python_context import PythonContext
from codemods.analysis.sources import sources
from codemods.analysis.values import possible_values
from codemods.flow.answers import unknown
from codemods.frameworks.accelerators import Keeping, prepared
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.model.names import ACCELERATOR
from codemods.rules.rule import Draft, Rule

_KEEPING = Keeping(ACCELERATOR, frozenset({"prepare", "prepare_data_loader"}))
_OTHERWISE = ("split_batches", "step_scheduler_with_optimizer", "dataloader_config")

rule = Rule(
    code="SCH005",
    name="prepared-scheduler-counted-globally",
    summary="a prepared schedule is counted in steps of one process, and advanced once for each",
    fix_title="Count the steps of all processes",
    safety=Safety.DISPLAY,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    effect=Effect.NUMBERS,
    triggers=(("prepare",),),
    somewhere=(b"schedule",),
    imports=("accelerate",),
    references=("https://huggingface.co/docs/accelerate/concept_guides/performance#learning-rates",),
)


@rule.on(ast.Call)
def counted_globally(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "prepare" or not ctx.is_a(func.value, ACCELERATOR):
        return
    made = [each for each in ctx.all(ast.Call) if ctx.calls(each, ACCELERATOR)]
    if any(has_splat(each) or any(keyword(each, name) for name in _OTHERWISE) for each in made):
        return
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            continue
        found, complete = possible_values(ctx, argument, ordered=True, returns=True, given=given)
        makers = [(each.ctx, each.node) for each in found if isinstance(each.node, ast.Call) and not each.path]
        if not complete or len(makers) != len(found) or not all(is_schedule(*each) for each in makers):
            continue
        for where, maker in makers:
            counted = _counted(where, maker)
            if counted is None:
                continue
            yield rule.finding(
                argument,
                message=f"`{ctx.written(argument)}` is counted in steps of one process, and advanced once for each",
                evidence=[where.evidence(counted, "counted for one process")],
                is_bug=[unknown(ctx.evidence(call, "with one process it is right"))],
            )
            return


def _counted(ctx: PythonContext, maker: ast.Call) -> ast.expr | None:
    """What a schedule is counted from: the length of a prepared loader, or a division by the number of processes."""
    given_to = values(maker)[1:]
    nodes = [node for value in given_to for node in sources(ctx, ctx.scope(maker), value)]
    if any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult) and _of_processes(n) for n in nodes):
        return None
    for node in nodes:
        match node:
            case ast.BinOp(op=ast.Div() | ast.FloorDiv(), right=right) if _of_processes(right):
                return node
            case ast.Call(func=ast.Name(id="len"), args=[loader]) if prepared(ctx, loader, _KEEPING):
                return node
    return None


def _of_processes(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == "num_processes" for each in ast.walk(node))
