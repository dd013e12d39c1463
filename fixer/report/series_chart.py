"""A number at each step, before and after, as a small inline SVG chart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 480, 170, 80, 24, 10
"""Of the drawing, of the numbers at its left, of those below, and of the margin above."""
STYLE = """
:root { --before: #bc4c00; --after: #0969da; }
@media (prefers-color-scheme: dark) { :root { --before: #f0883e; --after: #58a6ff; } }
svg { display: block; width: 100%; max-width: 40rem; height: auto; }
svg text { font-size: 12px; fill: var(--soft); } svg .grid { stroke: var(--line); }
svg .before { fill: none; stroke: var(--before); stroke-width: 2.5; }
svg .after { fill: none; stroke: var(--after); stroke-width: 2; stroke-dasharray: 5 4; }
svg .cross { stroke-width: 2.5; stroke-dasharray: none; }
.key.before { color: var(--before); } .key.after { color: var(--after); }
"""


def chart(label: str, before: Sequence[float], after: Sequence[float], failed: tuple[str, str] = ("", "")) -> str:
    """Two lines over the steps: solid before, dashed after, so that equal ones can both be seen. Nothing finite: "".

    A cross at the top marks inf and nan, one at the bottom where a side failed.

    Args:
        label: what the numbers are, for those who cannot see the drawing.
        failed: why each side failed; empty where it did not.
    """
    finite = [number for number in (*before, *after) if math.isfinite(number)]
    if not finite:
        return ""
    low, high = min(finite), max(finite)
    if low == high:
        low, high = low - 0.5 * (abs(low) or 1), high + 0.5 * (abs(high) or 1)
    steps = max(len(before) + bool(failed[0]), len(after) + bool(failed[1]))

    def point(step: int, number: float) -> str:
        x = LEFT + (WIDTH - LEFT - 10) * (step / max(steps - 1, 1))
        y = TOP + (HEIGHT - TOP - BOTTOM) * (high - number) / (high - low)
        return f"{x:.1f},{y:.1f}"

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">']
    for number in (high, (low + high) / 2, low):
        y = point(0, number).partition(",")[2]
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 10}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y}" dy="4" text-anchor="end">{number:.4g}</text>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 6}">1</text>')
    parts.append(f'<text x="{WIDTH - 10}" y="{HEIGHT - 6}" text-anchor="end">{steps:,}</text>')
    for side, series, error in (("before", before, failed[0]), ("after", after, failed[1])):
        for step, number in enumerate(series):
            if not math.isfinite(number):
                parts.append(_cross(side, point(step, high), f"{side}: {number} at step {step + 1}"))
        if error:
            parts.append(_cross(side, point(len(series), low), f"{side}: {error}"))
        for run in _runs(series):
            points = " ".join(point(step, number) for step, number in run)
            if len(run) == 1:
                x, _, y = points.partition(",")
                parts.append(f'<circle class="{side}" cx="{x}" cy="{y}" r="{4 if side == "before" else 2}"/>')
            else:
                parts.append(f'<polyline class="{side}" points="{points}"/>')
    return "\n".join((*parts, "</svg>"))


def _cross(side: str, place: str, title: str) -> str:
    x, y = map(float, place.split(","))
    lines = f"M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10"
    return f'<path class="{side} cross" d="{lines}"><title>{escape(title)}</title></path>'


def _runs(series: Sequence[float]) -> Iterator[list[tuple[int, float]]]:
    """The stretches of finite numbers, with their steps from 0."""
    run: list[tuple[int, float]] = []
    for step, number in enumerate(series):
        if math.isfinite(number):
            run.append((step, number))
        elif run:
            yield run
            run = []
    if run:
        yield run
