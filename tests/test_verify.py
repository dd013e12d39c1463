"""The machinery of proofs: what is judged how, and that no fixture, however it behaves, can lie, hang or stay."""

from __future__ import annotations

import compileall
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from world import LONG, wait_until

from codemods.verify.bench import Bench
from codemods.verify.observation import Declaration, Observation, Side
from codemods.verify.proof import ProofOutcome, judge, main, prove, sides

MESSAGE = "Attempted unscale_ but _scale is None"
GOOD = Observation(losses=[2.0, 1.0], gradients={"w": 0.5}, moved={"w": 0.1}, weights={"w": 3.0})
LOUD = Declaration(symptom=MESSAGE)
GONE = Declaration(symptom=MESSAGE, bites={"torch": "<2.11"}, witness="torch.clear_autocast_cache")


def silent(symptom: str) -> Declaration:
    return Declaration(symptom=symptom, tolerance=1e-3)


def side(declared: Declaration, seen: Observation = GOOD, **fields: object) -> Side:
    return replace(Side(declared, {"torch": "2.13.0+cpu"}, seen=seen), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (side(LOUD, error=f"AssertionError: {MESSAGE}."), side(LOUD), "proved: before: AssertionError: Attempted"),
        (side(LOUD, warnings=(f"UserWarning: {MESSAGE}",)), side(LOUD), "proved"),
        (side(LOUD, output=f"[rank0] {MESSAGE}\n"), side(LOUD), "proved"),
        (side(LOUD), side(LOUD), "refuted: before does not say"),
        (side(LOUD, error="KeyError: 'x'"), side(LOUD), "refuted: before does not say 'Attempted unscale_ but"),
        (side(LOUD, error=MESSAGE), side(LOUD, error="KeyError: 'x'"), "refuted: after raises KeyError: 'x'"),
        (side(LOUD, error=MESSAGE), side(LOUD, output=MESSAGE), "refuted: after still says"),
        (
            side(LOUD, error=MESSAGE),
            side(LOUD, error="ModuleNotFoundError: No module named 'peft'"),
            "could-not-run: No module named 'peft', which the fixture needs",
        ),
        (side(LOUD, error=MESSAGE), side(LOUD, Observation()), "refuted: after: the proof observed neither"),
        (
            side(LOUD, error=MESSAGE),
            side(LOUD, replace(GOOD, gradients={"w": None, "b": 1.0})),
            "refuted: after: no gradient reaches w",
        ),
        (
            side(LOUD, error=MESSAGE),
            side(LOUD, replace(GOOD, gradients={"w": float("nan")})),
            "refuted: after: gradient of w = nan",
        ),
        (side(LOUD, error=MESSAGE), side(LOUD, replace(GOOD, losses=[float("inf")])), "refuted: after: loss[0] = inf"),
        (
            side(LOUD, error=MESSAGE),
            side(LOUD, reference=Observation(losses=[2.0, 1.5])),
            "refuted: after differs from the reference: loss[1] = 1 instead of 1.5",
        ),
        (side(LOUD, error=MESSAGE), side(LOUD, reference=Observation(losses=[2.0, 1.0])), "proved"),
        (side(LOUD, trouble="no torch"), side(LOUD), "could-not-run: before: no torch"),
        (side(LOUD), side(LOUD, trouble="no torch"), "could-not-run: after: no torch"),
        (side(Declaration()), side(Declaration()), "could-not-run: the proof declares no SYMPTOM"),
        (
            side(silent("missing-gradient"), replace(GOOD, gradients={"w": None})),
            side(silent("missing-gradient")),
            "proved: before: no gradient reaches w",
        ),
        (side(silent("missing-gradient")), side(silent("missing-gradient")), "refuted: before: a gradient reaches"),
        (
            side(silent("missing-gradient"), error="KeyError: 'x'"),
            side(silent("missing-gradient")),
            "refuted: before should be silent but raises KeyError: 'x'",
        ),
        (side(silent("frozen"), replace(GOOD, moved={"w": 0.0})), side(silent("frozen")), "proved"),
        (side(silent("frozen")), side(silent("frozen")), "refuted: before: training moves"),
        (
            side(silent("frozen"), replace(GOOD, moved={"w": 0.0})),
            side(silent("frozen"), replace(GOOD, moved={"w": 0.0})),
            "refuted: after: training does not move w",
        ),
        (
            side(silent("differs"), replace(GOOD, moved={"w": 0.2}), reference=GOOD),
            side(silent("differs"), reference=GOOD),
            "proved: before: differs from the reference: movement of w = 0.2 instead of 0.1",
        ),
        (
            side(silent("differs"), replace(GOOD, losses=[2.0001, 1.0]), reference=GOOD),
            side(silent("differs"), reference=GOOD),
            "refuted: before equals the reference",
        ),
        (side(silent("differs")), side(silent("differs")), 'could-not-run: SYMPTOM = "differs" needs a reference()'),
        (side(GONE), side(GONE, replace(GOOD, witness=2)), "proved: both sides equal, the repair runs 2 times"),
        (side(GONE), side(GONE), "refuted: after does not run the repair"),
        (side(GONE, replace(GOOD, witness=1)), side(GONE, replace(GOOD, witness=1)), "refuted: before already runs"),
        (
            side(GONE, replace(GOOD, losses=[2.0, 1.0000001])),
            side(GONE, replace(GOOD, witness=1)),
            "refuted: before differs from after: loss[1]",
        ),
        (
            side(replace(GONE, tolerance=1e-3), replace(GOOD, losses=[2.0, 1.0000001])),
            side(replace(GONE, tolerance=1e-3), replace(GOOD, witness=1)),
            "proved: both sides equal within 0.001, the repair runs 1 times",
        ),
        (side(GONE, error=MESSAGE), side(GONE, replace(GOOD, witness=1)), "refuted: before raises Attempted unscale_"),
        (
            side(GONE, error=MESSAGE, versions={"torch": "2.10.0+cu128"}),
            side(GONE, versions={"torch": "2.10.0+cu128"}),
            "proved: before: Attempted",
        ),
        (
            side(GONE, versions={"torch": "2.10.0"}),
            side(GONE, replace(GOOD, witness=1), versions={"torch": "2.10.0"}),
            "refuted: before does not say",
        ),
    ],
)
def test_judge(before: Side, after: Side, verdict: str) -> None:
    assert str(judge(before, after)).startswith(verdict)


