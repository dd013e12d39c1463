"""What a side showed, in words: its symptom with the exact message, its training in numbers. Standard library only."""

from __future__ import annotations

from itertools import islice

from codemods.verify.observation import Side

SILENT = ("missing-gradient", "frozen", "differs")
"""Symptoms that nothing says: they have to be measured."""


def symptom(side: Side) -> str:
    """The symptom as the side showed it: the whole message, or what was measured; empty if it did not show it."""
    declared = side.declared.symptom
    if declared not in SILENT:
        said = (side.error, *side.warnings, *side.output.splitlines(), side.output)
        return next((text for text in said if declared in text), "")
    if side.error:
        return ""
    if declared == "missing-gradient":
        return f"no gradient reaches {some(blocked)}" if (blocked := side.seen.blocked()) else ""
    if declared == "frozen":
        return f"training does not move {some(still)}" if (still := side.seen.still()) else ""
    return f"differs from the reference: {some(wrong)}" if (wrong := strays(side)) else ""


def training(side: Side) -> str:
    """How a side trained: losses, parameters with a gradient, whether it equals the reference; or what it raised."""
    if side.error:
        return f"raises {side.error}"
    got, of = len(side.seen.gradients) - len(side.seen.blocked()), len(side.seen.gradients)
    parts = [
        _count(len(side.seen.losses), "loss", "losses"),
        f"{got} of {of} parameters got a gradient" if of else "",
        _count(len(side.seen.numbers), "number", "numbers"),
    ]
    equal = ""
    if side.reference is not None and not strays(side):
        within = f" within {side.declared.tolerance:g}" if side.declared.tolerance else ""
        equal = f", equal to the reference{within}"
    return ", ".join(part for part in parts if part) + equal


def strays(side: Side) -> tuple[str, ...]:
    """Where a side differs from its reference."""
    if side.reference is None:
        return ()
    return tuple(side.seen.differences(side.reference, side.declared.tolerance))


def some(items: tuple[str, ...]) -> str:
    """The first few of them, and how many more there are."""
    return ", ".join(islice(items, 4)) + (f" and {len(items) - 4} more" if len(items) > 4 else "")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}" if number else ""
