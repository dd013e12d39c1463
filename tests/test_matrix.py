"""Proofs under several versions of torch: the record, its pages, and the environments. Nothing is installed here."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.transforms import load
from codemods.verify.evidence import (
    COULD_NOT_RUN,
    GONE,
    NOT_OFFERED,
    OUTCOMES,
    REFUTED,
    SHOWN,
    ProofRecord,
    Proved,
    Result,
    name_of,
    read,
    sentence,
)
from codemods.verify.matrix import environments, program
from codemods.verify.matrix.environments import Environment, Unavailable
from codemods.verify.matrix.offer import is_offered
from codemods.verify.matrix.pages import SAMPLES, page, write
from codemods.verify.matrix.record import digest, dump, merge, result, stale
from codemods.verify.observation import Declaration, Observation, Side
from codemods.verify.places import DOCS, FIXTURES, RECORD
from codemods.verify.proof import asked

PROOFS = sorted(FIXTURES.glob("*/*/proof.py"))
EVIDENCE = read(RECORD)
AGAIN = "run `python -m codemods.verify.matrix` and commit docs/"


# The record of this repository


def test_the_record_knows_every_proof_as_it_is() -> None:
    assert stale(EVIDENCE, PROOFS) == [], AGAIN


def test_every_proof_in_the_record_held() -> None:
    failed = {
        (name, version): found.why
        for name, proof in EVIDENCE.proofs.items()
        for version, found in proof.results.items()
        if found.outcome in (REFUTED, COULD_NOT_RUN)
    }
    assert failed == {}


def test_the_page_is_made_from_the_record() -> None:
    assert (DOCS / "evidence.md").read_text(encoding="utf-8") == page(EVIDENCE), AGAIN


def test_what_is_gone_in_some_versions_was_shown_in_another() -> None:
    """An equality proof counts only if the bug was seen to bite somewhere."""
    for name, proof in EVIDENCE.proofs.items():
        assert SHOWN in {found.outcome for found in proof.results.values()}, f"{name}: the bug was never seen; {AGAIN}"


def test_another_repair_is_offered_where_the_record_says_so() -> None:
    by_name = {name_of(proof): proof for proof in PROOFS}
    told = [
        (by_name[name], version)
        for name, proof in EVIDENCE.proofs.items()
        for version, found in proof.results.items()
        if found.outcome == NOT_OFFERED
    ]
    for proof, version in told:
        assert not is_offered(proof, EVIDENCE.environments[version]), proof


def test_a_repair_is_offered_for_the_versions_that_it_is_for() -> None:
    proof = FIXTURES / "encoder-fastpath-in-autocast" / "no_nested" / "proof.py"
    assert asked(proof)["strategy"] == "no-nested"
    assert is_offered(proof, {"torch": "2.13.0+cpu"})
    assert not is_offered(proof, {"torch": "2.4.1"})


def test_every_sample_ran_in_every_version() -> None:
    for cases in SAMPLES.values():
        ran = [EVIDENCE.proofs[case].results for case in cases]
        for version in EVIDENCE.versions:
            assert {results[version].outcome for results in ran if version in results} & {SHOWN, GONE}


# The record as such

RESULT = Result(SHOWN, "RuntimeError: no", "4 losses")
words = st.text(st.characters(codec="utf-8"), max_size=20)
results = st.builds(Result, st.sampled_from(OUTCOMES), words, words, words)
versions = st.sampled_from(["2.4.1", "2.8.0", "2.10.0", "2.13.0"])
records = st.builds(
    ProofRecord,
    st.dictionaries(versions, st.dictionaries(st.sampled_from(["torch", "python", "peft"]), words)),
    st.dictionaries(words, st.builds(Proved, words, words, words, st.dictionaries(versions, results))),
)


def proved(fixture: str = "f", **results: Result) -> Proved:
    return Proved("PL001", "", fixture, {v.replace("_", ".")[1:]: r for v, r in results.items()})


@given(records)
def test_a_record_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, record: ProofRecord) -> None:
    path = tmp_path_factory.mktemp("record") / "evidence.json"
    path.write_text(dump(record), encoding="utf-8")
    assert read(path) == record
    assert dump(read(path)) == dump(record)
    assert page(read(path)) == page(record)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"environments": {}, "proofs": {"a": {"results": 1}}}'])
def test_what_is_no_record_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "evidence.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="is no record of evidence"):
        read(path)


@given(records)
def test_nothing_new_changes_nothing(record: ProofRecord) -> None:
    there = {v: found for v, found in record.environments.items() if "trouble" not in found}
    merged = merge(record, ProofRecord(), record.proofs)
    assert (merged.environments, set(merged.proofs)) == (there, set(record.proofs))
    for name, proof in merged.proofs.items():
        assert dict(proof.results) == {v: r for v, r in record.proofs[name].results.items() if v in there}


ENV = {"python": "3.11.7", "torch": "2.4.1", "peft": "0.13.2"}
OLD = ProofRecord(
    {"2.4.1": ENV, "2.13.0": {"torch": "2.13.0"}},
    {"a/x": proved(v2_4_1=RESULT, v2_13_0=RESULT), "a/y": proved(v2_4_1=RESULT)},
)
OTHER = Result(GONE, "4 losses", "4 losses")


@pytest.mark.parametrize(
    ("new", "present", "expected"),
    [
        pytest.param(
            ProofRecord({"2.4.1": {**ENV, "torch": "2.4.1+cpu", "python": "3.12.0"}}, {"a/x": proved(v2_4_1=OTHER)}),
            ["a/x", "a/y"],
            {"a/x": {"2.4.1": OTHER, "2.13.0": RESULT}, "a/y": {"2.4.1": RESULT}},
            id="the same releases: what was not run again is kept",
        ),
        pytest.param(
            ProofRecord({"2.4.1": ENV}, {"a/x": proved("changed", v2_4_1=OTHER)}),
            ["a/x", "a/y"],
            {"a/x": {"2.4.1": OTHER}, "a/y": {"2.4.1": RESULT}},
            id="another fixture: nothing of the old one",
        ),
        pytest.param(
            ProofRecord({"2.4.1": {**ENV, "peft": "0.14.0"}}, {"a/x": proved(v2_4_1=OTHER)}),
            ["a/x", "a/y"],
            {"a/x": {"2.4.1": OTHER, "2.13.0": RESULT}, "a/y": {}},
            id="another environment: nothing of the old one",
        ),
        pytest.param(
            ProofRecord({"2.4.1": {"trouble": "no network"}}, {"a/x": proved()}),
            ["a/x"],
            {"a/x": {"2.4.1": RESULT, "2.13.0": RESULT}},
            id="no environment this time: the old results; a proof that is gone: nothing",
        ),
    ],
)
def test_merging(new: ProofRecord, present: list[str], expected: Mapping[str, Mapping[str, Result]]) -> None:
    merged = merge(OLD, new, present)
    assert {name: proof.results for name, proof in merged.proofs.items()} == expected
    assert "trouble" not in merged.environments["2.4.1"]


def test_a_changed_fixture_is_stale(tmp_path: Path) -> None:
    folder = tmp_path / "raw-backward" / "x"
    folder.mkdir(parents=True)
    for name in ("before.py", "after.py", "proof.py"):
        (folder / name).write_text(f"# {name}\n")
    proof = folder / "proof.py"
    record = ProofRecord({}, {"raw-backward/x": proved(digest(proof)), "raw-backward/gone": proved()})
    assert stale(record, [proof]) == ["raw-backward/gone"]
    (folder.parent / "stand_in.py").write_text("")
    assert stale(record, [proof]) == ["raw-backward/gone", "raw-backward/x"]
    (folder.parent / "stand_in.py").unlink()
    for name in ("before.py", "after.py", "proof.py"):
        was = (folder / name).read_text()
        (folder / name).write_text(was + "# changed\n")
        assert stale(record, [proof]) == ["raw-backward/gone", "raw-backward/x"], name
        (folder / name).write_text(was)


LOUD = Declaration(symptom="_scale is None", bites={"torch": "<2.11"}, witness="torch.x")
FINE = Observation(losses=[2.0], gradients={"w": 1.0})
BAD = Side(LOUD, {"torch": "2.4.1"}, error="AssertionError: _scale is None. It may be")
GOOD = Side(LOUD, {"torch": "2.4.1"}, seen=FINE)
NEW = {"torch": "2.13.0"}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            BAD,
            GOOD,
            Result(SHOWN, "AssertionError: _scale is None. It may be", "1 loss, 1 of 1 parameters got a gradient"),
        ),
        (
            replace(GOOD, versions=NEW),
            replace(GOOD, versions=NEW, seen=replace(FINE, witness=1)),
            Result(GONE, *["1 loss, 1 of 1 parameters got a gradient"] * 2),
        ),
        (
            BAD,
            BAD,
            Result(
                REFUTED,
                "AssertionError: _scale is None. It may be",
                "raises AssertionError: _scale is None. It may be",
                "after raises AssertionError: _scale is None. It may be",
            ),
        ),
        (Side(trouble="no"), GOOD, Result(COULD_NOT_RUN, why="before: no")),
    ],
)
def test_results(before: Side, after: Side, expected: Result) -> None:
    assert result(before, after) == expected
    if expected.outcome == REFUTED:
        assert result(before, after, offered=False).outcome == NOT_OFFERED


def test_messages_are_the_same_on_every_machine() -> None:
    error = "KeyError: _scale is None in /home/a/lib/python3.11/site-packages/b/__init__.py at 0x7f8e2362b9f0, /tmp/x"
    found = result(replace(BAD, error=error), GOOD)
    assert found.before == "KeyError: _scale is None in b/__init__.py at 0x…, /tmp/x"


def test_a_sentence_for_each_rule() -> None:
    gone = Result(GONE)
    record = ProofRecord(
        {}, {"a/x": proved(v2_4_1=RESULT, v2_10_0=RESULT, v2_13_0=gone), "a/y": proved(v2_4_1=RESULT, v2_10_0=gone)}
    )
    assert sentence(record, "PL002") == ""
    assert sentence(record, "PL001") == (
        "Both sides were run: torch 2.4.1: the bug shows and the repair removes it in 2 of 2 cases; torch 2.10.0: the "
        "bug shows and the repair removes it in 1, the bug is gone and both sides train alike in 1 of 2 cases; torch "
        "2.13.0: the bug is gone and both sides train alike in 1 of 1 case."
    )


def test_what_is_written(tmp_path: Path) -> None:
    long = Result(REFUTED, "a | b\n<c> *d*", "x" * 500, "why")
    record = ProofRecord({"2.4.1": ENV, "9.9": {"trouble": "pip: none"}}, {"raw-backward/x": proved(v2_4_1=long)})
    write(record, tmp_path / "docs")
    assert read(tmp_path / "docs" / "evidence.json") == record
    text = (tmp_path / "docs" / "evidence.md").read_text()
    assert "| x | 2.4.1 | refuted | a \\| b &lt;c> \\*d\\* | " + "x" * 400 + "… |" in text
    assert "\ntorch 9.9 could not be installed: pip: none\n" in text


# Environments

DRY = "--dry-run"


@pytest.mark.parametrize(
    ("torch", "lightning"),
    [("2.4.0", "2.4.0"), ("2.4.1", "2.4.0"), ("2.9.1", "2.5.2"), ("2.10.0", "2.6.1"), ("2.15.0", "2.6.6")],
)
def test_companions_are_those_of_the_time(tmp_path: Path, torch: str, lightning: str) -> None:
    env = environments.environment(torch, tmp_path)
    assert {f"torch=={torch}", f"lightning=={lightning}", f"pytorch-lightning=={lightning}"} < {*env.requirements}
    assert env.place.parent == tmp_path


def test_the_newest_companions_are_those_of_the_checks() -> None:
    constraints = (DOCS.parent / "constraints.txt").read_text().splitlines()
    pinned = {f"{name.partition('[')[0]}=={version}" for name, version in environments.PINS["2.13"].items()}
    assert pinned < {*constraints}


@pytest.mark.parametrize(
    ("torch", "why"),
    [("2.x", "'2.x' is not a version; write one such as 2.10.0"), ("2.3.1", "no companions are known for torch 2.3.1")],
)
def test_versions_without_environment(tmp_path: Path, torch: str, why: str) -> None:
    with pytest.raises(Unavailable, match=why):
        environments.environment(torch, tmp_path)


class Pip:
    """Stands in for the processes that `environments` starts; notes them, and answers as pip would."""

    def __init__(self, tmp_path: Path, fail: str = "") -> None:
        self.calls: list[list[str]] = []
        self.fail = fail
        self.wheel = tmp_path / "torch.whl"
        self.wheel.write_bytes(b"x" * 1000)

    def __call__(self, command: list[str]) -> str:
        self.calls.append(command)
        if "venv" in command:
            Path(command[-1], "bin").mkdir(parents=True)
        if self.fail and self.fail in command:
            raise Unavailable(f"{self.fail} failed")
        if "--report" in command:
            packages = [(self.wheel.as_uri(), "torch", "2.4.1"), ("file:///nowhere/peft.whl", "peft", "0.13.2")]
            report = [{"download_info": {"url": u}, "metadata": {"name": n, "version": v}} for u, n, v in packages]
            Path(command[command.index("--report") + 1]).write_text(json.dumps({"install": report}))
        return json.dumps(dict.fromkeys(command[4:], "1.0"))


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Pip]:
    def make(fail: str = "") -> Pip:
        made = Pip(tmp_path, fail)
        monkeypatch.setattr(environments, "_call", made)
        return made

    return make


def test_sizes_are_told_before_anything_is_installed(tmp_path: Path, pip: Callable[..., Pip]) -> None:
    made = pip()
    said: list[str] = []
    ready = program.prepare(["2.4.1", "2.3.1"], tmp_path / "cache", lambda sentence: said.append(sentence))
    env = ready["2.4.1"]
    assert isinstance(env, Environment) and env.ready
    assert said[0].startswith("torch 2.4.1: 0 MB in 2 packages (the first: torch 2.4.1, and 1 packages of")
    assert said[1].startswith("torch 2.3.1: no companions")
    assert said[2] == "torch 2.4.1: installed"
    assert ready["2.3.1"] == said[1].removeprefix("torch 2.3.1: ")
    assert [DRY in call for call in made.calls if "torch==2.4.1" in call] == [True, False]
    assert environments.installed(env)["torch"] == "1.0"

    before = len(made.calls)
    assert program.prepare(["2.4.1"], tmp_path / "cache", said.append) == {"2.4.1": env}
    assert len(made.calls) == before  # it is kept
    assert said[-1] == f"torch 2.4.1: ready in {env.place}"

    more = replace(env, requirements=(*env.requirements, "extra==1"))
    assert not more.ready
    environments.begin(more)
    environments.install(more)
    assert more.ready and not env.ready
    assert not any("venv" in call for call in made.calls[before:])  # it is completed, not made anew


@pytest.mark.parametrize("fail", ["venv", environments.INSTALLER, DRY, "torch==2.4.1", "import torch"])
def test_an_installation_that_fails_is_a_row(tmp_path: Path, pip: Callable[..., Pip], fail: str) -> None:
    pip(fail)
    assert program.prepare(["2.4.1"], tmp_path / "cache", lambda _: None) == {"2.4.1": f"{fail} failed"}
    assert list((tmp_path / "cache").iterdir()) == []


def test_an_interrupted_installation_leaves_nothing(
    tmp_path: Path, pip: Callable[..., Pip], monkeypatch: pytest.MonkeyPatch
) -> None:
    pip()

    def interrupted(env: Environment) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(environments, "install", interrupted)
    with pytest.raises(KeyboardInterrupt):
        program.prepare(["2.4.1"], tmp_path / "cache", lambda _: None)
    assert list((tmp_path / "cache").iterdir()) == []


def test_no_room(tmp_path: Path, pip: Callable[..., Pip], monkeypatch: pytest.MonkeyPatch) -> None:
    pip()
    monkeypatch.setattr(environments.shutil, "disk_usage", lambda _: SimpleNamespace(free=3499))
    with pytest.raises(Unavailable, match="needs 0 MB, but 0 MB are free"):
        environments.begin(environments.environment("2.4.1", tmp_path))


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise SystemExit('ERROR: no such thing\\nHint: none')", "python.*: no such thing$"),
        ("raise SystemExit('last words')", "last words$"),
        ("raise SystemExit(1)", "it says nothing$"),
        ("import time; time.sleep(60)", "took longer than 2 s"),
    ],
)
def test_a_process_that_fails(monkeypatch: pytest.MonkeyPatch, program: str, why: str) -> None:
    monkeypatch.setattr(environments, "PATIENCE", 2.0)
    with pytest.raises(Unavailable, match=why):
        environments._call([sys.executable, "-I", "-c", program])


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="No such file"):
        environments._call([str(tmp_path / "python"), "-I", "x"])
    assert environments._call([sys.executable, "-I", "-c", "print(1)"]) == "1\n"


def test_the_cache_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert environments.cache_directory() == tmp_path / "fixer" / "environments"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert environments.cache_directory().is_relative_to(Path.home())


# The whole run, with proofs of nothing

VERSIONS = ("2.4.1", "2.13.0")


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Environments that are there, fixtures that hold nothing, and a list of the proofs that were run."""
    case = tmp_path / "fixtures" / "raw-backward" / "x"
    case.mkdir(parents=True)
    for name in ("before.py", "after.py", "proof.py"):
        (case / name).write_text("")
    calls: list[str] = []

    def run_one(proof: Path, bench: object) -> Result:
        calls.append(name_of(proof))
        return RESULT

    def prepare(versions: Sequence[str], cache: Path, tell: object) -> dict[str, Environment | str]:
        return {v: Environment(v, (), cache / v) if v in VERSIONS else "no such torch" for v in versions}

    monkeypatch.setattr(program, "FIXTURES", tmp_path / "fixtures")
    monkeypatch.setattr(program, "run_one", run_one)
    monkeypatch.setattr(program, "prepare", prepare)
    monkeypatch.setattr(environments, "installed", lambda env: {"torch": env.torch})
    yield calls


