"""Every proof, run three ways: before/after is proved, after/after and before/before are refuted.

Each side runs once; the three verdicts are judged from the two observations.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest
from cases import cases
from world import LONG

from codemods.model.edits import Safety
from codemods.sources.files import kind
from codemods.transforms import load
from codemods.verify.bench import Bench
from codemods.verify.evidence import name_of
from codemods.verify.observation import Side
from codemods.verify.proof import ProofOutcome, judge, run, sides

FIXTURES = Path(__file__).parent / "before_after"
PROOFS = sorted(FIXTURES.glob("*/*/proof.py"))

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(time_limit=LONG) as bench:
        yield bench


@pytest.mark.torch
@needs_torch
@pytest.mark.parametrize("proof", PROOFS, ids=name_of)
@pytest.mark.few(70)
def test_proof(proof: Path, bench: Bench) -> None:
    before, after = run(proof, bench)
    ways = {"before/after": (before, after), "after/after": (after, after), "before/before": (before, before)}
    verdicts = {way: judge(*pair) for way, pair in ways.items()}
    expected = {
        "before/after": ProofOutcome.PROVED,
        "after/after": ProofOutcome.REFUTED,
        "before/before": ProofOutcome.REFUTED,
    }
    assert {way: verdict.outcome for way, verdict in verdicts.items()} == expected, report(verdicts, before, after)


def report(verdicts: object, before: Side, after: Side) -> str:
    return f"{verdicts}\n--- before\n{before.output}{before.trace}\n--- after\n{after.output}{after.trace}"


def test_there_are_proofs(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{len(PROOFS)} proofs of {len({proof.parents[1] for proof in PROOFS})} rules, each judged three ways")
    assert PROOFS


def test_every_fix_is_proved() -> None:
    """Each strategy of each rule, in each kind of file in which a fixture shows it, is run by a proof."""
    offered = {(rule.code, name) for rule in load() for name in rule.strategies if name != "report"}
    repairing = {rule.code for rule in load() if rule.safety is not Safety.DISPLAY}
    shown, proved = set(), set()
    for case in cases():
        if case.kind == "before":
            found = [finding for finding in case.run().findings if finding.applied and finding.code == case.rule.code]
            made = {(finding.code, finding.strategy, kind(finding.path) or "python") for finding in found}
            shown |= made
            proved |= made if case.path.with_name("proof.py") in PROOFS else set()
    assert repairing - {code for code, _, _ in shown} == set(), "no fixture shows a fix of these"
    assert offered - {(code, strategy) for code, strategy, _ in shown} == set(), "no fixture shows these"
    assert shown - proved == set(), "no proof runs these"


@pytest.mark.parametrize("proof", PROOFS, ids=name_of)
def test_every_proof_belongs_to_a_repair(proof: Path) -> None:
    before, after = sides(proof)
    assert before != after
    assert proof.parents[1].name in {rule.name for rule in load()}
