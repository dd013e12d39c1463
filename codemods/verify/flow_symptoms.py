"""What is wrong in what was seen, and what the fixes did to it. Pure: from runs to symptoms to a verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal, get_args

from codemods.verify.flow import Cut, FlowRun, FlowSide, GraphEnd
from codemods.verify.verdict import Word

Kind = Literal[  # the gravest first
    "error",
    "non-finite",
    "dead",
    "unreached",
    "unregistered",
    "scaled",
    "sometimes",
    "zero",
    "copied",
    "unread",
    "unused",
]
NOTES = frozenset({"sometimes", "zero", "copied", "unread", "unused"})
"""No failures: stochastic depth, layers behind one that begins with zeros, teachers and target networks, outputs that
no loss uses, heads that are not called."""
State = Literal["gone", "new", "uncovered", "there"]
"""Removed by the fixes · brought by them · seen only since a run got further · as before."""
Judgement = Word | Literal["unrepaired"]
"""`unrepaired`: symptoms that were there before the fixes, and still are; `unhealthy` where nothing was fixed."""
SLACK = 1.5
"""How far a ratio of gradients may be from the scaler's scale to be taken for it."""
TOLERANCE = 1e-6
REGISTERING = {"list": "List", "tuple": "List", "dict": "Dict"}
"""The kind of container of `torch.nn` to write instead of one that hides modules or parameters."""


@dataclass(frozen=True, slots=True)
class FlowSymptom:
    """One thing that is wrong, in one or more runs."""

    kind: Kind
    sentence: str
    runs: tuple[str, ...]
    """The titles of the runs."""
    state: State
    cause: str = ""
    """What was seen to lead to it, as a clause."""
    places: tuple[str, ...] = ()
    """Lines of the project that take part: `net.py:12`."""
    said: tuple[str, ...] = ()
    """Exceptions and warnings of those runs."""
    parameters: tuple[str, ...] = ()
    note: bool = False
    """It is no failure."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A symptom of one run, before signs of a kind are put together."""

    kind: Kind
    key: str
    sentence: str = ""
    cause: str = field(default="", compare=False)
    root: str = field(default="", compare=False)
    """What causes of one origin have in common, where `cause` names a layer."""
    places: tuple[str, ...] = field(default=(), compare=False)


def symptoms(before: FlowSide, after: FlowSide | None) -> tuple[FlowSymptom, ...]:
    """All symptoms of both sides; without `after` there was nothing to fix."""
    groups: dict[tuple[Kind, str, str, State], list[tuple[FlowRun, Sign]]] = {}

    def add(run: FlowRun, sign: Sign, state: State) -> None:
        groups.setdefault((sign.kind, _alike_in(sign.sentence), sign.root or sign.cause, state), []).append((run, sign))

    for run in before.runs:
        other = run if after is None else after.run(run)
        later = [] if other is None else list(signs(other, before if after is None else after))
        for sign in signs(run, before):
            add(run, sign, "there" if _keyed(sign) in map(_keyed, later) else "gone")
        if after is not None and other is not None:
            earlier = set(map(_keyed, signs(run, before)))
            for sign in later:
                if _keyed(sign) not in earlier:
                    add(other, sign, "new" if run.status == "ok" else "uncovered")
    order = list(get_args(Kind))
    return tuple(sorted(_together(groups), key=lambda symptom: order.index(symptom.kind)))


def _alike_in(sentence: str) -> str:
    """A sentence without the types that differ between precisions."""
    return re.sub(
        r"(?<=\[)\S+ (?=\[)|\b(BFloat16|Float|Half|Double|(c10::|at::)\w+|torch\.b?float\d*)\b", "…", sentence
    )


def _keyed(sign: Sign) -> tuple[Kind, str]:
    return sign.kind, sign.key


def _together(groups: dict[tuple[Kind, str, str, State], list[tuple[FlowRun, Sign]]]) -> Iterator[FlowSymptom]:
    """One symptom for the same names in the same runs."""
    merged: dict[tuple[Kind, str, str, State, tuple[str, ...]], list[tuple[FlowRun, Sign]]] = {}
    for (kind, text, root, state), found in groups.items():
        titles = tuple(dict.fromkeys(run.title for run, _ in found))
        merged.setdefault((kind, text, root, state, titles), []).extend(found)
    for (kind, text, _, state, titles), found in merged.items():
        keys = tuple(dict.fromkeys(sign.key for _, sign in found))
        causes = list(dict.fromkeys(sign.cause for _, sign in found if sign.cause))
        runs = {id(run): run for run, _ in found}.values()
        sentence = found[0][1].sentence
        if any(sign.sentence != sentence for _, sign in found):
            sentence = text  # as it is in all of them
        yield FlowSymptom(
            kind,
            sentence or _list(kind, keys),
            titles,
            state,
            "".join(causes[:1]) + (f" (and {len(causes) - 1} more in the same way)" if len(causes) > 1 else ""),
            tuple(dict.fromkeys(place for _, sign in found for place in sign.places if place)),
            tuple(dict.fromkeys(said for run in runs for said in (run.error, *run.warnings) if said)),
            keys if kind in ("unreached", "sometimes", "zero", "copied", "unread") else (),
            kind in NOTES,
        )


