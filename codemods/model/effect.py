"""What a fix may change in a training run. Running the code before and after it holds the fix to that."""

from __future__ import annotations

import enum


class Effect(enum.IntEnum):
    """Ordered, the widest last: several fixes together may change what the widest of them may."""

    EQUAL = 0
    """Nothing: every loss and every gradient stays. Renames."""
    NEW_GRADIENTS = 1
    """Parameters without a gradient may get one; at the first step the others keep theirs. Checkpointing."""
    FACTOR = 2
    """The gradients of the first step may be multiplied by the loss scale or the number of accumulated batches, all by
    the same. Scalers, `accelerator.backward`.
    """
    GRADIENTS = 3
    """Any gradient may change; the first loss stays. Repairs of the graph."""
    NUMBERS = 4
    """Losses too: another precision."""

    def __str__(self) -> str:
        return self.name.lower().replace("_", "-")
