"""`fixer explain CODE --prove`: one proof, run live; and what the pages say of all that were."""

from __future__ import annotations

import compileall
import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from world import CHECKOUT, fixer, process

from codemods.transforms import load
from codemods.verify.evidence import SHOWN, read, sentence
from codemods.verify.observation import Declaration, Observation, Side
from codemods.verify.places import EXAMPLE, FIXTURES, RECORD
from codemods.verify.proof import asked, judge_here
from fixer.errors import Refusal
from fixer.verify.live_proof import proof_of

RULES = {rule.code: rule for rule in load()}
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


def test_the_page_says_what_was_run(tmp_path: Path) -> None:
    said = sentence(read(RECORD), "AMP001")
    assert said.startswith("Both sides were run: torch ")
    assert said in fixer("explain", "AMP001", at=tmp_path, real=True).text


def test_the_page_shows_the_example(tmp_path: Path) -> None:
    """Of a project every changed file; of a repair that must be asked for, how."""
    text = fixer("explain", "VER002", at=tmp_path, real=True).text
    assert "\n## Example (`--strategy VER002=torch-2.11`)\n" in text
    assert "\n+++ b/pyproject.toml\n" in text and "\n+++ b/requirements.txt\n" in text
    assert "\n+++ b/example.py\n" in fixer("explain", "PL001", at=tmp_path, real=True).text


@needs_torch
@pytest.mark.torch
def test_a_proof_is_run(tmp_path: Path) -> None:
    answer = process("explain", "SCL003", "--prove", at=tmp_path)
    assert answer.code == 0, answer.err
    lines = answer.text.splitlines()
    assert lines[0].startswith("SCL003 unscaled-backward/example")
    assert any(line.startswith("-") and "backward()" in line for line in lines)
    assert any(line.startswith("+") and ".scale(" in line for line in lines)
    assert any(line.startswith("symptom ") for line in lines)
    assert any(line.startswith("proved: ") for line in lines)
    assert any(line.startswith("Ran under torch 2.") for line in lines)
    assert sentence(read(RECORD), "SCL003") in " ".join(" ".join(lines).split())
    assert "/proof.py is run in child processes, with the torch of " in answer.err
    assert list(tmp_path.iterdir()) == []


def test_without_torch_it_says_how_to_get_it(tmp_path: Path, bare_python: str) -> None:
    answer = process("explain", "PL001", "--prove", "--python", bare_python, at=tmp_path)
    assert (answer.code, answer.out) == (2, b"")
    assert "No module named 'torch' (`pip install 'ampfix[verify]'`); or name an interpreter" in answer.err
    assert "Traceback" not in answer.err


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    answer = process("explain", "PL001", "--prove", "--python", "nowhere/python", at=tmp_path)
    assert (answer.code, answer.out) == (2, b"")
    assert "cannot start nowhere/python: " in answer.err


def test_a_rule_without_proof(tmp_path: Path) -> None:
    answer = fixer("explain", "OLD001", "--prove", at=tmp_path)
    assert (answer.code, answer.out) == (2, b"")
    assert answer.err == "fixer: OLD001 has no proof to run\n"


def test_no_fixtures_at_all(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"PL001 has no proof to run; it belongs in .*/nowhere"):
        proof_of(RULES["PL001"], tmp_path / "nowhere")


def test_every_rule_that_is_proved_has_an_example() -> None:
    """An installed package carries only the example: the bug shows in it, and the repair is the first one offered."""
    evidence = read(RECORD)
    for name in sorted({proof.parents[1].name for proof in FIXTURES.glob("*/*/proof.py")}):
        results = evidence.proofs[f"{name}/{EXAMPLE}"].results
        assert SHOWN in {result.outcome for result in results.values()}, name
        others = [proof for proof in (FIXTURES / name).glob("*/proof.py") if "strategy" not in asked(proof)]
        assert "strategy" not in asked(FIXTURES / name / EXAMPLE / "proof.py") or not others, name


def side(declared: Declaration, seen: Observation | None = None, **more: Any) -> Side:
    return Side(declared, {"torch": "2.13.0"}, seen=seen or Observation(), **more)


GOOD, CUT = Observation(losses=[1.0], gradients={"w": 1.0}), Observation(losses=[1.0], gradients={"w": None})
SILENT, LOUD = Declaration(symptom="missing-gradient"), Declaration(symptom="no grad_fn")
OLD = Declaration(symptom="missing-gradient", bites={"torch": "<2.11"})


