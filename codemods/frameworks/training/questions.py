"""What rules ask about a training loop."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from codemods.analysis.calls import argument, given, has_splat, keyword, literal, values
from codemods.analysis.gradient_use import ReachedCode
from codemods.analysis.instances import of
from codemods.analysis.mentions import may_run_during, mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import CLIP as CLIPPING
from codemods.analysis.sources import sources
from codemods.analysis.summaries import Cast
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.flow.control_flow import condition
from codemods.flow.protocols import UNKNOWN, Violation
from codemods.frameworks.training.objects import happening_in, makers, vocabulary
from codemods.frameworks.training.tables import BEGINNING, CLIP, GRADIENTS, MODAL, SCHEDULE, STEP, ZERO
from codemods.model.edits import Evidence
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS, LOOPS, Scope, own


def counted(ctx: PythonContext, step: ast.Call, violation: Violation) -> ast.expr | None:
    """The test that was passed on the way, where it counts rounds and decides about a step; else None."""
    # without a further round nothing is outrun (`made_by_two_functions`)
    leaving = ways_on(ctx, ctx.scope(step))
    passed = [each for each in violation.passed if each not in leaving]
    test = passed[0] if len(passed) == 1 and not violation.more else None
    if not isinstance(test, ast.expr) or not _counts(ctx, test):
        return None
    if any(isinstance(above, ast.If) and above.test is test for above in ctx.ancestors(step)):
        return test
    said = condition(test, holds=True)
    return test if said is not None and said[0] in ctx.flow_of(ctx.scope(step)).tests(step) else None


def _counts(ctx: PythonContext, test: ast.expr) -> bool:
    """Whether a test takes a remainder, itself or in what a name in it is given, or compares what counts rounds."""
    scope = ctx.scope(test)
    if any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in sources(ctx, scope, test)):
        return True
    counters = {
        ctx.name(node.target)
        for node in own(scope)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.value, ast.Constant)
    }
    return isinstance(test, ast.Compare) and ctx.name(test.left) in counters - {None}


def own_tests(ctx: PythonContext, node: ast.AST) -> list[ast.expr]:
    """The tests of the conditions that a node stands in."""
    return [above.test for above in ctx.ancestors(node) if isinstance(above, ast.If)]


def ways_on(ctx: PythonContext, scope: ast.AST) -> list[ast.AST]:
    """The loops of a function, and the tests that only leave one: what a further round hangs on (`left_at_the_end`)."""
    found: list[ast.AST] = []
    for node in own(scope):
        if isinstance(node, LOOPS):
            found += [node, *([node.test] if isinstance(node, ast.While) else ())]
        elif isinstance(node, ast.If) and isinstance(node.body[-1], (ast.Break, ast.Return, ast.Raise)):
            found.append(node.test)
    return found


@question
def whatever_is_decided(ctx: PythonContext, node: ast.AST, violations: Collection[Violation]) -> Answer:
    """Whether violations happen wherever a place is reached: not only where a test around another place goes one way.

    Two that need opposite answers of one test happen always (`with_and_without`).
    """
    flow = ctx.flow_of(ctx.scope(node))
    around = frozenset(flow.tests(node).items())
    needed = [each.known - around - _told(each) for each in violations]
    if any(
        not each or frozenset((text, not holds) for text, holds in each) in needed for each in needed if len(each) < 2
    ):
        return yes()
    texts = {text for each in needed for text, _ in each}
    tests = (edge.test for point in flow.points for edge in point.after if edge.test is not None)
    deciding = next((test for test in tests if (said := condition(test, holds=True)) and said[0] in texts), None)
    where = deciding if deciding is not None else node
    assert isinstance(where, ast.expr)
    return unknown(ctx.evidence(where, f"`{ctx.written(where)}` decides whether it happens"))


@question
def nothing_unseen_acts(ctx: PythonContext, violations: Collection[Violation]) -> Answer:
    """Whether nobody else knows the object of a violation, and may act on it (`evaluated_within`)."""
    return unless(
        ctx.evidence(each.unseen, "code that is not followed may act on it from here on")
        for each in violations
        if isinstance(each.unseen, (ast.expr, ast.stmt))
    )


def _told(violation: Violation) -> frozenset[tuple[str, bool]]:
    """The tests that were passed between what led to a state and what breaks it, of which rules ask themselves."""
    tests = [each for each in violation.passed if isinstance(each, ast.expr)]
    return frozenset(said for test in tests for holds in (True, False) if (said := condition(test, holds)) is not None)


def is_zeroing(ctx: PythonContext, call: ast.Call, cast: Cast) -> bool:
    """Whether a call is the `zero_grad()` of the optimizer or of its model."""
    return vocabulary(ctx, ctx.scope(call), cast).event(ctx, call, cast) == ZERO


def between(
    ctx: PythonContext, scope: Scope, cast: Cast, first: ast.AST, last: ast.AST, *, before: str, after: str
) -> list[ast.Call]:
    """The calls between two places, in the same round, that may lead the gradients from one state to another.

    Where both are one place, in one round and the next, those before it in its round (`by_a_helper`).
    """
    flow, nodes = ctx.flow_of(scope), happening_in(ctx, scope, cast, GRADIENTS)
    return [
        node
        for node, what in nodes.items()
        if isinstance(node, ast.Call) and GRADIENTS.may_lead(what, before, after)
        if (first is last or flow.stands_before(first, node)) and flow.stands_before(node, last)
    ]


@question
def surely_leads_to_it(ctx: PythonContext, call: ast.Call, violation: Violation) -> Answer:
    """Whether a call surely leaves an object in a state: another way through it may not (`validated_and_logged`)."""
    return unless([ctx.evidence(call, "this may leave it as it was")] if call in violation.passed else [])


@question
def first_rate_counts(ctx: PythonContext, advance: ast.Call) -> Answer:
    """Whether a schedule surely does not begin with a rate of zero, which a step at the head is there to skip."""
    assert isinstance(advance.func, ast.Attribute)
    made = makers(ctx, advance.func.value)
    doubts = [
        where.evidence(maker, "the first rate of this schedule may be zero")
        for where, maker in made
        if not where.origin(maker.func)
        or not all(each.rpartition(".")[2] in BEGINNING for each in where.origin(maker.func))
    ]
    for where, maker in made:
        if has_splat(maker):  # (`options_of_a_file`)
            doubts.append(where.evidence(maker, "the first rate of this schedule may be zero"))
        factor = argument(maker, "start_factor", 1)
        if factor is not None and not _is_large(factor):  # (`begins_near_zero`)
            doubts.append(where.evidence(factor, "the first rate of this schedule may be as good as zero"))
        lowest = argument(maker, "base_lr", 1)
        if lowest is not None and literal(lowest) == 0:  # (`begins_at_zero`); `eta_min=0.0` is the last rate
            doubts.append(where.evidence(lowest, "the first rate of this schedule may be zero"))
        numbers = (each for each in ast.walk(maker) if isinstance(each, ast.BinOp) and _is_moved(each))
        if (moved := next(numbers, None)) is not None:  # (`milestones_allow_for_it`)
            doubts.append(where.evidence(moved, "this schedule may allow for the step"))
        optimizer = argument(maker, "optimizer", 0)
        for there, call in makers(where, optimizer) if optimizer is not None else ():
            rate = argument(call, "lr", 1)
            if isinstance(rate, ast.BinOp):  # `lr=LR / GAMMA` (`allowed_for`)
                doubts.append(there.evidence(rate, "this rate may allow for the step"))
    return unless(doubts)


def _is_large(factor: ast.expr) -> bool:
    """Whether a factor surely is large enough for the rate that it gives to train something."""
    number = literal(factor)
    return isinstance(number, (int, float)) and number >= 0.01


def _is_moved(number: ast.BinOp) -> bool:
    """Whether a number is one more or one less than another."""
    return isinstance(number.op, ast.Add | ast.Sub) and any(literal(each) == 1 for each in (number.left, number.right))


@question
def mode_matters(ctx: PythonContext, node: ast.expr) -> Answer:
    """Whether a layer is in sight that does otherwise in training mode: dropout, a normalization, a library's model."""
    if any(True for _ in ctx.index.search(ctx.path, MODAL)):
        return yes()
    return unknown(ctx.evidence(node, "no layer is seen to which the mode matters"))


