"""Every fixture of every rule, through the whole engine."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from cases import Case, cases, listing, sources
from expected_failures import FIXTURES, SPELLING
from memory import Memory

from codemods.engine.rounds import Options, plan
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


@pytest.mark.law
@pytest.mark.parametrize("case", [pytest.param(c, id=f"{c.rule.code}-{c.name}-{c.kind}") for c in cases()])
def test_all_rules_together(case: Case) -> None:
    """On every fixture: no rule fails, the order of rules is all one, the result parses, a second run is empty."""
    options = replace(case.engine_options(), rules=load(), unsafe=True)

    def run(files: dict[str, bytes], options: Options) -> dict[str, bytes]:
        found = plan(sources(files), Memory(files), options, fix=True)
        assert found.skips == ()
        return {**files, **{f.path: f.after for f in found.changed}}

    after = run(case.files, options)
    assert run(case.files, replace(options, rules=load()[::-1])) == after
    assert run(after, options) == after
    for path, data in after.items():
        if path.endswith(".py"):
            ast.parse(data)
