"""`no_sync()` leaves out the averaging in the very round in which the optimizer steps.

## Why is this bad?
Under `no_sync()` a backward pass adds to the gradients of its own process; the next one outside averages what has been
added. Where the two tests differ by a round, the step uses gradients that nobody has averaged: the weights of two
processes were -0.028 and 0.030 after two steps, and are equal with one test (run with PyTorch 2.13). Nothing raises and
nothing warns.

## Fix safety
Unsafe: the test of the step decides about `no_sync()`, too. Other gradients are averaged then, which is the point.

## When it is not offered
Only where both tests are remainders of one counter by one number. Silent where they agree, where something else decides
as well, and where the program averages gradients itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.calls import literal
from codemods.analysis.definitions import reaching
from codemods.analysis.optimizers import optimizes
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unknown, yes
from codemods.frameworks.training.replicas import nobody_averages_gradients
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own
from codemods.syntax.verbs import replace

rule = Rule(
    code="DST006",
    name="no-sync-off-by-one",
    summary="`no_sync()` leaves out the averaging in the round in which the optimizer steps",
    fix_title="Average in the round of the step",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    triggers=(("no_sync",), ("step",), ("backward",)),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",),
)


@rule.on(ast.IfExp, ast.If)
def no_sync_off_by_one(choice: ast.IfExp | ast.If, ctx: PythonContext) -> Iterator[Draft]:
    loop = ctx.flow_of(ctx.scope(choice)).loop(choice)
    chosen = _leaves_out(choice)
    averaged = _rounds(ctx, choice.test, holds=chosen is False) if loop is not None and chosen is not None else None
    if averaged is None or loop is None:
        return
    for step in own(loop):
        if not isinstance(step, ast.Call) or not isinstance(step.func, ast.Attribute) or step.func.attr != "step":
            continue
        gate = ctx.enclosing(step, ast.If)
        if gate is None or gate is choice or not ctx.module.contains(loop, gate) or not _steps(ctx, step):
            continue
        if gate.lineno < choice.lineno:  # it steps with the gradients of the round before (stepped_at_the_head)
            continue
        stepped = _rounds(ctx, gate.test, holds=any(ctx.module.contains(each, step) for each in gate.body))
        if stepped is None or stepped[:2] != averaged[:2] or stepped[2] == averaged[2]:
            continue
        counted = ctx.bindings(ctx.scope(choice)).get(stepped[0], ())
        if any(choice.lineno < getattr(each.node, "lineno", 0) < gate.lineno for each in counted):
            continue  # it goes on between the two tests (counted_between)
        when = ctx.source(gate.test)
        yield rule.finding(
            choice.test,
            fix=[replace(choice.test, f"not ({when})" if chosen else when)],
            message="`no_sync()` leaves out the averaging in the round in which the optimizer steps",
            evidence=[ctx.evidence(gate.test, "the optimizer steps in these rounds")],
            is_bug=[nobody_averages_gradients(ctx), nothing_else_decides(ctx, choice.test)],
        )
        return


def _leaves_out(choice: ast.IfExp | ast.If) -> bool | None:
    """Whether `no_sync()` is entered where a test holds (True) or where it does not (False); None: neither, or both."""
    one = choice.body if isinstance(choice, ast.If) else [choice.body]
    other = choice.orelse if isinstance(choice, ast.If) else [choice.orelse]
    found = [any(_names(node) for each in arm for node in ast.walk(each)) for arm in (one, other)]
    return found[0] if found[0] != found[1] else None


def _names(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "no_sync"


def _steps(ctx: PythonContext, step: ast.Call) -> bool:
    """Whether a call steps an optimizer, by itself or by a scaler that is given it."""
    assert isinstance(step.func, ast.Attribute)
    if optimizes(ctx, step.func.value) is True:
        return True
    return bool(step.args) and optimizes(ctx, step.args[0]) is True


def _named(ctx: PythonContext, test: ast.Name) -> ast.expr | None:
    """What a name surely was given where it is tested: `steps = (i + 1) % 4 == 0` (`and_counted`)."""
    found, complete = reaching(ctx, test)
    return found[0].value if complete and len(found) == 1 else None


@question
def nothing_else_decides(ctx: PythonContext, test: ast.expr) -> Answer:
    """Whether only the count of rounds decides that the averaging is left out (`and_counted`)."""
    if not isinstance(test, ast.BoolOp):
        return yes()
    return unknown(ctx.evidence(test, "this depends on more than the round"))


def _rounds(ctx: PythonContext, test: ast.expr, *, holds: bool) -> tuple[str, str, int] | None:
    """The rounds in which a test holds, or does not: a counter, a number, and the remainder; None: no such rounds."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _rounds(ctx, test.operand, holds=not holds)
    match test:
        case ast.Name() if (value := _named(ctx, test)) is not None:
            return _rounds(ctx, value, holds=holds)
        case ast.BoolOp(op=ast.And(), values=parts) if not holds:  # whether there are several processes (`and_counted`)
            found = [each for part in parts if (each := _rounds(ctx, part, holds=False)) is not None]
            return found[0] if len(found) == 1 else None
    match test:
        case ast.Compare(left=ast.BinOp(left=counted, op=ast.Mod(), right=by), ops=[ast.Eq()], comparators=[rest]):
            equal = True
        case ast.Compare(left=ast.BinOp(left=counted, op=ast.Mod(), right=by), ops=[ast.NotEq()], comparators=[rest]):
            equal = False
        case ast.BinOp(left=counted, op=ast.Mod(), right=by):
            rest, equal = ast.Constant(0), False
        case _:
            return None
    number, ahead, counter = ctx.source(by), 0, counted
    match counted:
        case ast.BinOp(left=inner, op=ast.Add() | ast.Sub() as sign, right=ast.Constant(value=int(more))):
            counter, ahead = inner, more if isinstance(sign, ast.Add) else -more
    match rest:
        case ast.BinOp(left=whole, op=ast.Sub(), right=ast.Constant(value=int(less))) if ctx.source(whole) == number:
            remainder = -less
        case _:
            told = literal(rest)
            if not isinstance(told, int):
                return None
            remainder = told
    name = ctx.name(counter)
    if name is None or equal is not holds:
        return None
    size = literal(by)
    left = remainder - ahead
    return name, number, left % size if isinstance(size, int) and size > 1 else left
