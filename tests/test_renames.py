"""A name ranks a report; it never decides a fix: every fixture says the same when its local variables are renamed."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from cases import Case, cases, hold, sources
from memory import Memory
from renames import renamed, rewritten

from codemods.engine.rounds import plan
from codemods.model.edits import Certainty, Finding
from codemods.model.plan import Plan

SPOKEN_BY_NAME = frozenset(
    {
        "rewrapped-loss/numbers",
        "forced-requires-grad/returned",
        "clip-before-unscale/half_known",
        "unscaled-backward/half_known",
        "step-scheduler-per-epoch/by_its_own_function",
    }
)
"""Fixtures with reports, none of them certain, that only a name like `loss` or `scaler` brings up."""
MOST = 12


def test_few_reports_depend_on_a_name() -> None:
    assert len(SPOKEN_BY_NAME) <= MOST


def test_a_name_never_decides_a_fix() -> None:
    found = {f"{case.rule.code}-{case.name}-{case.kind}": case for case in cases() if _texts(case)}
    assert len(found) > 300
    hold(_agrees, found)


def _agrees(case: Case) -> None:
    texts = _texts(case)
    other, names = renamed(texts)
    before, after = _plan(case, texts), _plan(case, other)
    by_name = f"{case.rule.name}/{case.name}" in SPOKEN_BY_NAME
    one, two = ([each for each in found.findings if not (by_name and _is_a_guess(each))] for found in (before, after))
    assert sorted(map(_told, one)) == sorted(map(_told, two)), f"{one}\n{two}"
    for path, text in _changed(before, texts).items():
        expected, given = rewritten(text, names), _changed(after, other)[path]
        assert ast.dump(ast.parse(expected)) == ast.dump(ast.parse(given)), f"{expected}\n{given}"


def _texts(case: Case) -> dict[str, str]:
    """The Python files of a fixture; none where positions in the syntax tree would be others."""
    try:
        found = {path: data.decode() for path, data in case.files.items() if path.endswith(".py")}
    except UnicodeDecodeError:
        return {}
    strange = any(mark in text for text in found.values() for mark in ("\r", "\f", "\N{ZERO WIDTH NO-BREAK SPACE}"))
    return {} if strange else found


def _plan(case: Case, texts: Mapping[str, str]) -> Plan:
    files = {**case.files, **{path: text.encode() for path, text in texts.items()}}
    return plan(sources(files), Memory(files), replace(case.engine_options(), unsafe=True), fix=True)


def _told(found: Finding) -> tuple[str, ...]:
    place = (found.code, f"{found.path}:{found.reported.line:06}")
    judged = (found.safety, found.certainty, found.consequence, found.fix is not None)
    return (*place, *map(str, judged))


def _is_a_guess(found: Finding) -> bool:
    return found.fix is None and found.certainty is Certainty.POSSIBLE


def _changed(found: Plan, texts: Mapping[str, str]) -> dict[str, str]:
    changed = {each.path: each.after.decode() for each in found.changed if each.path.endswith(".py")}
    return {**texts, **changed}
