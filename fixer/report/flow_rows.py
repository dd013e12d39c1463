"""The layers of a watched module as rows of a tree; what is not worth a row of its own is folded into its parent's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from codemods.verify.flow import FlowRun, FlowSide, Layer
from codemods.verify.flow_symptoms import unused

SHORT = {"float32": "f32", "bfloat16": "bf16", "float16": "f16", "float64": "f64"}


@dataclass(frozen=True, slots=True)
class LayerRow:
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


def types(layers: Sequence[Layer], run: FlowRun) -> str:
    """The types of what these layers returned, in short; empty if they were not called."""
    kinds = {kind for layer in layers if layer.name in run.layers for kind in run.layers[layer.name].outputs}
    return "+".join(SHORT.get(kind, kind) for kind in sorted(kinds))


def notes(layer: Layer, run: FlowRun, idle: frozenset[str]) -> str:
    """What is remarkable about a layer in one run, in a few words."""
    if run.error_layer == layer.name:
        return "raises here"
    if run.non_finite == f"the output of {layer.name or 'the module'}":
        return "first non-finite values"
    if (seen := run.layers.get(layer.name)) and not seen.finite:
        return "non-finite"
    harmful = run.status == "error" or run.missed or None in run.gradients.values()
    for cut in run.cuts:
        if cut.layer == layer.name and harmful:
            return {
                "inside": "loses requires_grad",
                "called-without-grad": "called with gradients off",
                "cached-without-grad": "weights cached without gradient",
            }[cut.how]
    if layer.name in idle:
        return "never called"
    if any(name in run.gradients and run.gradients[name] is None for name in layer.trainable):
        return "no gradient"
    if any(run.missed.get(name) for name in layer.trainable):
        return f"no gradient in {max(run.missed.get(name, 0) for name in layer.trainable)} of {run.passes} passes"
    return ""


class _Tree:
    """The layers with their children, and what is to be said of each in the run that is looked at."""

    def __init__(self, side: FlowSide, shown: Sequence[FlowRun], focus: FlowRun, other: FlowRun | None) -> None:
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

    def gradient(self, run: FlowRun | None, layers: Sequence[Layer]) -> float | None:
        if run is None:
            return None
        return _sum(run.gradient(layer) for layer in layers)

    def row(self, layer: Layer, guides: tuple[bool, ...], folded: Sequence[Layer]) -> LayerRow:
        meant = [layer, *folded]
        return LayerRow(
            layer.name.rpartition(".")[2],
            layer.kind,
            guides,
            tuple(types(meant[: 1 if layer.name in run.layers else None], run) for run in self.shown),
            self.gradient(self.focus, meant),
            self.gradient(self.other, meant),
            sum(len(part.trainable) for part in meant),
            self.notes[layer.name],
            folded=len(folded),
        )


def rows(
    side: FlowSide, shown: Sequence[FlowRun], focus: FlowRun, other: FlowRun | None, *, depth: int
) -> Iterator[LayerRow]:
    """The rows for `side`: the types in all runs `shown`, the notes and gradients of `focus`, the gradients of `other`.

    Args:
        depth: layers that are deeper are folded, unless something about them is remarkable.
    """
    tree = _Tree(side, shown, focus, other)
    if side.survey.layers:
        yield from _walk(tree, side.survey.layers[0], (), depth)


def _walk(tree: _Tree, layer: Layer, guides: tuple[bool, ...], depth: int) -> Iterator[LayerRow]:
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


def _alike(found: Sequence[Sequence[LayerRow]]) -> Iterator[LayerRow]:
    """Numbered neighbours that look the same: the first in full, the others as one row."""
    group: list[Sequence[LayerRow]] = []
    for rows_of_child in (*found, ()):
        if group and not (rows_of_child and _looks(group[0]) == _looks(rows_of_child)):
            yield from _one(group)
            group = []
        group.append(rows_of_child)


def _looks(child: Sequence[LayerRow]) -> object:
    """What must be equal of two children to show only one of them: everything but the number that is the name."""
    head = child[0]
    return head.name.isdigit() or head.name, [
        (
            row.name if number else "",
            row.guides[len(head.guides) :],
            row.kind,
            row.types,
            row.note,
            row.count,
            row.folded,
            row.before is None,
            row.after is None,
        )
        for number, row in enumerate(child)
    ]


def _one(group: Sequence[Sequence[LayerRow]]) -> Iterator[LayerRow]:
    first, *others = group
    if others and len(first) == 1:
        others = [first, *others]
    else:
        yield from first
    if others:
        heads = [child[0] for child in others]
        rest = [row for child in others for row in child]
        yield replace(
            heads[0],
            last=heads[-1].name if len(heads) > 1 else "",
            count=len(heads),
            guides=heads[-1].guides,
            folded=sum(1 + row.folded for row in rest) - len(heads),
            trainable=sum(row.trainable for row in rest),
            before=_sum(row.before for row in rest),
            after=_sum(row.after for row in rest),
            note=heads[0].note if len(first) == 1 else f"as {first[0].name}",
        )


def _sum(norms: Iterable[float | None]) -> float | None:
    known = [norm for norm in norms if norm is not None]
    return math.hypot(*known) if known else None