torch_only = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

PROOF = """\
from codemods.verify.observe import Observation, observe, watch

SYMPTOM = "the symptom"
WITNESS = "os.getcwd"

def run(case):
    return Observation(losses=[float(case.train())])
"""


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(time_limit=LONG) as bench:
        yield bench


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    path = tmp_path / "toy" / "proof.py"
    path.parent.mkdir()
    path.write_text(PROOF)
    return path


class TestSides:
    pytestmark = torch_only

    @pytest.mark.parametrize(
        ("body", "error", "trouble"),
        [
            ("return 1", "", ""),
            ("raise KeyError('x')", "KeyError: 'x'", ""),
            ("import sys; sys.exit(3)", "SystemExit: 3", ""),
            ("return input()", "EOFError", ""),
            ("raise KeyboardInterrupt", "KeyboardInterrupt", ""),
            ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'", ""),
            ("while True: print('x' * 1_000_000)", "OSError: [Errno 27]", ""),
            ("import os; os._exit(0)", "", "the child process failed outside the proof"),
            ("import os; os.kill(os.getpid(), 11)", "", "the child process was ended by signal 11"),
            ("import os; os.kill(os.getppid(), 9)", "", "the server ended"),
            ("import os; os.write(1, b'{}\\n'); return 1", "", ""),
        ],
    )
    @pytest.mark.few(5)
    def test_behaviour(self, body: str, error: str, trouble: str, bench: Bench, proof: Path) -> None:
        side = bench.run(f"def train():\n    {body}\n", proof)
        assert side.error.startswith(error) and bool(side.error) == bool(error), side
        assert trouble in side.trouble and bool(side.trouble) == bool(trouble), side
        assert bench.run("def train(): return 7", proof).seen.losses == [7.0]

    def test_a_side_that_does_not_end(self, proof: Path) -> None:
        with Bench(time_limit=1) as bench:
            assert bench.run("def train():\n    while True: pass\n", proof).trouble == "ran longer than 1 s"
            bench.time_limit = LONG
            assert bench.run("def train(): return 7", proof).seen.losses == [7.0]

    def test_output_and_warnings_are_kept(self, bench: Bench, proof: Path) -> None:
        side = bench.run("import warnings\nwarnings.warn('at import')\ndef train(): print('hello'); return 1", proof)
        assert side.warnings == ("UserWarning: at import",)
        assert side.output == "hello\n"

    def test_witness_counts_the_fixtures_own_calls(self, bench: Bench, proof: Path) -> None:
        assert bench.run("import os\ndef train(): return len(os.getcwd())", proof).seen.witness == 1
        assert bench.run("import os.path\ndef train(): return len(os.path.abspath('x'))", proof).seen.witness == 0

    def test_a_project_is_a_directory_from_which_modules_are_imported(self, bench: Bench, proof: Path) -> None:
        proof.write_text(
            "from codemods.verify.observe import Observation\n"
            "WITNESS = 'os.getcwd'\n"
            "def run(case):\n"
            "    from lib.steps import step\n"
            "    return Observation(losses=[step((case / 'conf' / 'a.yaml').read_text())])\n"
        )
        project = {
            "conf/a.yaml": "7.0\r\n",
            "lib/steps.py": "import os\ndef step(text): os.getcwd(); return float(text)",
        }
        side = bench.run(project, proof)
        assert (side.error, side.seen.losses, side.seen.witness) == ("", [7.0], 1)

    def test_what_proofs_share_is_imported_from_the_folder_of_the_rule(self, bench: Bench, proof: Path) -> None:
        (proof.parents[1] / "shared_by_toys.py").write_text("def answer(): return 7.0\n")
        proof.write_text(
            "from codemods.verify.observe import Observation\n"
            "from shared_by_toys import answer\n"
            "def run(case): return Observation(losses=[answer()])\n"
        )
        assert bench.run("", proof).seen.losses == [7.0]

    def test_a_lone_file_of_another_kind(self, bench: Bench, proof: Path) -> None:
        proof.write_text(
            "from codemods.verify.observe import Observation\n"
            "def run(case): return Observation(losses=[float((case / 'toy.yaml').read_text())])\n"
        )
        assert bench.run({"toy.yaml": "7.0"}, proof).seen.losses == [7.0]

    def test_sides(self, tmp_path: Path) -> None:
        case = tmp_path / "toy"
        case.mkdir()
        proof = case / "proof.py"
        with pytest.raises(FileNotFoundError, match="not 0"):
            sides(proof)
        (case / "before.yaml").write_bytes(b"a: 1\r\n")
        (case / "after.yaml").write_bytes(b"a: 2\r\n")
        assert sides(proof) == ({"toy.yaml": "a: 1\r\n"}, {"toy.yaml": "a: 2\r\n"})
        for path, content in {"before/a.py": "1", "before/b/c.toml": "2", "after/a.py": "3"}.items():
            (case / path).parent.mkdir(parents=True, exist_ok=True)
            (case / path).write_text(content)
        with pytest.raises(FileNotFoundError, match="not 2"):
            sides(proof)
        (case / "before.yaml").unlink()
        both = {"a.py": "1", "b/c.toml": "2"}, {"a.py": "3", "b/c.toml": "2"}
        assert sides(proof) == both
        for folder in ("before", "before/b", "after"):
            assert compileall.compile_dir(case / folder, maxlevels=0, quiet=2)
            (case / folder / "__pycache__").mkdir(exist_ok=True)
            (case / folder / "__pycache__" / "c.cpython-311.pyc").write_bytes(b"\xa7\r\r\n")
        assert sides(proof) == both, "as in an installed package, which pip byte-compiles"

    def test_seeds_are_fixed(self, bench: Bench, proof: Path) -> None:
        text = "import random, torch\ndef train(): return random.random() + torch.rand(()).item()"
        assert bench.run(text, proof).seen == bench.run(text, proof).seen

    def test_nothing_of_the_users_surroundings(
        self, proof: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here = tmp_path / "here"
        here.mkdir()
        for name in ("torch", "typing", "codemods", "json"):
            (here / f"{name}.py").write_text("raise SystemExit('hijacked')")
        monkeypatch.chdir(here)
        monkeypatch.setenv("PYTHONPATH", str(here))
        monkeypatch.setenv("SECRET_TOKEN", "hunter2")
        with Bench() as bench:
            text = "import os, torch, typing, json\ndef train(): return 'SECRET_TOKEN' in os.environ"
            assert bench.run(text, proof).seen.losses == [0.0]

    def test_nothing_is_left_behind(self, proof: Path, tmp_path: Path) -> None:
        text = f"""\
import os, subprocess, time
def train():
    process = subprocess.Popen(["sleep", "600"])
    open({str(tmp_path / "pids")!r}, "w").write(f"{{os.getpid()}} {{process.pid}} {{os.getppid()}} {{os.getcwd()}}")
    open("left.txt", "w").write("behind")
    time.sleep(600)
"""
        with Bench(time_limit=10) as bench:
            assert bench.run(text, proof).trouble == "ran longer than 10 s"
        *pids, directory = (tmp_path / "pids").read_text().split()
        assert not Path(directory).exists()
        wait_until(lambda: not any(running(int(pid)) for pid in pids))

    @pytest.mark.parametrize(
        ("text", "trouble"),
        [
            ("import no_such_module", "proof.py: ModuleNotFoundError: No module named 'no_such_module'"),
            ("SYMPTOM = (", "proof.py: SyntaxError"),
            ("WITNESS = 'torch.no_such'", "proof.py: AttributeError"),
            ("SYMPTOM = 'x'\ndef run(case): return 3", "proof.py: run() gives 3, not an Observation"),
            (PROOF + "def reference(case): raise ValueError('no')", "proof.py: reference: ValueError: no"),
        ],
    )
    @pytest.mark.few(3)
    def test_broken_proof(self, text: str, trouble: str, bench: Bench, proof: Path) -> None:
        proof.write_text(text)
        assert bench.run("def train(): return 1", proof).trouble.startswith(trouble)

    def test_prove(self, bench: Bench, proof: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("codemods.verify.proof.Bench", lambda *_: nullcontext(bench))
        before, after = "def train(): raise ValueError('the symptom')", "def train(): return 1"
        assert prove(before, after, proof).outcome is ProofOutcome.PROVED
        assert prove(after, before, proof).outcome is ProofOutcome.REFUTED

    def test_command(self, proof: Path, capsys: pytest.CaptureFixture[str]) -> None:
        proof.with_name("before.py").write_text("def train(): raise ValueError('the symptom')")
        proof.with_name("after.py").write_text("def train(): return 1")
        assert main([str(proof)]) == 0
        assert capsys.readouterr().out.startswith("PASS ")
        proof.with_name("after.py").write_text("def train(): raise ValueError('another')")
        assert main([str(proof)]) == 1
        assert "ValueError: another\n" in capsys.readouterr().out


def test_no_interpreter(proof: Path) -> None:
    with Bench("/no/such/python") as bench:
        assert bench.run("", proof).trouble.startswith("cannot start /no/such/python: ")


def test_no_torch(proof: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    verdict = prove("", "", proof, python=str(tmp_path / "bare" / "bin" / "python"))
    assert verdict.outcome is ProofOutcome.COULD_NOT_RUN
    assert "No module named 'torch' (`pip install 'ampfix[verify]'`)" in verdict.detail


def test_no_fork(proof: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with Bench() as bench:
        assert bench.run("", proof).trouble == "proofs need a system with fork()"


def running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # Killed, but not yet waited for by whoever inherited it: not running either.
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")
