"""Yes, no, unknown: how answers combine, and what the engine derives from them."""

from __future__ import annotations

import ast
from itertools import product

import pytest

from codemods.engine import safety
from codemods.flow.answers import Answer, Truth, every, forced, no, question, unknown, unless, yes
from codemods.model.edits import Certainty, Consequence, Evidence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import delete

HERE, THERE = Evidence("a.py", 1, "here"), Evidence("b.py", 2, "there")
EACH = (yes(), no(HERE), unknown(THERE))


@pytest.mark.parametrize(("one", "other"), [*product(EACH, EACH)])
def test_and_or_and_not_are_those_of_three_values(one: Answer, other: Answer) -> None:
    order = (Truth.NO, Truth.UNKNOWN, Truth.YES)
    rank = order.index
    assert (one & other).truth is order[min(rank(one.truth), rank(other.truth))]
    assert (one | other).truth is order[max(rank(one.truth), rank(other.truth))]
    assert (~one).truth is order[2 - rank(one.truth)]
    assert ~(one & other) == (~one | ~other)


def test_the_places_are_those_that_decide() -> None:
    assert every([yes(), unknown(HERE), unknown(THERE), unknown(HERE)]).places == (HERE, THERE)
    assert every([unknown(HERE), no(THERE)]).places == (THERE,)
    assert unless([]) == yes() and unless([HERE]) == unknown(HERE)


def test_what_is_unknown_has_a_place() -> None:
    with pytest.raises(ValueError, match="has a place"):
        unknown()


def test_an_answer_is_no_truth_value() -> None:
    with pytest.raises(TypeError, match="may be unknown"):
        bool(yes())


def test_a_question_is_known_by_its_name() -> None:
    @question
    def asked_in_a_test() -> Answer:
        """Whether it is so."""
        return yes()

    assert asked_in_a_test().questions == {"asked_in_a_test"}
    with forced({"asked_in_a_test"}):
        assert (asked_in_a_test() & yes()).is_unknown
    assert asked_in_a_test().is_yes
    with pytest.raises(ValueError, match="two questions are called asked_in_a_test"):
        question(asked_in_a_test.__wrapped__)  # type: ignore[attr-defined]


def draft(is_bug: Answer, is_right: Answer) -> Draft:
    rule = Rule(
        code="XXX999",
        name="x",
        summary="x",
        fix_title="x",
        safety=Safety.SAFE,
        consequence=Consequence.SILENT,
        triggers=(("x",),),
    )
    node = ast.parse("x").body[0]
    return rule.finding(node, fix=[delete(node)], is_bug=[is_bug], is_right=[is_right])


@pytest.mark.parametrize(
    ("is_bug", "is_right", "certainty", "fix"),
    [
        (yes(), yes(), Certainty.CERTAIN, Safety.SAFE),
        (yes(), unknown(HERE), Certainty.CERTAIN, Safety.UNSAFE),
        (unknown(HERE), yes(), Certainty.POSSIBLE, Safety.UNSAFE),
        (unknown(HERE), unknown(THERE), Certainty.POSSIBLE, Safety.UNSAFE),
    ],
)
def test_the_engine_derives_how_careful_a_fix_is(
    is_bug: Answer, is_right: Answer, certainty: Certainty, fix: Safety
) -> None:
    given = draft(is_bug, is_right)
    assert safety.is_bug(given).is_unknown is (certainty is Certainty.POSSIBLE)
    assert safety.safety(given) is fix


def test_no_bug_is_not_told_and_a_wrong_repair_is_not_offered() -> None:
    assert safety.weighed(draft(no(HERE), yes())) is None
    refused = safety.weighed(draft(yes(), no(HERE)))
    assert refused is not None and refused.remedy is None and refused.refused == (HERE,)