def _list(kind: Kind, keys: Sequence[str]) -> str:
    if kind == "unused":
        return f"never called: {some(keys)}"
    if kind == "zero":
        return f"the gradient of {_count(len(keys), 'parameter')} is zero in every pass: {some(keys, 4)}"
    often = " in some passes" if kind == "sometimes" else ""
    return f"no gradient reaches {_count(len(keys), 'parameter')}{often}: {some(keys, 4)}"


def some(names: Sequence[str], most: int = 6) -> str:
    """The first few names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def signs(run: FlowRun, side: FlowSide) -> Iterator[Sign]:
    """What is wrong in one run."""
    if run.status in ("error", "trouble"):
        yield _error(run, side)
    if run.non_finite:
        yield _non_finite(run)
    if run.status != "ok" or run.mode != "train":
        return
    zero = [name for name, norm in run.gradients.items() if norm == 0]
    if zero and not any(run.gradients.values()):
        yield Sign("dead", "dead", "every gradient is zero")
    else:
        yield from (Sign("zero", name) for name in zero)
    yield from _strangers(run)
    yield from _unreached(run, side)
    yield from _scaled(run, side)


def _non_finite(run: FlowRun) -> Sign:
    """Where nan or inf comes from: a layer, or the backward of an operation."""
    if run.non_finite != "the gradients":
        return Sign("non-finite", run.non_finite, f"nan or inf first appears in {run.non_finite}")
    cause = ""
    if run.backward:
        called = f", the backward of the operation called at {run.forward_place}," if run.forward_place else ""
        cause = f"{run.backward}{called} is the first to give nan or inf"
    sentence = "the loss is finite, and gradients are nan or inf"
    return Sign("non-finite", "the gradients", sentence, cause, "", (run.forward_place,))


def _error(run: FlowRun, side: FlowSide) -> Sign:
    where = (f" in {run.error_layer}" if run.error_layer else "") + (f" at {run.place}" if run.place else "")
    said = run.error.partition(" Hint: ")[0].rstrip(". ")  # torch's hint is to do what was done here
    text = f"raises {said}{where}" if run.status == "error" else f"cannot be run: {run.error}"
    cause, places = "", tuple(run.lines)
    if "does not require grad" in run.error and run.ends:
        cause, places = tell_end(run.ends[0]), (*places, run.ends[0].place)
    elif "does not require grad" in run.error and run.cuts:
        cut = _first_cut(run, side)
        cause, places = tell(cut), (*places, cut.place)
    elif run.forward_place:
        name = f"{run.backward}, " if run.backward else ""
        cause = f"{name}the backward of the operation called at {run.forward_place}, fails"
        if run.changed_places:
            cause += f"; a tensor of that shape is changed in place at {some(run.changed_places)}"
        places = (*places, run.forward_place, *run.changed_places)
    elif run.mode == "eval":
        twin = side.run(FlowRun(run.device, run.precision, "train"))
        cause = "training in the same precision runs" if twin is not None and twin.status == "ok" else ""
    return Sign("error", "error", text, cause, "", places)


def tell(cut: Cut) -> str:
    """What a cut is, as a clause."""
    layer = cut.layer or "the module"
    if cut.how == "called-without-grad":
        return f"{layer} is called with gradients off" + (f" at {cut.place}" if cut.place else "")
    if cut.how == "cached-without-grad":
        return f"{layer} computes with weights that autocast cached while gradients were off"
    return f"{layer} is the first to return an output without requires_grad" + (
        f" (its forward: {cut.place})" if cut.place else ""
    )


def tell_end(end: GraphEnd) -> str:
    """Where a graph ends, as a clause."""
    at = f"in {end.within}, called at {end.place}" if end.within else f"in {end.place}"
    layer = f" (called in {end.layer})" if end.layer else ""
    return f"the graph {'ends' if end.certain else 'seems to end'} at {end.call} {at}{layer}"


def _strangers(run: FlowRun) -> Iterator[Sign]:
    for stranger in run.strangers:
        count, many = _count(stranger.parameters, "parameter"), stranger.modules > 1
        place = f" at {stranger.place}" if stranger.place else ""
        who = f"{stranger.modules} modules of class {stranger.kind}" if many else stranger.kind
        held = f" in {stranger.holder}" if stranger.holder else ""
        text = (
            f"{who} ({count}){held} {'are' if many else 'is'} called{place} and {'are' if many else 'is'} not "
            f"registered in the module: nothing optimizes {'them' if many else 'it'}"
        )
        cause = ""
        if container := REGISTERING.get(stranger.container):
            what, better = (
                ("modules", f"Module{container}") if stranger.modules else ("parameters", f"Parameter{container}")
            )
            plain = f"{stranger.holder} is a plain {stranger.container}"
            cause = f"{plain}; torch.nn.{better} registers the {what} that it holds"
        if not stranger.modules:
            be, them = ("is", "it") if stranger.parameters == 1 else ("are", "them")
            text = f"{count}{held} {be} not registered in the module: nothing optimizes {them}"
        yield Sign(
            "unregistered", f"{stranger.kind} {stranger.holder or stranger.place}", text, cause, "", (stranger.place,)
        )


def _unreached(run: FlowRun, side: FlowSide) -> Iterator[Sign]:
    blocked = {name for name, norm in run.gradients.items() if norm is None}
    idle = unused(run, side)
    for name in _outermost(idle, side):
        yield Sign("unused", name or "the module")
    for layer in side.survey.layers:
        if layer.name not in idle:
            for name in layer.trainable:
                if name in blocked or run.missed.get(name):
                    yield _missing(name, layer.name, run, always=name in blocked)


def _missing(name: str, layer: str, run: FlowRun, *, always: bool) -> Sign:
    """A parameter that a gradient never, or not always, reaches, and why."""
    kind: Kind = "unreached" if always else "sometimes"
    original = next((layer for layer in run.copies if name.startswith(f"{layer}.")), "")
    if always and original:
        cause = f"{original} began as a copy of {run.copies[original]}, which is trained"
        return Sign("copied", name, "", cause)
    if end := next((end for end in run.ends if name in end.parameters), None):
        return Sign(kind, name, "", tell_end(end), f"{end.call} {end.place}", (end.place,))
    if always and name in run.unread:
        return Sign("unread", name, "", "nothing that is computed with them goes into the loss")
    if (cut := _why(layer, run)) is not None:
        return Sign(kind, name, "", tell(cut), f"{cut.how} {cut.place}", (cut.place,))
    return Sign(kind, name)


def unused(run: FlowRun, side: FlowSide) -> set[str]:
    """Layers that were not called, and whose parameters got no gradient by another way either.

    What a layer around them uses by itself, as attention uses its projections, is not one of them.
    """
    blocked = {name for name, norm in run.gradients.items() if norm is None}
    reached = {layer.name: layer.trainable and not blocked.issuperset(layer.trainable) for layer in side.survey.layers}
    users = {layer.name for layer in side.survey.layers if layer.trainable and layer.name in run.layers}
    return {
        layer.name
        for layer in side.survey.layers
        if layer.name not in run.layers
        and layer.trainable
        and not reached[layer.name]
        and not any(layer.name.startswith(f"{cut.layer}.") for cut in run.cuts)
        and not ((around := layer.name.rpartition(".")[0]) in users and not reached[around])
    }


def _outermost(idle: Set[str], side: FlowSide) -> Iterator[str]:
    """The idle layers, or what they are part of where all of it that can be trained is idle."""
    used = [layer.name for layer in side.survey.layers if layer.trainable and layer.name not in idle]
    for name in sorted(idle, key=[layer.name for layer in side.survey.layers].index):
        parts = name.split(".")
        around = (".".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        yield next(part for part in around if not any(other == part or other.startswith(f"{part}.") for other in used))


def _why(layer: str, run: FlowRun) -> Cut | None:
    """The cut that keeps gradients from a layer: its own, that of what it is part of, or the next one after it."""
    own = [cut for cut in run.cuts if layer == cut.layer or layer.startswith(f"{cut.layer}.")]
    order = {name: number for number, name in enumerate(run.layers)}  # as they first returned
    here = order.get(layer, order.get(layer.rpartition(".")[0], 0))
    later = sorted((cut for cut in run.cuts if order[cut.layer] >= here), key=lambda cut: order[cut.layer])
    return next(iter([*own[-1:], *later[:1], *run.cuts[:1]]), None)


def _first_cut(run: FlowRun, side: FlowSide) -> Cut:
    """The cut to blame for a loss without a graph: the first of what can be trained, else the last of all."""
    trained = {layer.name for layer in side.survey.layers if layer.trainable}
    for cut in run.cuts:
        if any(name == cut.layer or name.startswith(f"{cut.layer}.") for name in trained):
            return cut
    return run.cuts[-1]


def _scaled(run: FlowRun, side: FlowSide) -> Iterator[Sign]:
    """Gradients that were never multiplied by the scale, and are divided by it all the same; or the other way round."""
    plain = side.run(FlowRun(run.device, "32-true", "train"))
    if run.scale <= 1 or plain is None or plain.status != "ok":
        return
    shared = [name for name, norm in run.gradients.items() if norm and plain.gradients.get(name)]
    mine, theirs = (math.hypot(*(r.gradients[name] or 0.0 for name in shared)) for r in (run, plain))
    if not shared or not math.isfinite(mine) or not math.isfinite(theirs):
        return
    for ratio, word in ((mine / theirs, "larger"), (theirs / mine, "smaller")):
        if run.scale / SLACK < ratio < run.scale * SLACK:
            text = f"gradients are about {run.scale:g} times {word} than in 32-true: the scale of the gradient scaler"
            yield Sign("scaled", word, text)


def judge(
    before: FlowSide,
    after: FlowSide | None,
    found: Sequence[FlowSymptom],
    *,
    fixes: str = "the fixes",
    advice: str = "",
) -> tuple[Judgement, str]:
    """The verdict and its sentence, which counts the symptoms and does not repeat them.

    Args:
        fixes: what made `after` of `before`, in words.
        advice: what to do about symptoms that nothing was tried against.
    """
    if before.trouble:
        if after is None or after.trouble:
            return "could-not-run", before.trouble
        return "proved", f"before: {before.trouble}; after: {_health(after)}"
    if after is not None and after.trouble:
        return "refuted", f"after {fixes}: {after.trouble}"
    new, gone = ([symptom for symptom in found if symptom.state == state] for state in ("new", "gone"))
    left = [symptom for symptom in found if symptom.state in ("there", "uncovered") and not symptom.note]
    more = f"; {advice}" if advice else ""
    if new:
        return "refuted", f"{fixes} brought {_count(len(new), 'symptom')}"
    if gone:
        rest = f"; {_count(len(left), 'symptom')} left{more}" if left else ""
        return "proved", f"{_count(len(gone), 'symptom')} gone; with the fixes {_health(after or before)}{rest}"
    if left and after is None:
        return "unhealthy", f"{_counted(left, before)}{more}"
    if left:
        return "unrepaired", f"{_counted(left, before)}, as without {fixes}{more}"
    if after is None:
        return "healthy", _health(before)
    return "not-reproduced", f"nothing wrong with or without {fixes}: {_health(before)}{_alike(before, after)}"


def _counted(found: Sequence[FlowSymptom], side: FlowSide) -> str:
    runs = {title for symptom in found for title in symptom.runs}
    return f"{_count(len(found), 'symptom')} in {len(runs)} of {_count(len(_meant(side)), 'run')}"


def _meant(side: FlowSide) -> list[FlowRun]:
    """The runs but for those that the device, or the module, has not."""
    return [run for run in side.runs if run.status in ("ok", "error", "trouble")]


def _health(side: FlowSide) -> str:
    """How many runs went through, and how many parameters got a gradient in the worst of them."""
    done = [run for run in side.runs if run.status == "ok"]
    trained = [run.gradients for run in done if run.mode == "train" and run.gradients]
    text = f"{len(done)} of {_count(len(_meant(side)), 'run')} without an exception"
    if trained:
        worst = min(trained, key=lambda gradients: sum(norm is not None for norm in gradients.values()))
        text += f", {sum(n is not None for n in worst.values())} of {len(worst)} parameters with a gradient"
    return text


def _alike(before: FlowSide, after: FlowSide) -> str:
    strays = [run.title for run in before.runs if (other := after.run(run)) and not alike(run, other)]
    return (
        f"; losses or gradients differ in {some(strays)}"
        if strays
        else "; losses and gradients are equal on both sides"
    )


def alike(run: FlowRun, other: FlowRun) -> bool:
    """Whether two runs gave the same loss and gradients."""
    numbers = [(run.loss, other.loss), *((norm, other.gradients.get(n)) for n, norm in run.gradients.items())]
    return all(_close(one, two) for one, two in numbers)


def _close(one: float | None, two: float | None) -> bool:
    if one is None or two is None:
        return one is two
    return math.isclose(one, two, rel_tol=TOLERANCE) or (math.isnan(one) and math.isnan(two))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
