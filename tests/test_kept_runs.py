"""Runs of the code as it is that are kept: when they are used again, and when they are not."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from world import fixer, repository

from codemods.verify.symptoms import Run
from codemods.verify.trace import Parameter, Trace
from fixer.verify.kept_runs import DAY, MOST, KeptRuns

TRACE = Trace("1", ("main", "train.py"), losses=(1.0, float("nan")), parameters={"w": Parameter(norms=(0.5,))})


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIXER_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "runs"


def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", {"train.py": "old_one(1)\n", ".gitignore": "data\n"})


def runs(root: Path, *words: str, command: str = "") -> int:
    """How often a verification ran the code as it is; the command fails there, so that its run is kept."""
    log = root.parent / "log"
    log.unlink(missing_ok=True)
    command = command or f"cat train.py >> {log}; ! grep -q old_one train.py"
    answer = fixer("verify", "--run", command, *words, at=root)
    assert answer.code == 0 and answer.text.startswith("proved"), answer.text + answer.err
    return log.read_text().count("old_one")


def test_the_code_as_it_is_is_run_once(tmp_path: Path, kept: Path) -> None:
    root = project(tmp_path)
    first = runs(root)
    assert first == 2, "a difference is looked at twice"
    assert len(list(kept.iterdir())) == 1
    assert runs(root) == 1, "once, to see that it still does the same"
    told = json.loads(
        fixer(
            "verify",
            "--run",
            f"cat train.py >> {tmp_path}/log; ! grep -q old_one train.py",
            "--format",
            "json",
            at=root,
        ).out
    )
    assert told["repeats"] == [2, 1] and any("earlier, and kept" in note for note in told["notes"])


def test_it_is_run_anew_when_anything_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path)
    (root / "data").write_text("1")
    assert runs(root, "--link", "data") == 2
    assert runs(root, "--link", "data") == 1
    assert runs(root, "--link", "data", "--no-cache") == 2
    assert runs(root, "--link", "data", "--steps", "3") == 2
    assert runs(root, "--link", "data", "--steps", "3") == 1
    (root / "data").write_text("22")
    assert runs(root, "--link", "data") == 2
    (root / "more.py").write_text("")
    assert runs(root, "--link", "data") == 2
    monkeypatch.setenv("SEED", "1")
    assert runs(root, "--link", "data") == 2
    assert fixer("cache", "clear", at=root).code == 0
    assert runs(root, "--link", "data") == 2


def test_what_wrote_into_the_checkout_is_not_kept(tmp_path: Path, kept: Path) -> None:
    root = project(tmp_path)
    fixer("verify", "--run", f"date >> {root}/data; ! grep -q old_one train.py", at=root)
    assert not kept.exists() or not list(kept.iterdir())


def test_a_run_comes_back_as_it_was(kept: Path) -> None:
    runs = KeptRuns(kept)
    runs.keep("key", Run("exit", 1, 2.5, "text", (TRACE,), 7))
    found = runs.find("key")
    assert found is not None and repr(found[0]) == repr(Run("exit", 1, 2.5, "text", (TRACE,), 7))
    assert runs.find("other") is None
    file = kept / "key.json"
    assert file.stat().st_mode & 0o077 == 0
    os.utime(file, (time.time() - DAY - 9, time.time() - DAY - 9))
    assert runs.find("key") is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"how": 1}', "\0", '{"how": "exit", "traces": [1]}'])
def test_a_damaged_one_counts_for_nothing(text: str, kept: Path) -> None:
    kept.mkdir(parents=True)
    (kept / "key.json").write_text(text)
    assert KeptRuns(kept).find("key") is None


def test_only_the_newest_are_kept(kept: Path) -> None:
    runs = KeptRuns(kept)
    for number in range(MOST + 3):
        runs.keep(f"{number}", Run("exit", 0, 0.0, ""))
        os.utime(kept / f"{number}.json", (number, number))
    assert sorted(int(file.stem) for file in kept.iterdir()) == list(range(3, MOST + 3))


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    KeptRuns(tmp_path / "file" / "runs").keep("key", Run("exit", 0, 0.0, ""))
    assert KeptRuns(Path(os.devnull) / "runs").find("key") is None
