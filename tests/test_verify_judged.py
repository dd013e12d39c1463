"""What two runs of a command come to: every word of the verdict, from runs made up for it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codemods.model.effect import Effect
from codemods.verify.comparison import judge
from codemods.verify.health import examined
from codemods.verify.symptoms import Run, sentences, symptoms
from codemods.verify.trace import Parameter, Trace, joined, paired

WELL = Parameter(True, 2, 2, 0, 0, True, (0.5, 0.25))
BLOCKED = Parameter(True, 2, 0, 0, 0, False)
HALF = Parameter(True, 2, 1, 0, 0, True, (0.5,))
GOOD = Trace(backward=2, steps=2, losses=(2.0, 1.0), windows=(1, 2), parameters={"net.a": WELL, "net.b": WELL})
MESSAGE = "Attempted unscale_ but _scale is None"


def ran(trace: Trace = GOOD, *more: Trace, code: int | None = 0, how: str = "exit", output: str = "") -> Run:
    return Run(how, code, 1.0, output, (trace, *more))


def failed(text: str, trace: Trace = GOOD) -> Run:
    return ran(replace(trace, error=text), code=1, output=f"Traceback\n{text}\n")


def having(**parameters: Parameter) -> Trace:
    return replace(GOOD, parameters={**GOOD.parameters, **{f"net.{name}": page for name, page in parameters.items()}})


def odd(kind: str) -> Trace:
    return replace(GOOD, oddities={kind: 2})


EARLY = Trace(backward=1, losses=(2.0,))
STARTED = replace(EARLY, steps=1, parameters={"net.a": replace(WELL, looks=1, present=1, norms=(0.5,))})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            ran(),
            ran(),
            "not-reproduced: both run alike: 2 optimizer steps, 2 of 2 parameters receive a gradient, equal",
        ),
        (ran(), ran(replace(GOOD, losses=(2.0, 1.00001))), "not-reproduced: both run alike"),
        (ran(), ran(replace(GOOD, losses=(2.0, 1.5))), "numbers-differ: nothing is wrong on either side, but the num"),
        (ran(having(b=BLOCKED)), ran(having(b=BLOCKED)), "not-reproduced"),
        (
            ran(having(b=BLOCKED)),
            ran(),
            "proved: before: no gradient reaches 1 of 2 parameters; after: 2 optimizer steps",
        ),
        (ran(having(b=HALF)), ran(), "proved: before: at some steps no gradient reaches 1 of 2 parameters; after"),
        (ran(), ran(having(b=BLOCKED)), "refuted: after the fixes: no gradient reaches 1 of 2 parameters: net.b"),
        (ran(having(b=HALF)), ran(having(b=BLOCKED)), "refuted"),
        (ran(having(a=BLOCKED)), ran(having(b=BLOCKED)), "refuted: after the fixes: no gradient reaches 1 of 2 parame"),
        (ran(having(b=replace(WELL, moved=False))), ran(), "proved: before: no step moves 1 of 2 parameters; after"),
        (
            ran(),
            ran(having(b=replace(WELL, zero=2))),
            "refuted: after the fixes: 1 of 2 parameters has a gradient of zero",
        ),
        (
            ran(),
            ran(having(b=replace(WELL, non_finite=1))),
            "refuted: after the fixes: 1 of 2 parameters gets a gradient that is inf or nan: net.b",
        ),
        (ran(), ran(replace(GOOD, losses=(2.0, math.nan))), "refuted: after the fixes: loss 2 of 2 is nan"),
        (
            ran(),
            ran(replace(GOOD, parameters={"net.a": WELL})),
            "refuted: after the fixes: 1 parameter is in no optimizer any more: net.b",
        ),
        (
            ran(),
            ran(having(b=replace(BLOCKED, trainable=False))),
            "refuted: after the fixes: 1 parameter is in no optimiz",
        ),
        (ran(), ran(replace(GOOD, backward=0)), "refuted: after the fixes: there is no backward pass any more"),
        (ran(), ran(replace(GOOD, steps=0)), "refuted: after the fixes: no optimizer takes a step any more"),
        (ran(), ran(replace(GOOD, steps=0, skipped=2)), "not-reproduced: both run alike: 0 optimizer steps (2 skipped"),
        (failed(MESSAGE, EARLY), ran(), f"proved: before: {MESSAGE}; after: 2 optimizer steps"),
        (failed(MESSAGE, EARLY), ran(having(b=BLOCKED)), "proved"),
        (
            failed(MESSAGE, STARTED),
            ran(having(a=BLOCKED)),
            "refuted: after the fixes: no gradient reaches 1 of 2 parameters",
        ),
        (failed("RuntimeError: x", EARLY), ran(Trace(steps=2)), "refuted: after the fixes: there is no backward pass"),
        (ran(), failed("KeyError: 'x'"), "refuted: after the fixes: KeyError: 'x'"),
        (
            failed("KeyError: 'x'"),
            failed("KeyError: 'x'"),
            "could-not-run: the command fails before and after alike: K",
        ),
        (failed(MESSAGE, EARLY), failed("KeyError: 'y'"), f"could-not-run: before: {MESSAGE}; after the fixes: KeyE"),
        (failed(MESSAGE), failed("NameError: z", EARLY), "refuted: after the fixes it fails earlier: NameError: z"),
        (ran(odd("unscaled-backward")), ran(), "proved: before: an optimizer stepped through the scaler after a back"),
        (ran(odd("stale-gradient")), ran(), "proved: before: an optimizer stepped on gradients added to those"),
        (ran(odd("raw-backward")), ran(), "proved: before: an optimizer of Accelerate, Fabric or Lightning stepped"),
        (ran(), ran(odd("stale-autocast")), "refuted: after the fixes: the model ran again with the old weights"),
        (ran(odd("raw-alike")), ran(), "not-reproduced"),
        (ran(), ran(odd("clip-of-scaled")), "refuted: after the fixes: gradients were clipped while"),
        (ran(replace(GOOD, exceptions=("ValueError: v",))), ran(), "proved: before: ValueError: v (caught by the prog"),
        (ran(output=f"warning: {MESSAGE}"), ran(), f"warning-gone: before: it says '{MESSAGE}'"),
        (ran(), ran(how="memory", code=None), "could-not-run: the code with the fixes took more memory than --memory"),
        (ran(EARLY, how="time", code=None), ran(), "could-not-run: it did not end within 1 s"),
        (ran(how="time", code=None), ran(how="time", code=None), "not-reproduced: both run alike: 2 optimizer steps"),
        (ran(how="time", code=None), ran(replace(GOOD, losses=(2.0,))), "not-reproduced: both run alike"),
        (ran(how="time", code=None), ran(replace(GOOD, losses=(9.0, 1.0))), "refuted: after the fixes: loss 1 is 9"),
        (ran(), ran(how="time", code=None), "could-not-run: with the fixes it did not end within 1 s"),
        (ran(replace(GOOD, strays=("train.py",))), ran(), "could-not-run: the code as it is ran train.py of the check"),
        (Run("exit", 0, 1.0, ""), Run("exit", 0, 1.0, ""), "could-not-run: the command ended well, but no Python"),
        (Run("exit", 1, 1.0, "x: y"), Run("exit", 1, 1.0, "x: y"), "could-not-run: the command failed before torch"),
    ],
)
def test_the_verdict(before: Run, after: Run, expected: str) -> None:
    verdict = judge(before, after, (MESSAGE,))
    assert f"{verdict.word}: {verdict.summary}".startswith(expected)


LAYER = replace(WELL, size=64, matrix=True, root=0)


def model(trace: Trace = GOOD, **layers: Parameter) -> Trace:
    """A model whose layers are called in the order in which they are given."""
    return replace(trace, parameters={f"Net.{name}.weight": page for name, page in layers.items()})


def layers(*norms: float) -> Trace:
    return model(**{f"l{i}": replace(LAYER, order=i, norms=(norm, norm)) for i, norm in enumerate(norms)})


def at(order: int | None, page: Parameter = LAYER, **changes: Any) -> Parameter:
    return replace(page, root=0, order=order, **changes)


CUT = replace(LAYER, present=0, moved=False, norms=())
ZERO = replace(LAYER, zero=2, moved=False)
STILL = replace(LAYER, moved=False)
RESTING = replace(LAYER, moved=None, at_rest=2)
UNMOVED = "unhealthy: nothing is trained: no step moves any of"
RATED = replace(GOOD, settings=(({"lr": 1e-6},), ({"lr": 1e-6}, {"lr": 0.0})))
UNHELD = {"Net.head.weight": at(3)}
HALVES = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
"""A gradient that shrinks by ten from layer to layer."""


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        (GOOD, "healthy: 2 optimizer steps, 2 of 2 parameters receive a gradient"),
        (model(body=at(1, CUT), head=at(2)), "unhealthy: no gradient reaches 1 of 2 parameters: Net.body.weight"),
        (model(body=at(1), aux=at(2, CUT), head=at(3)), "healthy"),
        (model(body=at(1), head=at(2), idle=at(None, CUT)), "healthy"),
        (model(body=at(1), tower=at(2, CUT, feeds=True), head=at(3)), "unhealthy: no gradient reaches 1 of 3"),
        (model(aux=at(1, CUT, feeds=False), body=at(2), head=at(3)), "healthy"),
        (model(mean=at(1, CUT, feeds=True, moved=True), body=at(2)), "healthy"),
        (model(body=at(1, CUT), head=at(2, CUT)), "unhealthy: no gradient reaches 2 of 2"),
        (model(body=at(1, CUT, present=1, moved=True), head=at(2)), "healthy"),
        (model(body=at(1, ZERO), head=at(2)), "healthy"),
        (
            model(body=at(1, ZERO, looks=3, present=3, zero=3), head=at(2)),
            "unhealthy: 1 of 2 parameters has a gradient of ze",
        ),
        (
            model(body=at(1, ZERO), head=at(2, ZERO)),
            "unhealthy: 2 of 2 parameters have a gradient of zero at every step",
        ),
        (replace(model(head=at(2)), parameters={"Net.h.weight": at(2), "parameter 1 of optimizer 0": BLOCKED}), "unhe"),
        (model(body=at(1), head=at(2, moved=False)), "unhealthy: no step moves 1 of 2 parameters: Net.head.weight"),
        (model(body=at(1), head=at(2, moved=False, dtype="bfloat16")), "healthy"),
        (model(body=at(1, STILL), head=at(2, STILL)), f"{UNMOVED} 2 parameters (float32)"),
        (
            model(RATED, body=at(1, STILL, dtype="bfloat16"), head=at(2, STILL, dtype="bfloat16")),
            f"{UNMOVED} 2 parameters (bfloat16) at a learning rate of 1e-06; updates smaller than the spacing of bf",
        ),
        (
            model(a=at(1, STILL, dtype="float16"), b=at(2, STILL, dtype="float16"), c=at(3, STILL)),
            f"{UNMOVED} 3 parameters (2 float16, 1 float32); updates smaller than the spacing of float16 numbers (1/2",
        ),
        (model(head=at(1, STILL, dtype="float16")), "unhealthy: nothing is trained: no step moves the only parameter"),
        (model(body=at(1, STILL, at_rest=1), head=at(2, RESTING)), UNMOVED),
        (model(body=at(1, RESTING), head=at(2, RESTING)), "healthy"),
        (model(body=at(1, STILL), head=at(2, STILL, moved=None)), UNMOVED),
        (model(body=at(1, STILL, trainable=False), head=at(2)), "healthy"),
        (model(body=at(1, ZERO), head=at(2, STILL, dtype="bfloat16")), UNMOVED),
        (model(body=at(1), head=at(2, moved=False, norms=(1e-9,))), "healthy"),  # a bias before BatchNorm
        (replace(EARLY, skipped=8, parameters=GOOD.parameters), "healthy"),
        (
            replace(EARLY, skipped=9, parameters=GOOD.parameters),
            "unhealthy: nothing is trained: the gradient scaler left out all 9 steps",
        ),
        (
            replace(GOOD, parameters={"Net.a.weight": at(1, CUT, feeds=True), "Net.a.bias": at(1)}),
            "unhealthy: no gradient reaches 1 of 2 parameters: Net.a.weight",
        ),
        (replace(GOOD, parameters={"Net.a.weight": at(1, CUT, feeds=False), "Net.a.bias": at(1)}), "healthy"),
        (replace(model(body=at(1)), unheld=UNHELD), "unhealthy: 1 of 2 parameters gets a gradient and is in no opt"),
        (replace(model(body=at(4)), unheld=UNHELD), "healthy"),
        (replace(model(body=at(1)), unheld={"Net.head.weight": at(3, present=0)}), "healthy"),
        (replace(GOOD, unheld=UNHELD), "healthy"),
        (replace(model(body=at(1)), unheld={"Other.a": replace(LAYER, root=1, order=5)}), "unhealthy: 1 of"),
        (replace(model(body=at(1)), unheld={"VGG.a": replace(LAYER, root=1, order=5, training=False)}), "healthy"),
        (layers(*reversed(HALVES)), "unhealthy: 2 of 10 parameters have a gradient that vanishes from la"),
        (layers(*(norm * 1e9 for norm in HALVES)), "unhealthy: 3 of 10 parameters have a gradient that explodes"),
        (layers(1.0, *reversed(HALVES)), "healthy"),
        (layers(1e-9, 2e-9, 3e-9, 4e-9, 5e-9, 1.0), "healthy"),
        (layers(*(norm * 1e4 for norm in reversed(HALVES))), "healthy"),
        (layers(*HALVES[:5]), "healthy"),
        (odd("raw-backward"), "unhealthy: an optimizer of Accelerate, Fabric or Lightning stepped after a backward"),
        (odd("stale-autocast"), "unhealthy: the model ran again with the old weights"),
        (odd("raw-alike"), "healthy"),
        (replace(GOOD, losses=(1.0, math.nan)), "unhealthy: loss 2 of 2 is nan"),
        (replace(GOOD, exceptions=("OutOfMemoryError: tried",)), "healthy"),
        (
            replace(EARLY, backward=3, made=1),
            "unhealthy: nothing is trained: 3 backward passes, and the optimizer",
        ),
        (EARLY, "could-not-run: 1 backward pass, and no optimizer of torch was made: what is trained cannot"),
        (
            replace(model(body=at(1, CUT, trainable=False)), unheld={"Net.lora.weight": at(2)}),
            "unhealthy: nothing is trained: the optimizers hold one parameter, and it is frozen",
        ),
        (
            replace(odd("raw-backward"), details={"raw-backward": "Accelerate: its division by 4 batches"}),
            "unhealthy: an optimizer of Accelerate stepped after a backward pass that went around it: its division",
        ),
        (Trace(), "could-not-run: it ended well, and there was no backward pass to look at"),
    ],
)
def test_one_run_alone(trace: Trace, expected: str) -> None:
    verdict = examined(ran(trace))
    assert f"{verdict.word}: {verdict.summary}".startswith(expected)
    assert bool(verdict.wrong) == (verdict.word == "unhealthy")


def test_one_run_alone_that_fails_or_is_ended() -> None:
    assert examined(failed("KeyError: 'x'")).wrong == ("KeyError: 'x' (after 2 optimizer steps)",)
    placed = failed("KeyError: 'x'", replace(GOOD, steps=1, error_place="train.py:7"))
    assert examined(placed).summary == "KeyError: 'x' (after 1 optimizer step, at train.py:7)"
    assert examined(failed("KeyError: 'x'", Trace())).word == "could-not-run"
    assert examined(ran(how="time", code=None)).word == "healthy", "after steps that were seen"
    assert examined(ran(EARLY, how="time", code=None)).word == "could-not-run"


SETTINGS = ({"lr": 1e-3, "betas": [0.9, 0.999]},)
KEPT = replace(GOOD, settings=(SETTINGS,), clipped=2, clips={"clip_grad_norm_ at 1": 2})
WIDE = Parameter(True, 2, 2, 0, 0, True, (5.0, 2.0))
SCALED = replace(GOOD, first_scale=1024.0)


def norms(factor: float, trace: Trace = GOOD) -> Trace:
    pages = {name: replace(p, norms=tuple(n * factor for n in p.norms)) for name, p in trace.parameters.items()}
    return replace(trace, parameters=pages)


@pytest.mark.parametrize(
    ("before", "after", "effect", "expected"),
    [
        (KEPT, KEPT, Effect.EQUAL, "not-reproduced"),
        (
            KEPT,
            replace(KEPT, settings=(({**SETTINGS[0], "lr": 1e-2},),)),
            Effect.NUMBERS,
            "refuted: `lr` of optimizer 0",
        ),
        (KEPT, replace(KEPT, settings=(({"lr": 1e-3, "betas": [0.5, 0.999]},),)), Effect.NUMBERS, "refuted: `betas`"),
        (KEPT, replace(KEPT, settings=(({"lr": 1e-3, "fused": True},),)), Effect.EQUAL, "not-reproduced"),
        (KEPT, replace(KEPT, settings=()), Effect.NUMBERS, "refuted: optimizer 0 takes no step any more"),
        (KEPT, replace(KEPT, clipped=0), Effect.NUMBERS, "refuted: 0 of 2 steps are taken on clipped gradients"),
        (KEPT, replace(KEPT, clips={"clip_grad_norm_ at 64": 2}), Effect.NUMBERS, "refuted: gradients are clipped by"),
        (GOOD, replace(GOOD, steps=1), Effect.NUMBERS, "refuted: steps of optimizers: 1 instead of 2"),
        (replace(GOOD, backward=4), GOOD, Effect.NUMBERS, "refuted: backward passes: 2 instead of 4, for as many"),
        (
            replace(GOOD, backward=4, losses=(2.0, 3.0, 1.0, 2.0), windows=(2, 4)),
            GOOD,
            Effect.GRADIENTS,
            "refuted: backward passes: 2 instead of 4",
        ),
        (GOOD, replace(GOOD, losses=(2000.0, 1000.0)), Effect.GRADIENTS, "refuted: loss 1 is 2000 instead of 2"),
        (GOOD, replace(GOOD, losses=(2000.0, 1000.0)), Effect.NUMBERS, "numbers-differ"),
        (GOOD, replace(GOOD, losses=(2.0, 1.5)), Effect.EQUAL, "refuted: loss 2 is 1.5 instead of 1"),
        (GOOD, having(b=WIDE), Effect.EQUAL, "refuted: the gradient of net.b at step 1 has the norm 5 instead of 0.5"),
        (GOOD, having(b=WIDE), Effect.NEW_GRADIENTS, "refuted: the first gradient of net.b has the norm 5"),
        (GOOD, having(b=WIDE), Effect.GRADIENTS, "numbers-differ"),
        (having(b=BLOCKED), GOOD, Effect.NEW_GRADIENTS, "proved"),
        (GOOD, having(b=WIDE), Effect.FACTOR, "refuted: the first gradient of net"),
        (SCALED, norms(1024.0, SCALED), Effect.FACTOR, "numbers-differ"),
        (SCALED, norms(1 / 1024.0, SCALED), Effect.FACTOR, "numbers-differ"),
        (GOOD, norms(1000.0), Effect.FACTOR, "refuted: the first gradients are multiplied by 1000"),
        (replace(GOOD, backward=8), replace(norms(0.25), backward=8), Effect.FACTOR, "numbers-differ"),
    ],
)
def test_more_than_a_fix_may_change(before: Trace, after: Trace, effect: Effect, expected: str) -> None:
    verdict = judge(ran(before), ran(after), (MESSAGE,), effect=effect)
    assert f"{verdict.word}: {verdict.summary}".replace("after the fixes: ", "").startswith(expected)


def test_noise_excuses_numbers_and_nothing_else() -> None:
    other = replace(KEPT, losses=(2.1, 1.0))
    assert judge(ran(KEPT), ran(other), noise=0.1).word == "numbers-differ"
    assert judge(ran(KEPT), ran(other), noise=0.001).word == "refuted"
    assert judge(ran(KEPT), ran(replace(KEPT, clipped=0)), noise=math.inf).word == "refuted"


def test_an_error_that_made_room_for_no_gradient_at_all() -> None:
    verdict = judge(failed(MESSAGE, EARLY), ran(having(a=BLOCKED, b=BLOCKED)))
    assert (verdict.word, verdict.summary) == (
        "refuted",
        "after the fixes: it runs, and no gradient reaches any parameter",
    )


def test_processes_are_paired_by_what_they_do() -> None:
    """Two workers of one command, which start in an order of their own."""
    one, two = (
        replace(GOOD, program=("MainProcess", "work.py", name), losses=(x, x)) for name, x in (("a", 1.0), ("b", 2.0))
    )
    assert paired([one, two], [two, one]) == (one, two)
    assert paired([one, two], [two]) == (Trace(), two)
    assert paired([two], [one, two]) == (two, one)
    alike = [replace(GOOD, losses=(x,)) for x in (1.0, 2.0)]
    assert paired(alike, alike[::-1]) == tuple(alike)


PART = at(0, LAYER, part=True, looks=3, present=3, norms=(3.0,) * 3)
IDLE = replace(PART, zero=3, moved=False, norms=(0.0,) * 3)
ABSENT = replace(PART, present=0, moved=None, norms=())


def parts(*pages: Parameter, ranks: str = "01", **changes: Any) -> tuple[Trace, ...]:
    head = at(1, LAYER, looks=3, present=3)
    traces = (
        replace(model(body=page, head=head), rank=rank, **changes) for rank, page in zip(ranks, pages, strict=False)
    )
    return tuple(traces)


@pytest.mark.parametrize("idle", [IDLE, ABSENT])
def test_parts_of_a_parameter_are_judged_together(idle: Parameter) -> None:
    right = joined(parts(PART, idle))
    assert examined(ran(*right)).word == "healthy" == examined(ran(*joined(parts(idle, PART)))).word
    assert [trace.parameters["Net.body.weight"].norms for trace in right] == [(3.0,) * 3] * 2
    wrong = joined(parts(idle, idle))
    assert examined(ran(*wrong)).summary.startswith("each rank: ") and examined(ran(*wrong)).word == "unhealthy"
    assert judge(ran(*wrong), ran(*right)).word == "proved"
    assert judge(ran(*right), ran(*wrong)).word == "refuted"
    apart = [replace(PART, part=False), replace(idle, part=False)]
    assert examined(ran(*joined(parts(*apart)))).summary.startswith("rank 1: "), "each rank holds all of it"
    unknown = joined([replace(trace, rank="") for trace in parts(PART, idle)])
    assert examined(ran(*unknown)).summary.startswith("process 2: "), "two processes that are no ranks"
    others = [replace(trace, program=("MainProcess", "b.py")) for trace in parts(idle, ranks="1")]
    assert examined(ran(*joined([*parts(PART), *others]))).summary.startswith("rank 1: "), "another program"


def test_parts_of_a_gradient_have_one_norm() -> None:
    (one, other) = joined(parts(PART, replace(PART, norms=(4.0,) * 3, non_finite=1, non_finite_at=2)))
    page = one.parameters["Net.body.weight"]
    assert (page.norms, page.non_finite, page.non_finite_at) == ((5.0,) * 3, 1, 2)
    assert page == other.parameters["Net.body.weight"]


def test_processes_are_called_by_ranks_of_their_own() -> None:
    blocked = having(b=BLOCKED)
    for ranks, name in (
        (("0", "1"), "rank 1"),
        (("", ""), "process 2"),
        (("0", "0"), "process 2"),
        (("", "3"), "rank 3"),
    ):
        verdict = examined(ran(replace(GOOD, rank=ranks[0]), replace(blocked, rank=ranks[1])))
        notes = (*verdict.wrong, *verdict.notes)
        assert notes == (f"{name}: no gradient reaches 1 of 2 parameters: net.b",)
    alike = examined(ran(blocked, blocked))
    assert (*alike.wrong, *alike.notes) == ("each process: no gradient reaches 1 of 2 parameters: net.b",)
    three = examined(ran(blocked, GOOD, blocked))
    assert (*three.wrong, *three.notes) == ("process 1, process 3: no gradient reaches 1 of 2 parameters: net.b",)


def test_a_layer_that_was_replaced() -> None:
    """One sentence about what an optimizer holds instead of what is trained."""
    held = {"Net.body.weight": at(1), "parameter 2 of optimizer 0": BLOCKED, "parameter 3 of optimizer 0": BLOCKED}
    trace = replace(GOOD, parameters=held, unheld=UNHELD)
    verdict = examined(ran(trace))
    assert verdict.wrong == (verdict.summary,)
    assert verdict.summary == (
        "1 of 2 parameters gets a gradient and is in no optimizer: Net.head.weight; an optimizer holds 2 others, "
        "which are in no module and get none, as when a layer is replaced after the optimizer was made"
    )
    assert examined(ran(replace(trace, unheld={}))).summary.startswith(
        "no gradient reaches 2 of 3 parameters: parameter 2"
    )
    behind = replace(trace, parameters={**held, "Net.neck.weight": at(0, CUT)})
    first, second = examined(ran(behind)).wrong
    assert first == "no gradient reaches 1 of 4 parameters: Net.neck.weight" and "an optimizer holds 2 others" in second


def test_never_and_sometimes_are_two_sentences() -> None:
    idle = {f"idle{number}": at(None, CUT) for number in range(2)}
    notes = examined(ran(model(body=at(0), some=at(1, CUT, present=1, norms=(1.0,)), **idle))).notes
    assert notes == (
        "no gradient reaches 2 of 4 parameters: Net.idle0.weight, Net.idle1.weight",
        "at some steps no gradient reaches 1 of 4 parameters: Net.some.weight",
    )


def test_what_no_optimizer_holds_is_named() -> None:
    beside = {f"Net.stem{number}.weight": at(0) for number in range(6)}
    trace = replace(model(body=at(4)), unheld=beside)
    (note,) = examined(ran(trace, trace)).notes
    assert note.startswith("no optimizer holds 6 parameters that get a gradient, before all that is trained")
    assert "Net.stem0.weight" in note and "Net.stem4.weight and 1 more; if" in note


@pytest.mark.parametrize(
    ("trace", "note"),
    [
        (
            model(body=at(1, RESTING)),
            "no step moves a parameter: the learning rate was 0 at each step that was looked at",
        ),
        (
            replace(EARLY, skipped=3, parameters={"Net.a.weight": at(1, moved=None)}),
            "the gradient scaler left out all 3 steps, since gradients were inf or nan, so that nothing has moved yet",
        ),
    ],
)
def test_why_nothing_moves_in_a_run_that_may_be_right(trace: Trace, note: str) -> None:
    verdict = examined(ran(trace))
    assert (verdict.word, [text.partition(note)[0] for text in verdict.notes]) == ("healthy", [""])


def test_of_a_run_in_which_nothing_moves_no_parameter_is_told_alone() -> None:
    still = model(body=at(1, STILL, dtype="bfloat16"), head=at(2, STILL, dtype="bfloat16"))
    verdict = examined(ran(still))
    assert len(verdict.wrong) == 1 and verdict.notes == ()
    moving = model(body=at(1), head=at(2))
    assert judge(ran(still), ran(moving)).gone == verdict.wrong
    assert judge(ran(still), ran(moving)).word == "proved"
    assert judge(ran(moving), ran(still)).word == "refuted"
    partly = model(body=at(1), head=at(2, STILL, dtype="bfloat16"))
    assert (judge(ran(still), ran(partly)).word, judge(ran(still), ran(partly)).new) == ("proved", ())
    resting = model(body=at(1, RESTING), head=at(2, RESTING))
    assert judge(ran(resting), ran(still)).word != "refuted", "at a rate of 0 it was no better"


def test_messages_are_told_as_they_were_shown() -> None:
    run = ran(replace(GOOD, warnings={"FutureWarning: `net.half(x)` is deprecated": 3}))
    (told,) = sentences(list(symptoms(run, ("half(x)` is deprecated",))), run)
    assert told == "it says '`net.half(x)` is deprecated'"


def test_causes_before_effects() -> None:
    vanishing = layers(*reversed(HALVES)).parameters
    still = {name: replace(page, moved=False) for name, page in vanishing.items()}
    wrong = examined(ran(replace(GOOD, parameters=still))).wrong
    assert ["vanishes" in wrong[0], wrong[1:]] == [
        True,
        ("nothing is trained: no step moves any of 10 parameters (float32)",),
    ]
    wild = replace(having(b=replace(WELL, non_finite=1)), oddities={"step-beside-scaler": 1}, losses=(1.0, math.nan))
    beside, gradient, loss = examined(ran(wild)).wrong
    assert "beside the scaler" in beside and "gradient that is inf or nan" in gradient and loss == "loss 2 of 2 is nan"


def test_warnings_are_quoted() -> None:
    texts = [f"UserWarning: {word}\nmore" for word in ("careful", "old", "slow", "odd")]
    trace = replace(GOOD, warnings=dict.fromkeys(texts, 1))
    expected = [f"UserWarning: {word}" for word in ("careful", "old", "slow")] + ["1 more"]
    assert list(examined(ran(trace)).notes) == [f"warning: {text}" for text in expected]
    assert judge(ran(trace), ran(trace)).notes == ()
    assert list(judge(ran(trace), ran()).notes) == [f"warning only before: {text}" for text in expected]
    one, other = (replace(GOOD, warnings={f"W: at 0x{place} after {place} s": 1}) for place in (12, 7))
    assert judge(ran(one), ran(other)).notes == (), "an address is no difference"
    known = replace(GOOD, warnings={f"UserWarning: {MESSAGE}": 1})
    assert judge(ran(known), ran(), (MESSAGE,)).notes == (), "it is told as gone"


def test_losses_that_a_framework_divides() -> None:
    before = replace(GOOD, backward=8, losses=(4.0, 2.0, 1.0, 1.0), windows=(4, 8))
    after = replace(before, losses=(1.0, 0.5, 0.25, 0.25))
    (note,) = judge(ran(before), ran(after), effect=Effect.FACTOR).notes
    assert note.startswith("the losses after the fixes are divided by 4, the number of batches for a step")
    other = replace(before, losses=(1.0, 0.5, 0.25, 0.5))
    assert not judge(ran(before), ran(other), effect=Effect.FACTOR).notes


def test_each_rank_is_judged() -> None:
    ranks = [replace(GOOD, rank=str(number)) for number in range(2)]
    blocked = replace(having(b=BLOCKED), rank="1")
    verdict = judge(ran(ranks[0], blocked), ran(*ranks))
    assert verdict.word == "proved" and verdict.gone == ("rank 1: no gradient reaches 1 of 2 parameters: net.b",)
    assert "in each of 2 processes 2 optimizer steps" in verdict.summary


def test_what_was_never_reached_is_a_note() -> None:
    verdict = judge(failed(MESSAGE, EARLY), ran(having(b=BLOCKED)))
    assert verdict.word == "proved" and "1 of 2 parameters receive no gradient" in verdict.notes[-1]


def test_the_rank_that_failed_first_tells_why() -> None:
    later = replace(GOOD, rank="0", error="RuntimeError: Connection closed by peer", written=2.0)
    first = replace(GOOD, rank="1", error="OSError: disk quota exceeded", error_place="data.py:7", written=1.0)
    told = "OSError: disk quota exceeded (after 2 optimizer steps, at data.py:7)"
    assert examined(ran(later, first, code=1)).summary == told


def test_the_childs_error_is_told_not_the_launchers() -> None:
    output = "RuntimeError: inner\nChildFailedError: outer\n"
    assert Run("exit", 1, 1.0, output).error() == "RuntimeError: inner"


PARAMETERS = st.builds(
    lambda looks, present, zero, bad, moved: Parameter(
        True, looks, min(present, looks), min(zero, present, looks), min(bad, present, looks), moved, ()
    ),
    st.integers(1, 3),
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from([True, False, None]),
)
TRACES = st.builds(
    Trace,
    backward=st.integers(0, 2),
    steps=st.integers(0, 2),
    losses=st.lists(st.sampled_from([1.0, math.nan, 2.0]), max_size=2).map(tuple),
    oddities=st.dictionaries(st.sampled_from(["stale-gradient", "clip-of-scaled"]), st.just(1)),
    exceptions=st.lists(st.sampled_from(["E: 1", "E: 2"]), max_size=1).map(tuple),
    parameters=st.dictionaries(st.sampled_from("abc"), PARAMETERS),
)
RUNS = st.builds(
    Run,
    st.sampled_from(["exit", "exit", "exit", "time", "memory"]),
    st.sampled_from([0, 0, 1, -9]),
    st.just(1.0),
    st.sampled_from(["", "ValueError: v"]),
    st.lists(TRACES, max_size=2).map(tuple),
)


@given(RUNS)
def test_a_run_is_never_better_or_worse_than_itself(run: Run) -> None:
    verdict = judge(run, run)
    assert verdict.word in ("not-reproduced", "could-not-run") and not verdict.gone and not verdict.new


ENDS = Run("exit", 0, 1.0, "", (Trace(exceptions=("E: 1",)),))
TWO_PROCESSES = replace(ENDS, traces=ENDS.traces * 2)
ONE_PROCESS = replace(ENDS, traces=(replace(ENDS.traces[0], parameters={"a": Parameter(trainable=True, looks=1)}),))


@example(TWO_PROCESSES, ONE_PROCESS)
@given(RUNS, RUNS)
def test_never_proved_and_refuted_by_turns_alike(one: Run, other: Run) -> None:
    """What is proved one way round is never proved the other way round too."""
    there, back = judge(one, other), judge(other, one)
    assert not (there.word == back.word == "proved"), (there, back)
    assert there.word != "proved" or other.well or (one.how == other.how == "time" and other.steps)
    assert (there.word == "refuted") <= bool(there.new or "fails earlier" in there.summary)