@question
def mode_is_not_chosen(ctx: PythonContext, left: ast.expr) -> Answer:
    """Whether a model is left in evaluation mode by no test that comes true once, as `epoch == settle` (`settled`)."""
    tests = [each for each in own_tests(ctx, left) if isinstance(each, ast.Compare)]
    once = [each for each in tests if isinstance(each.ops[0], ast.Eq | ast.Gt | ast.GtE)]
    counted = [each for each in once if not any(isinstance(node, ast.Mod) for node in ast.walk(each))]
    return unless(ctx.evidence(each, "from here on evaluation mode may be meant") for each in counted)


def happens(ctx: PythonContext, scope: Scope, cast: Cast, *, before: str, after: str) -> bool:
    """Whether anything in a function may lead the gradients from one state to another."""
    nodes = happening_in(ctx, scope, cast, GRADIENTS)
    return any(GRADIENTS.may_lead(what, before, after) for what in nodes.values())


@question
def no_rate_is_set(ctx: PythonContext, scope: Scope) -> Answer:
    """Whether a function sets no learning rate: with one of zero a step makes an optimizer's state (`a_dry_step`)."""
    return unless(
        ctx.evidence(node, "the learning rate is set here")
        for node in own(scope)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and literal(node.slice) == "lr"
    )