def test_runs_what_it_does_not_know(tmp_path: Path, ran: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    docs = ("--docs", str(tmp_path / "docs"))
    assert program.main(["--torch", *VERSIONS, *docs]) == 0
    assert ran == ["raw-backward/x"] * 2
    out, err = capsys.readouterr()
    assert out == "torch 2.4.1    shown 1\ntorch 2.13.0   shown 1\n"
    assert "torch 2.13.0  raw-backward/x: shown\n" in err
    written = (tmp_path / "docs" / "evidence.json").read_text()

    assert program.main(docs) == 0  # the versions of the record
    assert len(ran) == 2
    assert (tmp_path / "docs" / "evidence.json").read_text() == written
    assert program.main([*docs, "--again", "--torch", "2.4.1", "--only", "PL"]) == 0
    assert len(ran) == 3
    (tmp_path / "fixtures" / "raw-backward" / "x" / "after.py").write_text("changed = 1\n")
    assert program.main(docs) == 0
    assert len(ran) == 5


def test_a_version_that_cannot_be_had(tmp_path: Path, ran: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    docs = tmp_path / "docs"
    assert program.main(["--torch", "2.99.0", "2.4.1", "--docs", str(docs)]) == 2
    assert capsys.readouterr().out == "torch 2.99.0   no environment: no such torch\ntorch 2.4.1    shown 1\n"
    assert "torch 2.99.0 could not be installed: no such torch" in (docs / "evidence.md").read_text()


@pytest.mark.parametrize(("outcome", "next_time"), [(REFUTED, 0), (COULD_NOT_RUN, 1)])
def test_a_proof_that_fails(
    tmp_path: Path, ran: list[str], monkeypatch: pytest.MonkeyPatch, outcome: str, next_time: int
) -> None:
    """What gave no answer is asked again."""
    call = ["--torch", "2.4.1", "--docs", str(tmp_path / "docs")]
    with monkeypatch.context() as patch:
        patch.setattr(program, "run_one", lambda proof, bench: Result(outcome, why="so it is"))
        assert program.main(call) == 1
    assert program.main(call) == 1 - next_time
    assert len(ran) == next_time


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "the record is empty: say under which versions"),
        (("--torch", "2.4.1", "--only", "NOPE"), "--only NOPE: no such proof"),
    ],
)
def test_calls_that_make_no_sense(
    tmp_path: Path, ran: list[str], capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], why: str
) -> None:
    with pytest.raises(SystemExit) as end:
        program.main([*arguments, "--docs", str(tmp_path / "docs")])
    assert end.value.code == 2
    assert why in capsys.readouterr().err
    assert not (tmp_path / "docs").exists()


def test_a_broken_record_is_not_overwritten(tmp_path: Path, ran: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "evidence.json").write_text("{")
    with pytest.raises(SystemExit):
        program.main(["--torch", "2.4.1", "--docs", str(tmp_path)])
    assert "is no record of evidence" in capsys.readouterr().err
    assert (tmp_path / "evidence.json").read_text() == "{"


def test_one_proof_without_torch(bare_python: str) -> None:
    from codemods.verify.bench import Bench

    proof = FIXTURES / "raw-backward" / "example" / "proof.py"
    with Bench(bare_python) as bench:
        found = program.run_one(proof, bench)
    assert found.outcome == COULD_NOT_RUN and "No module named 'torch'" in found.why


def test_every_rule_has_its_name_in_the_matrix() -> None:
    assert {proof.parents[1].name for proof in PROOFS} <= {rule.name for rule in load()}
