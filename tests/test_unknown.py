"""Unknown is a value: where the answer to a question is not known, no safe fix that rests on it survives.

Each question is answered with `unknown`, one at a time. A question that changes nothing then is one that no fixture
needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from cases import Case, cases

from codemods.engine import check_document, check_python, safety
from codemods.flow.answers import QUESTIONS, forced
from codemods.model.edits import Finding, Safety
from codemods.rules.rule import Draft

FIXTURES_OF_EACH = 3


Resting = dict[str, set[tuple[str, str, int]]]
"""By question: the code, the claim and the line of each draft that rests on it."""


@contextmanager
def _asked() -> Iterator[Resting]:
    """The questions that the drafts of a run rest on."""
    asked: Resting = {}

    def weighed(draft: Draft) -> Draft | None:
        answers = [*draft.is_bug, *(draft.remedy.is_right if draft.remedy is not None else ())]
        for name in (name for answer in answers for name in answer.questions):
            line = getattr(draft.node, "lineno", 0)
            asked.setdefault(name, set()).add((draft.rule.code, draft.message, line))
        return safety.weighed(draft)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check_python, "weighed", weighed)
        patch.setattr(check_document, "weighed", weighed)
        yield asked


@cache
def resting_on() -> dict[str, list[Case]]:
    """The fixtures whose findings rest on each question."""
    found: dict[str, list[Case]] = {name: [] for name in QUESTIONS}
    for case in cases():
        with _asked() as asked:
            case.run(fix=False)
        for name in asked:
            found[name].append(case)
    return found


def _rests(found: Finding, asked: set[tuple[str, str, int]]) -> bool:
    """Whether a finding is one of some drafts; a place in a configuration has no line."""
    return any((found.code, found.claim, line) in asked for line in (found.place.line, 0))


def _told(found: Finding) -> tuple[object, ...]:
    return (found.code, found.location, found.safety, found.certainty, found.fix is not None)


def _questions() -> list[str]:
    cases()
    return sorted(QUESTIONS)


@pytest.mark.parametrize("name", _questions())
def test_what_is_unknown_is_never_safe(name: str) -> None:
    those = resting_on()[name]
    assert those, f"no fixture rests on {name}"
    changed = 0
    for case in _spread(those):
        before = [_told(each) for each in case.run(fix=False).findings]
        with forced({name}), _asked() as asked:
            after = case.run(fix=False).findings
        changed += [_told(each) for each in after] != before
        for each in after:
            if each.fix is not None and _rests(each, asked.get(name, set())):
                assert each.safety is not Safety.SAFE, each.message
    assert changed, f"{name} decides about none of {[case.name for case in those]}"


def _spread(those: list[Case]) -> list[Case]:
    """A few, those first in which something is repaired."""
    ordered = sorted(those, key=lambda case: (case.kind != "before", case.name))
    return [*ordered[:FIXTURES_OF_EACH], *ordered[-FIXTURES_OF_EACH:]]