@pytest.mark.parametrize(
    ("before", "after", "outcome", "detail"),
    [
        (side(SILENT, CUT), side(SILENT, GOOD), "proved", "before: no gradient reaches w"),
        (side(SILENT, CUT), side(SILENT, CUT), "refuted", "after: no gradient reaches w"),
        (
            side(SILENT, GOOD),
            side(SILENT, GOOD),
            "not-reproduced",
            "before: a gradient reaches every watched parameter",
        ),
        (side(SILENT, GOOD), side(SILENT, CUT), "refuted", "after: no gradient reaches w"),
        (side(OLD, GOOD), side(OLD, replace(GOOD, witness=1)), "not-reproduced", "only torch<2.11 has the bug"),
        (side(LOUD, error="RuntimeError: no grad_fn"), side(LOUD, GOOD), "proved", "no grad_fn"),
        (side(LOUD, GOOD), side(LOUD, GOOD), "not-reproduced", "before does not say 'no grad_fn'"),
        (
            side(LOUD, error="RuntimeError: no grad_fn"),
            side(LOUD, error="TypeError: x"),
            "refuted",
            "after raises Type",
        ),
        (
            side(LOUD, error="TypeError: x"),
            side(LOUD, GOOD),
            "could-not-run",
            "before crashes, which is not the symptom",
        ),
        (side(SILENT, error="TypeError: x"), side(SILENT, error="TypeError: x"), "could-not-run", "before crashes"),
        (side(SILENT, trouble="was ended by signal 11"), side(SILENT, GOOD), "could-not-run", "ended by signal 11"),
    ],
)
def test_the_words_match_what_happened(before: Side, after: Side, outcome: str, detail: str) -> None:
    verdict = judge_here(before, after)
    assert (verdict.outcome.value, detail in verdict.detail) == (outcome, True), verdict


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the package as pip leaves it: the example of each rule inside of it, everything compiled."""
    place = tmp_path_factory.mktemp("installed")
    sources = shutil.ignore_patterns("__pycache__")
    for package in ("codemods", "fixer"):
        shutil.copytree(CHECKOUT / package, place / package, ignore=sources)
    examples = place / "codemods" / "verify" / "before_after"
    for proof in FIXTURES.glob(f"*/{EXAMPLE}/proof.py"):
        shutil.copytree(proof.parent, examples / proof.parents[1].name / EXAMPLE, ignore=sources)
        for shared in proof.parents[1].glob("*.py"):
            shutil.copy(shared, examples / proof.parents[1].name)
    shutil.copy(RECORD, place / "codemods" / "verify")
    compileall.compile_dir(place, quiet=2)
    assert list(examples.glob(f"*/{EXAMPLE}/before/__pycache__/*.pyc"))
    return place


def test_an_installed_package_reads_every_example(installed: Path, tmp_path: Path) -> None:
    program = """if True:
        import codemods
        from codemods.transforms import load
        from codemods.verify.places import FIXTURES
        from codemods.verify.proof import sides
        from fixer.report.catalogue import page
        print(codemods.__path__[0])
        for rule in load():
            proof = FIXTURES / rule.name / "example" / "proof.py"
            print(rule.code, str(sides(proof)) if proof.is_file() else None, page(rule))
    """
    answers = [
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(place)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.partition("\n")
        for place in (installed, CHECKOUT)
    ]
    assert [first for first, _, _ in answers] == [f"{installed}/codemods", f"{CHECKOUT}/codemods"]
    assert answers[0][2] == answers[1][2] and answers[0][2].count("--- a/") > len(RULES) / 2


@needs_torch
@pytest.mark.torch
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("PL001", "proved: the symptom shows before"),
        ("AMP001", "not-reproduced: only torch<2.11 has the bug, and both"),
    ],
)
@pytest.mark.few(1)
def test_a_proof_is_run_from_an_installed_package(code: str, said: str, installed: Path, tmp_path: Path) -> None:
    answer = process("explain", code, "--prove", at=tmp_path, environment={"PYTHONPATH": str(installed)})
    assert answer.code == 0, answer.err
    assert said in answer.text
    assert f"note: {installed}/codemods/verify/before_after/" in answer.err


def test_a_refuted_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repair that does not repair is shown as such."""
    from io import StringIO

    from rich.console import Console

    from fixer.report.live_proof import show
    from fixer.verify.live_proof import LiveProof

    seen = Observation(losses=[1.0] * 9, gradients={"w": None}, moved={"w": 0.0}, numbers={"norm": 2.0})
    both = side(SILENT, seen, reference=seen)
    text = StringIO()
    proof = LiveProof("raw-backward/x", "A title.", "x.py", (b"a\n", b"b\n"), both, both, judge_here(both, both))
    show(Console(file=text, width=120), "PL001", proof, "")
    shown = [" ".join(line.split()) for line in text.getvalue().splitlines()]
    assert "-a" in shown and "+b" in shown
    assert "gradients reach 0 of 1 parameters reach 0 of 1 parameters" in shown
    assert "losses " + " ".join(["1 → 1 → 1 → 1 → 1 → … → 1"] * 2) in shown
    assert "refuted: after: no gradient reaches w" in shown


def test_fixtures_of_the_checkout_are_used_here() -> None:
    assert Path(__file__).parent / "before_after" == FIXTURES
