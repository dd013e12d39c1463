"""How much is tried: a part, or, with `--hypothesis-profile thorough`, everything."""

from __future__ import annotations

from hypothesis import settings


def thorough() -> bool:
    return bool(settings.default == settings.get_profile("thorough"))


def examples(number: int) -> int:
    """How many of a property's examples are tried: a quarter, or all."""
    return number if thorough() else max(number // 4, 10)
