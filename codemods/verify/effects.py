"""Whether a fix changed more of a training run than it may. Standard library only.

A fix that may change gradients must leave the first loss as it was; whatever it may change, no optimizer may take
fewer steps, have other settings, or step on gradients that were clipped before and are not any more.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import product, zip_longest
from typing import Any

from codemods.model.effect import Effect
from codemods.verify.trace import Parameter, Trace

CLOSE = 1e-3
"""Relative difference of losses and gradients up to which two runs count as doing the same."""
ROUNDED = 0.05
"""The same where one side was computed on gradients that half precision rounds or flushes to zero."""
SMALL = 1e-5
"""Of the largest gradient: what is smaller is rounding noise."""


def excesses(one: Trace, other: Trace, effect: Effect, *, whole: bool, noise: float = 0.0) -> Iterator[str]:
    """What a process does otherwise after fixes that may not change it, as sentences.

    Args:
        one: the process as it was.
        other: the process with the fixes.
        whole: both ran to their end.
        noise: how far two runs of the code as it is are apart, as a relative difference.
    """
    tolerance = max(CLOSE, 4 * noise)
    yield from _settings(one, other, whole)
    yield from _steps(one, other, whole)
    if math.isinf(noise) or effect is Effect.NUMBERS:
        return
    yield from _first_losses(one, other, _counts(one, other) if effect is Effect.FACTOR else {1.0}, tolerance)
    if effect is Effect.EQUAL:
        yield from _all_numbers(one, other, whole, tolerance)
    elif effect is Effect.NEW_GRADIENTS:
        yield from _kept_gradients(one, other, tolerance)
    elif effect is Effect.FACTOR:
        yield from _multiplied(one, other)


# -- optimizers


def _settings(one: Trace, other: Trace, whole: bool) -> Iterator[str]:
    for number, (mine, theirs) in enumerate(zip_longest(one.settings, other.settings)):
        if theirs is None:
            if whole:
                yield f"optimizer {number} takes no step any more"
        elif mine is not None:
            for was, now in zip(mine, theirs, strict=False):
                yield from _differing(number, was, now)


def _differing(number: int, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in was.keys() & now.keys():
        if not _alike(was[name], now[name]):
            yield f"`{name}` of optimizer {number} is {now[name]} instead of {was[name]}"


def _alike(was: Any, now: Any) -> bool:
    if isinstance(was, list) and isinstance(now, list):
        return len(was) == len(now) and all(map(_alike, was, now))
    if isinstance(was, list) or isinstance(now, list):
        return False
    return math.isclose(was, now, rel_tol=1e-6) or (math.isnan(was) and math.isnan(now))


def _steps(one: Trace, other: Trace, whole: bool) -> Iterator[str]:
    if whole and one.trained and not other.trained:
        yield "a process that trained before does not train any more"
        return
    if whole and other.updates < one.updates:
        yield f"steps of optimizers: {other.updates:,} instead of {one.updates:,}"
    if whole and other.updates == one.updates and other.backward < one.backward:
        yield f"backward passes: {other.backward:,} instead of {one.backward:,}, for as many steps"
    always = one.updates > 0 and one.clipped == one.updates
    if other.updates and (other.clipped < one.clipped if whole else always and other.clipped < other.updates):
        yield (
            f"{other.clipped:,} of {other.updates:,} steps are taken on clipped gradients; before, "
            f"{one.clipped:,} of {one.updates:,}"
        )
    if one.clips and other.clips and one.clips.keys() != other.clips.keys():
        yield f"gradients are clipped by {', '.join(other.clips)} instead of {', '.join(one.clips)}"


# -- numbers


def _window(trace: Trace) -> Sequence[float]:
    """The losses before the first step."""
    return trace.losses[: trace.windows[0]] if trace.windows else trace.losses


def _first_losses(one: Trace, other: Trace, factors: set[float], tolerance: float) -> Iterator[str]:
    mine, theirs = _window(one), _window(other)
    if one.windows and other.windows and len(theirs) < len(mine):
        yield f"losses differentiated before the first step: {len(theirs):,} instead of {len(mine):,}"
        return
    for number, (was, now) in enumerate(zip(mine, theirs, strict=False), 1):
        if math.isfinite(was) and math.isfinite(now) and not any(_close(was * f, now, tolerance) for f in factors):
            yield f"loss {number} is {now:.6g} instead of {was:.6g}, before any step"
            return


def divided(one: Trace, other: Trace) -> int:
    """The number of batches for a step, where the first losses of the other process are divided by it; else 0."""
    batches = round(other.backward / other.updates) if other.updates else 0
    pairs = [(was, now) for was, now in zip(_window(one), _window(other), strict=False) if was]
    return batches if batches > 1 and pairs and all(_close(was, now * batches, CLOSE) for was, now in pairs) else 0


def _all_numbers(one: Trace, other: Trace, whole: bool, tolerance: float) -> Iterator[str]:
    for number, (was, now) in enumerate(zip(one.losses, other.losses, strict=False), 1):
        if math.isfinite(was) and math.isfinite(now) and not _close(was, now, tolerance):
            yield f"loss {number} is {now:.6g} instead of {was:.6g}"
            return
    if whole and len(one.losses) != len(other.losses):
        yield f"losses: {len(other.losses):,} instead of {len(one.losses):,}"
        return
    for name, before, after in _norms(one, other):
        for look, (mine, theirs) in enumerate(zip(before.norms, after.norms, strict=False), 1):
            if _differ(mine, theirs, one, tolerance):
                yield f"the gradient of {name} at step {look} has the norm {theirs:.6g} instead of {mine:.6g}"
                return


def _kept_gradients(one: Trace, other: Trace, tolerance: float) -> Iterator[str]:
    changed = [
        (name, was.norms[0], now.norms[0])
        for name, was, now in _first_norms(one, other)
        if _differ(was.norms[0], now.norms[0], one, tolerance)
    ]
    if changed:
        name, mine, theirs = changed[0]
        more = f", and {len(changed) - 1:,} more differ" if len(changed) > 1 else ""
        yield f"the first gradient of {name} has the norm {theirs:.6g} instead of {mine:.6g}{more}"


def _multiplied(one: Trace, other: Trace) -> Iterator[str]:
    least_one, least_other = SMALL * _largest(one), SMALL * _largest(other)
    ratios = {
        name: now.norms[0] / was.norms[0]
        for name, was, now in _first_norms(one, other)
        if math.isfinite(was.norms[0]) and math.isfinite(now.norms[0])
        if was.norms[0] > least_one and now.norms[0] > least_other
    }
    if not ratios:
        return
    factor = statistics.median(ratios.values())
    odd = next((name for name, ratio in ratios.items() if not _close(ratio, factor, ROUNDED)), None)
    if odd is not None:
        yield f"the first gradient of {odd} is multiplied by {ratios[odd]:.4g}, that of others by {factor:.4g}"
    elif not (one.clips or other.clips) and not any(_close(factor, each, ROUNDED) for each in _factors(one, other)):
        yield f"the first gradients are multiplied by {factor:.4g}, which is no loss scale and no number of batches"


def _counts(one: Trace, other: Trace) -> set[float]:
    """The numbers of batches for one step, and what undoes them."""
    counts = {float(round(t.backward / t.updates)) for t in (one, other) if t.updates and t.backward >= t.updates}
    return {1.0} | counts | {1 / count for count in counts}


def _factors(one: Trace, other: Trace) -> set[float]:
    """What gradients may be multiplied by: loss scales and numbers of batches, and what undoes them."""
    scales = {trace.first_scale for trace in (one, other) if trace.first_scale}
    scales |= {1.0} | {1 / scale for scale in scales}
    return {count * scale for count, scale in product(_counts(one, other), scales)}


def _norms(one: Trace, other: Trace) -> Iterator[tuple[str, Parameter, Parameter]]:
    for name, was in one.parameters.items():
        now = other.parameters.get(name)
        if now is not None and was.norms and now.norms:
            yield name, was, now


def _first_norms(one: Trace, other: Trace) -> Iterator[tuple[str, Parameter, Parameter]]:
    """Parameters whose first norm is surely that of their first step: they had a gradient at every look."""
    for name, was, now in _norms(one, other):
        if was.present == was.looks and now.present == now.looks:
            yield name, was, now


def _differ(was: float, now: float, one: Trace, tolerance: float) -> bool:
    if not (math.isfinite(was) and math.isfinite(now)):
        return False
    return not _close(was, now, tolerance) and max(was, now) > SMALL * _largest(one)


def _largest(trace: Trace) -> float:
    norms = [norm for parameter in trace.parameters.values() for norm in parameter.norms[:1] if math.isfinite(norm)]
    return max(norms, default=0.0)


def _close(was: float, now: float, tolerance: float) -> bool:
    return abs(was - now) <= tolerance * max(abs(was), abs(now))
