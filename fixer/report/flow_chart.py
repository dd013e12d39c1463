"""Gradient norms per layer, before and after, as an inline SVG chart on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from codemods.model.visible import visible
from codemods.verify.flow import FlowRun, Layer

WIDTH, LABEL, NONE, RIGHT = 960, 300, 72, 24
"""Of the drawing, of the layers' names, of the lane for what has no gradient, of the margin."""
ROW, TOP = 18, 46
NAME = 44
"""Characters of a name."""


def chart(layers: Sequence[Layer], before: FlowRun, after: FlowRun | None) -> str:
    """A row for each layer with parameters to train: a ring before, a disc after, a cross for no gradient."""
    shown = [layer for layer in layers if layer.trainable]
    if not shown:
        return "<p>No layer has a trainable parameter.</p>"
    sides = [side for side in (before, after) if side is not None]
    norms = [norm for layer in shown for side in sides if (norm := side.gradient(layer)) and math.isfinite(norm)]
    low = math.floor(math.log10(min(norms))) if norms else -1
    high = max(math.ceil(math.log10(max(norms))) if norms else 0, low + 1)
    height = TOP + ROW * len(shown) + 8
    label = f"Gradient norms of {len(shown)} layers, {before.title}"
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">',
        *_legend(after is not None),
    ]
    parts += _axis(low, high, height)
    for number, layer in enumerate(shown):
        parts += _row(layer, before, after, TOP + ROW * number + ROW / 2, low, high)
    return "\n".join((*parts, "</svg>"))


def _legend(both: bool) -> Iterator[str]:
    entries = [(_mark("before", 0, 0), "before"), (_mark("after", 0, 0), "after")][: 1 + both]
    entries.append((_cross(0, 0, ""), "no gradient (dashed: after)" if both else "no gradient"))
    x = LABEL + 8
    for mark, word in entries:
        yield f'<g transform="translate({x} 10)">{mark}<text x="10" y="4">{word}</text></g>'
        x += 100


def _axis(low: int, high: int, height: float) -> Iterator[str]:
    step = max(1, math.ceil((high - low) / 10))
    for power in range(low, high + 1, step):
        x = _across(10.0**power, low, high)
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{height - 4}"/>'
        yield f'<text class="tick" x="{x:.1f}" y="{TOP - 12}" text-anchor="middle">1e{power}</text>'
    x = LABEL + NONE / 3
    yield f'<text class="tick" x="{x:.1f}" y="{TOP - 12}" text-anchor="middle">none</text>'


def _row(layer: Layer, before: FlowRun, after: FlowRun | None, y: float, low: int, high: int) -> Iterator[str]:
    name = visible(layer.name) or "(the module)"
    short = name if len(name) <= NAME else f"…{name[1 - NAME :]}"
    first, second = _where(layer, before, low, high), _where(layer, after, low, high)
    told = "; ".join(f"{w} {_told(layer, r)}" for w, r in (("before", before), ("after", after)) if r is not None)
    yield f"<g><title>{escape(f'{name} {layer.kind}: {told}')}</title>"
    yield f'<text x="{LABEL - 8}" y="{y + 4:.1f}" text-anchor="end">{escape(short)}</text>'
    if first is not None and second is not None and abs(first[0] - second[0]) > 1:
        yield f'<line class="link" x1="{first[0]:.1f}" x2="{second[0]:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
    if second is not None:
        yield _mark("after", second[0], y) if second[1] else _cross(second[0] + 8, y, " later")
    if first is not None:
        yield _mark("before", first[0], y) if first[1] else _cross(first[0] - 8 * (second is not None), y, "")
    yield "</g>"


def _told(layer: Layer, run: FlowRun) -> str:
    if not run.gradients:
        return "not differentiated"
    norm = run.gradient(layer)
    return "no gradient" if norm is None else f"{norm:.3g}"


def _where(layer: Layer, run: FlowRun | None, low: int, high: int) -> tuple[float, bool] | None:
    """Where a layer's mark stands, and whether it has a gradient; None if there was nothing to differentiate."""
    if run is None or not run.gradients:
        return None
    norm = run.gradient(layer)
    if norm is None:
        return LABEL + NONE / 3, False
    return _across(norm, low, high), True


def _across(norm: float, low: int, high: int) -> float:
    """Zero stands at the left end of the axis, what is not finite at the right."""
    power = low if norm == 0 else high if not math.isfinite(norm) else math.log10(norm)
    return LABEL + NONE + (power - low) / (high - low) * (WIDTH - LABEL - NONE - RIGHT)


def _mark(side: str, x: float, y: float) -> str:
    return f'<circle class="{side}" cx="{x:.1f}" cy="{y:.1f}" r="{5 if side == "before" else 3.5}"/>'


def _cross(x: float, y: float, more: str) -> str:
    return f'<path class="none{more}" d="M{x - 4:.1f} {y - 4:.1f}l8 8m0-8l-8 8"/>'