class Clip(NamedTuple):
    """What clips the gradients of a cast."""

    node: ast.Call
    """The call in the function that is asked about: the clip, or the call of a function that only clips."""
    ctx: PythonContext
    call: ast.Call
    """The clip itself, and its file."""


def only_clip(ctx: PythonContext, scope: Scope, cast: Cast) -> Clip | None:
    """The clip of the gradients of a cast, where no other one runs in a function or in those that it calls.

    It may stand in a function of its own (`clip_in_a_method`).
    """
    found = [
        (where, node)
        for where, node in ReachedCode([(ctx, scope)]).nodes
        if isinstance(node, ast.Call) and where.means(node.func, CLIPPING)
    ]
    where, clip = found[0] if len(found) == 1 else (None, None)
    if clip is None or where is None:
        return None
    if where is ctx and ctx.scope(clip) is scope:
        return Clip(clip, ctx, clip) if vocabulary(ctx, scope, cast).event(ctx, clip, cast) == CLIP else None
    holder = where.scope(clip)
    calls = [
        each
        for each in own(scope)
        if isinstance(each, ast.Call) and (target := ctx.callee(each)) is not None and target[1] is holder
    ]
    alone = isinstance(holder, FUNCTIONS) and len(holder.body) <= 2 and where.statement(clip) is holder.body[-1]
    happens = happening_in(ctx, scope, cast, GRADIENTS)
    return Clip(calls[0], where, clip) if alone and len(calls) == 1 and calls[0] in happens else None


def unscales(ctx: PythonContext, step: ast.Call) -> bool:
    """Whether the function of a step calls a scaler's `unscale_` already."""
    return any(isinstance(node, ast.Attribute) and node.attr == "unscale_" for node in own(ctx.scope(step)))


def happens_around(ctx: PythonContext, scope: Scope, cast: Cast, step: ast.Call) -> bool:
    """Whether loops around the one of a step do something to its optimizer, in their own rounds."""
    flow = ctx.flow_of(scope)
    inner = flow.loop(step)
    nodes = happening_in(ctx, scope, cast, GRADIENTS)
    outer = (node for node, what in nodes.items() if GRADIENTS.speaks_of(what) and inner and flow.loop(inner, node))
    return any(all(above is not inner for above in ctx.ancestors(each)) for each in outer)


def reads_gradients(ctx: PythonContext, scope: Scope) -> bool:
    """Whether a function, or one that it calls, reads the gradients of something itself."""
    nodes = ReachedCode([(ctx, scope)]).nodes
    return any(isinstance(node, ast.Attribute) and node.attr == "grad" for _, node in nodes)


def is_stepped_after(ctx: PythonContext, scope: Scope, cast: Cast, node: ast.AST, loop: ast.AST) -> bool:
    """Whether the optimizer is stepped behind a place, in the same round of a loop."""
    flow, nodes = ctx.flow_of(scope), happening_in(ctx, scope, cast, SCHEDULE)
    return any(
        flow.reaches(node, each) and any(above is loop for above in ctx.ancestors(each))
        for each, happening in nodes.items()
        if SCHEDULE.may_lead(happening, UNKNOWN, "stepped")
    )


def is_stepped_before(ctx: PythonContext, scope: Scope, cast: Cast, node: ast.AST) -> bool:
    """Whether the optimizer may be stepped in a function before a place in it."""
    flow, nodes = ctx.flow_of(scope), happening_in(ctx, scope, cast, SCHEDULE)
    stepping = (each for each, happening in nodes.items() if SCHEDULE.may_lead(happening, UNKNOWN, "stepped"))
    return any(flow.reaches(each, node) for each in stepping)


def step_beside(ctx: PythonContext, scope: Scope, cast: Cast, node: ast.AST) -> ast.Call | None:
    """The only step of the optimizer in the loop around a place, and in no loop inside of that one (`by_epochs`)."""
    flow, words = ctx.flow_of(scope), vocabulary(ctx, scope, cast)
    loop = flow.loop(node)
    steps = [
        each
        for each in own(scope)
        if isinstance(each, ast.Call)
        and words.event(ctx, each, cast) == STEP
        and any(above is loop for above in ctx.ancestors(each))
    ]
    return steps[0] if len(steps) == 1 and loop is not None and flow.loop(steps[0]) is loop else None


@question
def no_other_code_zeroes(ctx: PythonContext, scope: Scope) -> Answer:
    """Whether nothing sets gradients to zero that may run during a function, and that it is not seen to call."""
    followed = ReachedCode([(ctx, scope)]).scopes
    zeroing = [
        each.evidence("this may set the gradients to zero")
        for each in mentions(ctx, "zero_grad")
        if (each.ctx.function(each.node) or each.ctx.module.tree) not in followed and may_run_during(each, followed)
    ]
    # of gradients that are views of something else, that may be zeroed (`views_of_a_buffer`)
    made = [each.evidence("gradients may be made here") for each in stores(ctx, "grad")]
    return unless((*zeroing, *made))


