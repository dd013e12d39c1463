"""The layers of a watched module as rows of a tree; what is not worth a row of its own is folded into its parent's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from codemods.verify.flow import Layer, Run, Side
from codemods.verify.flow_symptoms import unused

SHORT = {"float32": "f32", "bfloat16": "bf16", "float16": "f16", "float64": "f64"}


@dataclass(frozen=True, slots=True)
class Row:
    """One layer, or several alike that stand side by side."""

    name: str
    kind: str
    guides: tuple[bool, ...]
    """For each level above, and for this one, whether more follows there."""
    types: tuple[str, ...]
    """Of the outputs in each run."""
    before: float | None
    after: float | None
    trainable: int
    """Parameters that the gradients are of."""
    note: str = ""
    count: int = 1
    folded: int = 0
    """Layers below that have no row."""
    last: str = ""
    """The name of the last of several alike."""


def types(layer: str, run: Run) -> str:
    """The types of what a layer returned, in short; empty if it was not called."""
    seen = run.layers.get(layer)
    return "+".join(SHORT.get(kind, kind) for kind in seen.outputs) if seen else ""


def notes(layer: Layer, run: Run, idle: frozenset[str]) -> str:
    """What is remarkable about a layer in one run, in a few words."""
    if run.error_layer == layer.name:
        return "raises here"
    if run.non_finite in (
        f"the output of {layer.name or 'the module'}",
        *(f"the gradient of {n}" for n in layer.trainable),
    ):
        return "first non-finite values"
    if (seen := run.layers.get(layer.name)) and not seen.finite:
        return "non-finite"
    for cut in run.cuts:
        if cut.layer == layer.name:
            return {
                "inside": "loses requires_grad",
                "called-without-grad": "called with gradients off",
                "cached-without-grad": "weights cached without gradient",
            }[cut.how]
    if layer.name in idle:
        return "never called"
    if any(name in run.gradients and run.gradients[name] is None for name in layer.trainable):
        return "no gradient"
    return ""


class _Tree:
    """The layers with their children, and what is to be said of each in the run that is looked at."""

    def __init__(self, side: Side, shown: Sequence[Run], focus: Run, other: Run | None) -> None:
        self.shown, self.focus, self.other = shown, focus, other
        self.children: dict[str, list[Layer]] = {}
        for layer in side.survey.layers:
            if layer.name:
                self.children.setdefault(layer.name.rpartition(".")[0], []).append(layer)
        idle = frozenset(unused(focus, side))
        self.notes = {layer.name: notes(layer, focus, idle) for layer in side.survey.layers}

    def below(self, layer: Layer) -> Iterator[Layer]:
        for child in self.children.get(layer.name, ()):
            yield child
            yield from self.below(child)

    def remarkable(self, layer: Layer) -> bool:
        return bool(self.notes[layer.name])

    def gradient(self, run: Run | None, layers: Sequence[Layer]) -> float | None:
        if run is None:
            return None
        norms = [norm for layer in layers if (norm := run.gradient(layer)) is not None]
        return math.hypot(*norms) if norms else None

    def row(self, layer: Layer, guides: tuple[bool, ...], folded: Sequence[Layer]) -> Row:
        meant = [layer, *folded]
        kinds = (sorted({kind for part in meant if (kind := types(part.name, run))}) for run in self.shown)
        return Row(
            layer.name.rpartition(".")[2],
            layer.kind,
            guides,
            tuple(types(layer.name, run) or "+".join(found) for run, found in zip(self.shown, kinds, strict=True)),
            self.gradient(self.focus, meant),
            self.gradient(self.other, meant),
            sum(len(part.trainable) for part in meant),
            self.notes[layer.name],
            folded=len(folded),
        )


def rows(side: Side, shown: Sequence[Run], focus: Run, other: Run | None, *, depth: int) -> Iterator[Row]:
    """The rows for `side`: the types in all runs `shown`, the notes and gradients of `focus`, the gradients of `other`.

    Args:
        depth: layers that are deeper are folded, unless something about them is remarkable.
    """
    tree = _Tree(side, shown, focus, other)
    if side.survey.layers:
        yield from _walk(tree, side.survey.layers[0], (), depth)


def _walk(tree: _Tree, layer: Layer, guides: tuple[bool, ...], depth: int) -> Iterator[Row]:
    below = list(tree.below(layer))
    if len(guides) >= depth and not any(map(tree.remarkable, below)):
        yield tree.row(layer, guides, below)
        return
    yield tree.row(layer, guides, ())
    children = tree.children.get(layer.name, [])
    found = [
        list(_walk(tree, child, (*guides, number < len(children) - 1), depth)) for number, child in enumerate(children)
    ]
    yield from _alike(found)


def _alike(found: Sequence[Sequence[Row]]) -> Iterator[Row]:
    """Neighbours that are single rows and look the same, as one."""
    pending: Row | None = None
    for rows_of_child in found:
        first = rows_of_child[0]
        if pending is not None and len(rows_of_child) == 1 and _same(pending, first):
            pending = replace(
                pending,
                last=first.name,
                count=pending.count + 1,
                guides=first.guides,
                folded=pending.folded + first.folded,
                trainable=pending.trainable + first.trainable,
                before=_sum(pending.before, first.before),
                after=_sum(pending.after, first.after),
            )
            continue
        if pending is not None:
            yield pending
        pending = first if len(rows_of_child) == 1 else None
        if pending is None:
            yield from rows_of_child
    if pending is not None:
        yield pending


def _same(one: Row, two: Row) -> bool:
    alike = (one.kind, one.types, one.note, one.before is None, one.after is None)
    numbered = one.name.isdigit() and two.name.isdigit()
    return numbered and alike == (two.kind, two.types, two.note, two.before is None, two.after is None)


def _sum(one: float | None, two: float | None) -> float | None:
    norms = [norm for norm in (one, two) if norm is not None]
    return math.hypot(*norms) if norms else None
