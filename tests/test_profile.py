"""`--profile`: what is recorded, and how it is told."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from world import fixer, process, repository

from codemods.model.profile import SILENT, Profile, Recorder
from fixer.report.profile import Cost, text, values

CALL = "old_one(1)\n"


def clock() -> Callable[[], float]:
    """Each look at it takes a second."""
    ticks = iter(range(1_000_000))
    return lambda: float(next(ticks))


def test_nothing_is_recorded_without_a_clock() -> None:
    with SILENT.phase("a"), SILENT.rule("b"):
        SILENT.stage("c")
    assert SILENT.profile == Profile()


def test_time_is_counted_once() -> None:
    recorder = Recorder(clock())
    with recorder.phase("outer"):
        with recorder.rule("PL001"):
            pass
        with recorder.phase("inner"):
            pass
    assert recorder.profile.seconds == {("phase", "outer"): 3.0, ("rule", "PL001"): 1.0, ("phase", "inner"): 1.0}
    assert recorder.profile.calls == {("phase", "outer"): 1, ("rule", "PL001"): 1, ("phase", "inner"): 1}


@given(st.recursive(st.just([]), lambda inner: st.lists(inner, max_size=4), max_leaves=12))
def test_all_times_together_are_those_of_the_run(blocks: list[object]) -> None:
    now = [0.0]
    recorder = Recorder(lambda: now[0])

    def run(inside: list[object], depth: int) -> None:
        with recorder.phase(f"depth {depth % 3}"):
            now[0] += 1
            for each in inside:
                assert isinstance(each, list)
                run(each, depth + 1)
                now[0] += 0.5

    run(blocks, 0)
    assert sum(recorder.profile.seconds.values()) == now[0]


def test_an_exception_ends_a_phase() -> None:
    recorder = Recorder(clock())
    try:
        with recorder.phase("broken"):
            raise KeyError
    except KeyError:
        pass
    with recorder.phase("after"):
        pass
    assert recorder.profile.seconds == {("phase", "broken"): 1.0, ("phase", "after"): 1.0}


def test_profiles_of_several_processes_add_up() -> None:
    recorder = Recorder(clock())
    with recorder.phase("a"):
        recorder.stage("seen", 3)
    whole = Profile()
    for _ in range(2):
        whole.add(pickle.loads(pickle.dumps(recorder.profile)))
    assert whole.seconds == {("phase", "a"): 2.0}
    assert whole.stages == {"seen": 6}
    assert whole.calls == {("phase", "a"): 2}


def test_tables_and_values() -> None:
    profile = Profile()
    profile.spend(("phase", "reading"), 0.25)
    profile.spend(("phase", "parsing"), 2.25)
    profile.spend(("rule", "AMP001"), 7.5)
    profile.calls.update({("phase", "reading"): 1, ("phase", "parsing"): 1200, ("rule", "AMP001"): 7})
    profile.stages.update({"found": 4, "odd": 1, "prefiltered": 50, "seen": 2000})
    cost = Cost(3.14159, 9.75, 88.4)
    first, *lines = text(profile, cost, ["fixer", "check"]).splitlines()
    assert first.startswith("fixer 0.1.0, libcst 1.")
    assert lines == [
        "$ fixer check",
        "3.142 s; 9.750 s of processor time; at most 88 MiB in one process",
        "",
        "phase              seconds      %     times",
        "parsing              2.250   22.5     1,200",
        "reading              0.250    2.5         1",
        "",
        "rule               seconds      %     times",
        "AMP001               7.500   75.0         7",
        "",
        "files left           files      %",
        "seen                 2,000  100.0",
        "prefiltered             50    2.5",
        "found                    4    0.2",
        "odd                      1    0.1",
    ]
    assert values(profile, cost) == {
        "wall": 3.14159,
        "cpu": 9.75,
        "peak_mib": 88.4,
        "phases": {"parsing": 2.25, "reading": 0.25},
        "rules": {"AMP001": 7.5},
        "stages": {"seen": 2000, "prefiltered": 50, "found": 4, "odd": 1},
    }


def test_the_result_is_the_same_and_the_profile_stands_beside_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": CALL, "b.py": "1\n"})
    plain, profiled = fixer("check", at=root), fixer("check", "--profile", at=root)
    assert (plain.code, plain.out) == (profiled.code, profiled.out)
    told = profiled.err.removeprefix(plain.err)
    assert "$ fixer check --profile\n" in told
    applied = fixer("apply", "--dry-run", "--profile", at=root)
    assert (
        applied.out == fixer("apply", "--dry-run", at=root).out and "$ fixer apply --dry-run --profile\n" in applied.err
    )
    counts = [line.split()[:2] for line in told.splitlines() if line.startswith(("seen", "prefiltered", "found"))]
    assert counts == [["seen", "2"], ["prefiltered", "1"], ["found", "1"]]


def test_as_json(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": CALL})
    told = json.loads(fixer("check", "--profile", "--format", "json", at=root).out)["profile"]
    assert {"starting", "importing", "listing", "selecting", "planning"} <= told["phases"].keys()
    assert "profile" not in json.loads(fixer("check", "--format", "json", at=root).out)


def test_workers_say_where_their_time_went(tmp_path: Path) -> None:
    text = "from torch.cuda.amp import autocast\n\nwith autocast():\n    pass\n" + "x = 1\n" * 6_000
    root = repository(tmp_path / "many", {f"train{number}.py": text for number in range(4)})
    options = ("--no-cache", "--exit-zero", "--format", "json", "--profile")
    alone, shared = (
        json.loads(process("check", *options, "--jobs", jobs, at=root, environment={}).out)["profile"]
        for jobs in ("1", "2")
    )
    assert shared["stages"] == alone["stages"] == {"seen": 4, "prefiltered": 4, "facts": 4, "found": 4}
    assert shared["rules"].keys() == alone["rules"].keys() >= {"AMP002"}
    assert shared["phases"].keys() >= {"parsing", "walking", "waiting"}
