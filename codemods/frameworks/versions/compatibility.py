"""Which torch and which Python each Lightning release takes, read from the metadata of its wheels.

Lower bounds are what the packages themselves ask for, so that an installer refuses anything else. The documented table
(https://lightning.ai/docs/pytorch/stable/versioning.html) has the same ones, and the last torch each release was tested
with, which is no bound.
"""

from __future__ import annotations

from dataclasses import dataclass

from codemods.project import ranges

Specs = tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class ReleaseRequirements:
    """Releases of Lightning, and what they require."""

    lightning: str
    torch: str
    python: str


ROWS = (
    ReleaseRequirements(">=2.6.1", ">=2.1", ">=3.10"),
    ReleaseRequirements(">=2.4,<2.6.1", ">=2.1", ">=3.9"),
    ReleaseRequirements(">=2.3,<2.4", ">=2.0", ">=3.8"),
    ReleaseRequirements(">=2.2,<2.3", ">=1.13", ">=3.8"),
    ReleaseRequirements(">=2.1,<2.2", ">=1.12", ">=3.8"),
    ReleaseRequirements(">=2.0,<2.1", ">=1.11", ">=3.8"),
    ReleaseRequirements(">=1.9,<2.0", ">=1.10", ">=3.7"),
    ReleaseRequirements(">=1.7,<1.9", ">=1.9", ">=3.7"),
    ReleaseRequirements(">=1.6,<1.7", ">=1.8", ">=3.7"),
    ReleaseRequirements(">=1.5,<1.6", ">=1.7", ">=3.6"),
    ReleaseRequirements("<1.5", "", ""),
)

KNOWS_NO_TORCH_2 = "<1.8.4"
"""Releases that take torch's schedulers for something else since torch 2.0 renamed their class."""


def required(lightning: Specs, beside: str, specs: Specs) -> str | None:
    """What the allowed releases of Lightning need of `beside` ("torch" or "python"), where `specs` has none of it."""
    rows = [row for row in ROWS if ranges.some(lightning, row.lightning)]
    needed = [row.torch if beside == "torch" else row.python for row in rows]
    if not needed or any(not each or ranges.some(specs, each) for each in needed):
        return None
    return needed[-1]
