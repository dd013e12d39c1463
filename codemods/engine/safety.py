"""Whether a claim holds, and how careful a fix: derived from the answers that a draft rests on, not said by a rule."""

from __future__ import annotations

from dataclasses import replace

from codemods.flow.answers import Answer, every
from codemods.model.edits import Safety
from codemods.rules.rule import Draft


def weighed(draft: Draft) -> Draft | None:
    """The draft as far as its answers allow: None where it is no bug; without its fix where that is surely wrong."""
    if is_bug(draft).is_no:
        return None
    if (right := is_right(draft)).is_no:
        return replace(draft, remedy=None, strategy=None, refused=right.places)
    return draft


def is_bug(draft: Draft) -> Answer:
    """Whether all that the claim rests on is so."""
    return every(draft.is_bug)


def is_right(draft: Draft) -> Answer:
    """Whether all that the repair rests on is so."""
    return every(draft.remedy.is_right if draft.remedy is not None else ())


def safety(draft: Draft) -> Safety:
    """How far the fix may be trusted, in a project that has the versions it needs."""
    bound = draft.rule.bounds.get(draft.strategy or "", draft.rule.safety)
    known = is_bug(draft).is_yes and is_right(draft).is_yes
    return bound if known else min(bound, Safety.UNSAFE)
