"""Why a floor stays where it is, as a clause for a message."""

from __future__ import annotations

from codemods.project import ranges
from codemods.sources.manifest import Requirement


def why_not(requirement: Requirement, floor: str) -> str:
    """The reason why a constraint is not raised to `floor` here."""
    if not requirement.editable:
        return requirement.why_not
    if not requirement.written.lstrip().startswith("=") and not ranges.some(requirement.specs, f">={floor}"):
        return f"its ceiling forbids {floor}"
    return "what to ask for instead is left to you"
