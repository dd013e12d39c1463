"""A fact that is hidden, with nothing else changed, never makes a fix safe that was not; see `indirections.py`.

A sample of the twins of every rule's programs, other ones for each rule and transformation. All of them, and the
comparison with the table, are a command: `python -m tests.indirections --check`.
"""

from __future__ import annotations

import json
import random
from functools import cache

import pytest
from cases import Case
from indirections import TABLE, TRANSFORMATIONS, Table, findings, judged, pairs, programs, silence, told, trials

from codemods.transforms import load

PAIRS = 200
MOST_SILENCE = 0.30


@cache
def _programs() -> dict[str, list[tuple[Case, dict[str, str]]]]:
    found: dict[str, list[tuple[Case, dict[str, str]]]] = {}
    for case, files in programs():
        found.setdefault(case.rule.code, []).append((case, files))
    return found


def _table() -> Table:
    table: Table = json.loads(TABLE.read_text())
    return table


def test_there_are_many_ways_to_hide_a_fact() -> None:
    assert len(TRANSFORMATIONS) >= 24


def test_the_table_is_of_these_rules_and_transformations() -> None:
    assert {*_table()} == {*_programs()}
    assert all({*row} == {*TRANSFORMATIONS} for row in _table().values())


def test_the_rules_do_not_fall_silent() -> None:
    assert silence(_table()) <= MOST_SILENCE


@pytest.mark.parametrize("code", sorted(rule.code for rule in load()))
def test_a_hidden_fact_makes_nothing_safe(code: str) -> None:
    chance = random.Random(code)
    broken: list[str] = []
    for name in TRANSFORMATIONS:
        those = _programs().get(code, [])
        for case, files in chance.sample(those, len(those)):
            if twins := [*trials(case, files, [name])]:
                one = chance.choice(twins)
                said = judged(case, findings(case, files), files, one.twin)
                broken += [f"{told(one)}: {said.wrong}"] if said.wrong else []
                break
    assert not broken, "\n".join(broken)


def test_two_hidden_facts_make_nothing_safe() -> None:
    broken = []
    for trial in pairs(PAIRS):
        said = judged(trial.case, findings(trial.case, trial.files), trial.files, trial.twin)
        broken += [f"{told(trial)}: {said.wrong}"] if said.wrong else []
    assert not broken, "\n".join(broken)


def test_what_is_hidden_is_found_again() -> None:
    """Taking a transformation back gives the program as it was: else the law compares other programs."""
    import ast

    wrong: list[str] = []
    chance = random.Random(0)
    for name in TRANSFORMATIONS:
        for code, those in sorted(_programs().items()):
            case, files = chance.choice(those)
            for trial in [*trials(case, files, [name])][:1]:
                twin = trial.twin
                tree = twin.undo(ast.parse(twin.files[twin.path]), twin.files.get("hidden_helper.py", ""))
                if ast.unparse(tree) != ast.unparse(ast.parse(files[twin.path])):
                    wrong.append(f"{code} {told(trial)}")
    assert not wrong, "\n".join(wrong)
