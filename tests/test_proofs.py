"""Every proof, run three ways: before/after is proved, after/after and before/before are refuted.

Each side runs once; the three verdicts are judged from the two observations.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from codemods.edits import Safety
from codemods.rule import Rule
from codemods.transforms import load
from codemods.verify.bench import Bench
from codemods.verify.observation import Side
from codemods.verify.proof import Outcome, judge, run, sides

FIXTURES = Path(__file__).parent / "before_after"
PROOFS = sorted(FIXTURES.glob("*/*.proof.py"))

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


def name(proof: Path) -> str:
    return f"{proof.parent.name}/{proof.name.partition('.')[0]}"


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench() as bench:
        yield bench


@pytest.mark.torch
@needs_torch
@pytest.mark.parametrize("proof", PROOFS, ids=name)
def test_proof(proof: Path, bench: Bench) -> None:
    before, after = run(proof, bench)
    ways = {"before/after": (before, after), "after/after": (after, after), "before/before": (before, before)}
    verdicts = {way: judge(*pair) for way, pair in ways.items()}
    expected = {"before/after": Outcome.PROVED, "after/after": Outcome.REFUTED, "before/before": Outcome.REFUTED}
    assert {way: verdict.outcome for way, verdict in verdicts.items()} == expected, report(verdicts, before, after)


def report(verdicts: object, before: Side, after: Side) -> str:
    return f"{verdicts}\n--- before\n{before.output}{before.trace}\n--- after\n{after.output}{after.trace}"


def test_there_are_proofs(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{len(PROOFS)} proofs of {len({proof.parent for proof in PROOFS})} rules, each judged three ways")
    assert PROOFS


@pytest.mark.parametrize("rule", [rule for rule in load() if rule.safety is Safety.SAFE], ids=lambda rule: rule.code)
def test_every_safe_fix_is_proved(rule: Rule) -> None:
    """A fix that was not run is not safe."""
    assert list((FIXTURES / rule.name).glob("*.proof.py")), f"{rule.code} is safe, but nothing proves it"


@pytest.mark.parametrize("proof", PROOFS, ids=name)
def test_every_proof_belongs_to_a_repair(proof: Path) -> None:
    before, after = sides(proof)
    assert before != after
    assert proof.parent.name in {rule.name for rule in load()}
