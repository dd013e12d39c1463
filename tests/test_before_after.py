"""Every fixture of every rule, through the whole engine."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import get_args
from unittest import mock

import pytest
from cases import VERBS, Case, cases, few, hold, listing, sources
from expected_failures import FIXTURES, SPELLING
from memory import Memory

from codemods.engine.rounds import Options, plan
from codemods.syntax import rewriting, verbs
from codemods.transforms import load

MOST_EXPECTED_FAILURES = 40


def _marked(case: Case) -> object:
    reason = FIXTURES.get(f"{case.rule.name}/{case.name}")
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(case, id=f"{case.rule.code}-{case.name}-{case.kind}", marks=marks)


def test_few_are_expected_to_fail() -> None:
    assert len(FIXTURES) + len(SPELLING) <= MOST_EXPECTED_FAILURES
    known = {f"{case.rule.name}/{case.name}" for case in cases(all=True)}
    assert {*FIXTURES, *SPELLING} <= known


@pytest.mark.parametrize("case", [_marked(case) for case in cases(all=True)])
def test_fixture(case: Case) -> None:
    found = case.run()
    assert found.skips == ()
    after = {**case.files, **{f.path: f.after for f in found.changed}}
    if case.kind == "before":
        for path, expected in case.expected.items():
            assert after[path].decode("latin-1") == expected.decode("latin-1"), path
        again = case.run(after)
        assert {f.path: f.after for f in again.changed} == {}, "a second run changes something"
        assert any(f.code == case.rule.code and f.applied for f in found.findings), "the rule itself did nothing"
        for path, data in after.items():
            if path.endswith(".py"):
                ast.parse(data)
        return
    assert after == case.files
    if case.kind == "same":
        assert [f"{f.reported.line}: {f.message}" for f in found.findings if f.code == case.rule.code] == []
    else:
        assert listing(found, paths=case.path.is_dir()) == case.report


def test_the_few_are_written_by_every_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked of a few fixtures is asked of everything that a fix can do; no rule renames anything yet."""
    spy = mock.Mock(side_effect=rewriting.replacements)
    monkeypatch.setattr(rewriting, "replacements", spy)
    for case in few():
        case.run()
    assert {type(call.args[2]) for call in spy.call_args_list} == {*get_args(verbs.Verb)} - {verbs.Rename}
    assert {(code, name) for code, names in VERBS.items() for name in names} <= {(c.rule.code, c.name) for c in few()}


@pytest.mark.law
@pytest.mark.parametrize("code", [rule.code for rule in load()])
def test_all_rules_together(code: str) -> None:
    """On every fixture: no rule fails, the order of rules is all one, the result parses, a second run is empty."""

    def run(files: dict[str, bytes], options: Options) -> dict[str, bytes]:
        found = plan(sources(files), Memory(files), options, fix=True)
        assert found.skips == ()
        return {**files, **{f.path: f.after for f in found.changed}}

    def law(case: Case) -> None:
        options = replace(case.engine_options(), rules=load(), unsafe=True)
        after = run(case.files, options)
        assert run(case.files, replace(options, rules=load()[::-1])) == after
        assert run(after, options) == after
        for path, data in after.items():
            if path.endswith(".py"):
                ast.parse(data)

    hold(law, {f"{case.name}-{case.kind}": case for case in cases() if case.rule.code == code})
