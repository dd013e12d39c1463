"""What of the values that the project's functions compute has a part in the claim of a rule."""

from __future__ import annotations

import enum


class Computed(enum.IntEnum):
    """Ordered, the widest last."""

    NOTHING = 0
    """The claim is about what is done, and in which order. Steps, cleared gradients, schedules."""
    SIZES = 1
    """It is about how large a loss or a gradient is: no function may do arithmetic out of sight. Scalers."""
    ALL = 2
    """It is about what the values are: no function may compute one out of sight. Numerics."""
