"""Code of another file that acts makes what a rule follows uncertain: no fix of such a rule stays safe beside it.

A transformation of every program: one more file that imports it, and one that it imports. What these do is a step, or
nothing.
"""

from __future__ import annotations

import pytest
from cases import Case, few, hold

from codemods.model.computed import Computed
from codemods.model.edits import Certainty, Consequence, Safety
from codemods.rules.rule import Rule
from codemods.transforms import load

FOLLOWING = [rule for rule in load() if rule.follows and rule.safety > Safety.DISPLAY]
OTHERS = {
    "used": ("other.py", b"import case\n\n\ndef use(each):\n    each.step()\n    return case\n", b""),
    "uses": ("other.py", b"def nothing(each):\n    each.step()\n", b"\nfrom other import nothing\n"),
}
IDLE = {
    "used": ("other.py", b"import case\n\n\ndef use():\n    return case\n", b""),
    "uses": ("other.py", b"def nothing(each):\n    print(each)\n", b"\nfrom other import nothing\n"),
}


@pytest.mark.parametrize("way", sorted(OTHERS))
@pytest.mark.parametrize("rule", FOLLOWING, ids=lambda rule: rule.code)
def test_another_file_is_unknown(rule: Rule, way: str) -> None:
    name, text, added = OTHERS[way]
    those = {case.name: case for case in few() if case.rule is rule}
    assert those

    def law(case: Case) -> None:
        alone = [each for each in case.run(fix=False).findings if each.code == rule.code]
        (path, data) = next(iter(case.files.items()))
        beside = case.run({path: data + added, name: text}, fix=False).findings
        found = [each for each in beside if each.code == rule.code]
        assert [each.fingerprint for each in found] == [each.fingerprint for each in alone]
        assert found
        for each in found:
            assert each.fix is None or each.safety is not Safety.SAFE, each.message
            if each.consequence >= Consequence.RAISES:
                assert each.certainty is Certainty.POSSIBLE, each.message
            assert any(place.path in (name, path) for place in each.evidence), each.message

    hold(law, those)


@pytest.mark.parametrize("way", sorted(IDLE))
@pytest.mark.parametrize("rule", FOLLOWING, ids=lambda rule: rule.code)
def test_another_file_that_does_nothing_counts_for_values_only(rule: Rule, way: str) -> None:
    name, text, added = IDLE[way]

    def law(case: Case) -> None:
        (path, data) = next(iter(case.files.items()))
        alone = [each for each in case.run(fix=False).findings if each.code == rule.code]
        beside = case.run({path: data + added, name: text}, fix=False).findings
        found = [each for each in beside if each.code == rule.code]
        told = [[(each.certainty, each.safety, each.fingerprint) for each in those] for those in (alone, found)]
        if rule.computed is Computed.ALL:
            assert not any(each.fix is not None and each.safety is Safety.SAFE for each in found)
        else:
            assert told[0] == told[1]

    hold(law, {case.name: case for case in few() if case.rule is rule})