def is_meant_to_add_up(ctx: PythonContext, scope: Scope, cast: Cast, backward: ast.AST, test: ast.expr) -> bool:
    """Whether gradients are accumulated: the loss is divided by what a test counts to, or no other optimizer trains.

    Beside another one, an optimizer that is stepped in every N-th round only may leave out the others (`in_turns`).
    """
    if vocabulary(ctx, scope, cast).alone:
        return True
    loss = ctx.loss_of(backward)
    made = sources(ctx, scope, loss) if loss is not None else ()
    return any(
        isinstance(each, ast.BinOp) and isinstance(each.op, ast.Div) and ctx.source(each.right) in _windows(ctx, test)
        for each in made
    )


def _own_lengths(ctx: PythonContext, given: Sequence[ast.AST]) -> Iterator[Evidence]:
    """Where the project says itself how long something is: a loader may count examples (`counts_examples`)."""
    for call in given:
        if isinstance(call, ast.Call) and ctx.name(call.func) == "len" and len(call.args) == 1:
            kind = of(ctx, call.args[0])
            for ref in (Ref.of(name) for name in (kind.names if kind is not None else ()) if ":" in name):
                if (found := ctx.method_of(ref, "__len__")) is not None:
                    yield found[0].evidence(found[1], f"`{ref.name}` may count something else than batches")


def _windows(ctx: PythonContext, test: ast.expr) -> set[str]:
    """What a test counts to, as text."""
    return {ctx.source(each) for each in _counted_to(test)}


def _counted_to(test: ast.expr) -> list[ast.expr]:
    """What a test takes a remainder by; without one, what it compares a counter with."""
    found = [each.right for each in ast.walk(test) if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod)]
    return found or (test.comparators if isinstance(test, ast.Compare) else [])


@question
def a_window_has_several_rounds(ctx: PythonContext, test: ast.expr) -> Answer:
    """Whether a test holds in every N-th round only: no where it counts to one."""
    for each in _counted_to(test):
        found, complete = possible_values(ctx, each, given=given)
        told = {value.node.value if isinstance(value.node, ast.Constant) else None for value in found}
        if complete and told == {1}:
            return no()
        if not complete or not told or None in told or 1 in told:
            return unknown(ctx.evidence(each, f"`{ctx.written(each)}` may be 1"))
    return yes()


def _batches_of(ctx: PythonContext, windows: Collection[str]) -> ast.expr | None:
    """Where the number that a test counts to is the size of a batch as well (`the_same_number`)."""
    sizes = (each for call in ctx.all(ast.Call) for each in call.keywords if each.arg == "batch_size")
    return next((each.value for each in sizes if ctx.source(each.value) in windows), None)


@question
def graph_is_freed(ctx: PythonContext, backward: ast.AST) -> Answer:
    """Whether each backward pass is of its own round: with `retain_graph` one may hold those before it, too."""
    kept = keyword(backward, "retain_graph") if isinstance(backward, ast.Call) else None
    if kept is None or literal(kept) is False:
        return yes()
    return unknown(ctx.evidence(kept, "this pass may be through the rounds before, too"))


@question
def schedule_counts_steps(ctx: PythonContext, advance: ast.Call, test: ast.expr) -> Answer:
    """Whether the length of a schedule is counted in steps of the optimizer: divided by what a test counts to.

    No where it is the length of a loader, undivided: then it counts batches on purpose (`counted_in_batches`).
    """
    assert isinstance(advance.func, ast.Attribute)
    windows = _windows(ctx, test)
    for where, maker in makers(ctx, advance.func.value):
        given = [node for value in values(maker)[1:] for node in sources(where, where.scope(maker), value)]
        if any(isinstance(n, ast.Call) and where.callee(n) is not None for n in given):
            continue  # a function of the project counts
        divided = [n for n in given if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Div, ast.FloorDiv))]
        counted = any(where.source(each.right) in windows for each in divided)
        if counted and (sized := _batches_of(where, windows)) is not None:
            return unknown(where.evidence(sized, "a batch has as many examples as a step has batches"))
        if counted and (own_length := next(_own_lengths(where, given), None)) is not None:
            return unknown(own_length)
        if counted:
            return yes(where.evidence(maker, "its length is divided by the batches of a step"))
        if not divided and any(isinstance(n, ast.Call) and where.name(n.func) == "len" for n in given):
            return no(where.evidence(maker, "its length is counted in batches"))
    return unknown(ctx.evidence(advance, "the schedule may be counted in batches"))
