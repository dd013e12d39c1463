"""Raising the least version that a project allows, without changing anything else it says, and never to a release
that was taken over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from codemods.plan import Target
from codemods.sources.manifest import Requirement
from codemods.versions import surely

if TYPE_CHECKING:
    from codemods.file_context import FileContext

COMPROMISED: Mapping[str, tuple[str, ...]] = {
    "lightning": ("2.6.2", "2.6.3"),
    "pytorch-lightning": ("2.6.2", "2.6.3"),
}
"""Releases published by an intruder (advisory GHSA-w37p-236h-pfx3)."""


def satisfied(target: Target | None, floor: str) -> bool:
    """Whether every version that the project allows is at least `floor`; unknown versions are not."""
    return surely(target, f">={floor}")


def raised(requirement: Requirement, floor: str) -> str | None:
    """The constraint with its floor raised and nothing else changed, for `Manifest.edits`; None: a person must decide.

    `>=2.0` becomes `>=2.0.7`, a pin stays a pin, `^` and `~=` stay what they are; a constraint that asks for `floor`
    already stays the same.
    """
    return None


def floor_edits(ctx: FileContext, package: str, floor: str) -> dict[str, dict[Requirement, str]] | None:
    """What a fix must carry in `also=` so that the project asks for at least `floor`; {} where it does already.

    None where that cannot be had by editing: no file names the package, or only a lock file, hashes or an address do.
    """
    return None
