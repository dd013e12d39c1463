"""The benchmark's arithmetic, on made-up numbers; nothing is timed here."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import corpora, everyday, pathological, planted, table
from benchmarks.arithmetic import Sample, Spread, beyond, cpu, exponent, exponents, peak, ratios, spread, wall
from benchmarks.counts import Count
from benchmarks.measure import Contestant, Failed, alternately, once, surroundings
from benchmarks.pins import ALONE, ELSE, PACKAGES, RUFF, TORCH_FREE, TORCH_HEAVY, TORCHFIX
from benchmarks.program import parser
from benchmarks.rows import ROWS
from benchmarks.setting import Goal, Growth, Row

HERE = Path(__file__).parent
OURS = [Sample(1.0, 2.0, 100.0), Sample(3.0, 2.0, 120.0), Sample(2.0, 2.0, 110.0)]
THEIRS = [Sample(2.0, 4.0, 50.0), Sample(2.0, 4.0, 60.0), Sample(2.0, 4.0, 55.0)]


def contestant(name: str) -> Contestant:
    return Contestant(name, (name,), HERE)


def row(goal: Goal | None, note: str = "") -> Row:
    return Row("key", "a check", contestant("ours"), contestant("theirs"), goal, note)


def test_ratios_are_taken_round_by_round() -> None:
    assert ratios(OURS, THEIRS, wall) == [0.5, 1.5, 1.0]
    assert ratios(OURS, THEIRS, cpu) == [0.5, 0.5, 0.5]
    assert ratios(OURS, THEIRS, peak) == [2.0, 2.0, 2.0]


def test_rounds_that_do_not_match_are_an_error() -> None:
    with pytest.raises(ValueError):
        ratios(OURS, THEIRS[:2], wall)


def test_spread() -> None:
    assert spread([3.0, 1.0, 10.0]) == Spread(1.0, 3.0, 10.0)
    assert spread([1.0, 2.0]) == Spread(1.0, 1.5, 2.0)
    assert spread([7.0]) == Spread(7.0, 7.0, 7.0)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 1.05, 2.0])
def test_exponent_of_a_power(power: float) -> None:
    sizes = [1_000, 2_000, 8_000, 34_000]
    assert exponent(sizes, [3.0 * size**power for size in sizes]) == pytest.approx(power)


def test_exponents_are_of_rounds() -> None:
    samples = [[Sample(1.0, 1.0, 50.0), Sample(5.0, 1.0, 50.0)], [Sample(10.0, 1.0, 50.0), Sample(500.0, 1.0, 50.0)]]
    assert exponents([100, 1_000], samples, wall) == pytest.approx([1.0, 2.0])
    assert exponents([100, 1_000], samples, peak) == pytest.approx([0.0, 0.0])


def test_beyond_nothing() -> None:
    nothing = [Sample(0.5, 0.25, 20.0), Sample(2.0, 0.25, 20.0)]
    samples = [[Sample(1.5, 1.25, 60.0), Sample(1.0, 1.25, 60.0)]]
    assert beyond(samples, nothing) == [[Sample(1.0, 1.0, 60.0), Sample(0.001, 1.0, 60.0)]]


def test_goals() -> None:
    assert Goal(0.8).reached(0.8) and not Goal(0.8).reached(0.81)
    assert Goal(300, times_faster=True).reached(301) and not Goal(300, times_faster=True).reached(299)
    assert (str(Goal(0.8)), str(Goal(300, times_faster=True))) == ("≤ 0.8", "≥ 300 × faster")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0123, "0.012"),
        (0.5, "0.5"),
        (1.0, "1"),
        (1.234, "1.23"),
        (12.34, "12.3"),
        (99.96, "100"),
        (12345.6, "12,346"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert table.number(value) == text


def test_a_line_of_ratios() -> None:
    measured = table.Measured(row(Goal(0.8), "a note"), OURS, THEIRS)
    assert table.ratio_table([measured]).splitlines() == [
        "|  | against | time | processor time | peak memory | goal for processor time | reached |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| a check (a note) | `theirs` | 0.5 / **1** / 1.5 | 0.5 / **0.5** / 0.5 | 2 / **2** / 2 | ≤ 0.8 | yes |",
    ]


def test_times_faster_is_theirs_in_ours() -> None:
    measured = table.Measured(row(Goal(1, times_faster=True)), OURS, [Sample(600.0, 4.0, 50.0)] * 3)
    line = table.ratio_table([measured]).splitlines()[2]
    assert "| 200 / **300** / 600 × less |" in line
    assert line.endswith("| ≥ 1 × faster | yes |")


def test_a_row_without_a_goal_has_no_verdict() -> None:
    measured = table.Measured(row(None), OURS, THEIRS)
    assert table.ratio_table([measured]).splitlines()[2].endswith("|  |  |")


def test_growth() -> None:
    sizes = (1_000, 10_000)
    ours = [[Sample(1.5, 1.5, 100.0)], [Sample(10.5, 10.5, 300.0)]]
    theirs = [[Sample(0.1, 0.1, 30.0)], [Sample(1.0, 1.0, 30.0)]]
    growth = Growth(sizes, (contestant("ours"),) * 2, contestant("ours"), (contestant("theirs"),) * 2)
    measured = table.MeasuredGrowth(growth, ours, [Sample(0.5, 0.5, 20.0)], theirs)
    lines = table.ratio_table([], measured).splitlines()[2:]
    assert [line.split(" | ")[2] for line in lines[:3]] == ["0.85 / **0.85** / 0.85", "1 / **1** / 1", "1 / **1** / 1"]
    assert lines[3].endswith("| 300 / **300** / 300 | ≤ 250 MiB | no |")
    assert table.growth_table(measured).splitlines()[2:] == [
        "| 0 | 0.5 | 0.5 | 20 |  |  |  |",
        "| 1,000 | 1.5 | 1.5 | 100 | 0.1 | 0.1 | 30 |",
        "| 10,000 | 10.5 | 10.5 | 300 | 1 | 1 | 30 |",
    ]


def test_pathological_growth() -> None:
    nothing, small, large = ([Sample(0.5, 0.5, 1.0)], [Sample(1.5, 1.5, 1.0)], [Sample(100.5, 100.5, 1.0)])
    growth = Growth((10, 100), (contestant("ours"),) * 2, contestant("ours"), ())
    lines = table.pathological_table({"blocks": [nothing, small, large]}, {"blocks": growth}, 1.15).splitlines()
    assert lines[2] == "| blocks | 10 · 100 | 1.5 · 100 | 2 / **2** / 2 | ≤ 1.15 | no |"


@pytest.mark.parametrize(("title", "make", "count"), [(t, m, c[0]) for t, (m, c) in pathological.CASES.items()])
def test_pathological_programs(title: str, make: Callable[[int], dict[str, str]], count: int) -> None:
    lengths = [sum(map(len, make(number).values())) for number in (10, 20)]
    assert lengths[0] * 1.5 < lengths[1], title
    for name, text in make(count).items():
        compile(text, name, "exec")


def test_answers_while_watching() -> None:
    line = table.watch_line([(1.0, 0.2), (2.0, 0.4), (1.5, 0.25)], 0.3)
    assert "0.2 / **0.25** / 0.4 s of processor time (goal ≤ 0.3: reached), 1 / **1.5** / 2 s" in line


def test_counts_with_and_without_a_profile() -> None:
    plain = Count("some", 1000, 1010, 1200, 90, 5, 3, 1)
    assert table.count_table([plain]).splitlines()[2] == "| some | 1,000 | 1,010 | 1,200 | 90 | · | 5 | 3 | 1 |"
    profiled = Count("more", 1000, 1010, 1200, 90, 5, 3, 1, {"facts": 40, "walked": 7})
    lines = table.count_table([plain, profiled]).splitlines()
    assert "| left by the prefilter | facts | walked | findings |" in lines[0]
    assert lines[2:] == [
        "| some | 1,000 | 1,010 | 1,200 | 90 | · | · | 5 | 3 | 1 |",
        "| more | 1,000 | 1,010 | 1,200 | 90 | 40 | 7 | 5 | 3 | 1 |",
    ]


def test_pins_are_pins() -> None:
    for pin in PACKAGES:
        assert re.fullmatch(r"\d+(\.\d+)+", pin.version), pin
        assert pin.sha256 is None or re.fullmatch(r"[0-9a-f]{64}", pin.sha256), pin
        assert pin.megabytes > 0 and pin.corpus in (TORCH_FREE, TORCH_HEAVY, ELSE, ALONE), pin
    assert [pin.package for pin in PACKAGES if pin.sha256 is None] == ["torch"]
    assert len({pin.package for pin in PACKAGES}) == len(PACKAGES)
    for requirement in (*RUFF, *TORCHFIX):
        assert re.fullmatch(r"[A-Za-z0-9]+==\d+(\.\d+)+", requirement), requirement


def test_torch_is_read_and_never_installed() -> None:
    assert not any(requirement.startswith("torch=") for requirement in (*RUFF, *TORCHFIX))
    assert [pin.version for pin in PACKAGES if pin.package == "torch"] == ["2.13.0"]
    assert not next(pin for pin in PACKAGES if pin.package == "monai").sdist, "its build requires torch"


def test_planted_files_are_different_and_wrong_in_turn() -> None:
    files = planted.files()
    modules = [text for name, text in files.items() if name.endswith(".py")]
    assert len(modules) == len(set(modules)) == planted.COUNT
    for code, bug in planted.BUGS.items():
        assert sum(text.startswith(bug) for text in modules) == planted.COUNT / len(planted.BUGS), code
    assert planted.LINEAGE[planted.CHANGED] != planted.EDITED


def test_edits_are_new_each_time(tmp_path: Path) -> None:
    corpora.git("init", "-q", at=tmp_path)
    corpora.write(tmp_path, {"a.py": "class A:\n    pass\n"})
    corpora.git("add", ".", at=tmp_path)
    for change in (everyday.commented, everyday.extended, everyday.rebased("class A:", "class A({}):")):
        edit, seen = everyday.editing(tmp_path, "a.py", change), set()
        for _ in range(3):
            edit()
            seen.add((tmp_path / "a.py").read_text())
        assert len(seen) == 3 and all(compile(text, "a.py", "exec") for text in seen)


def test_every_row_can_be_asked_for() -> None:
    assert parser().parse_args([]).rows == [*ROWS, "growth", "pathological", "watch"]
    assert parser().parse_args(["--rows", "fifteen", "help"]).rows == ["fifteen", "help"]


def test_contestants_take_turns(tmp_path: Path) -> None:
    """Three processes of nothing: what is tested is the order, and that something was counted."""
    cleaned: list[str] = []
    python = (sys.executable, "-I", "-S", "-c")
    first = Contestant("first", (*python, "x = bytearray(30_000_000)"), tmp_path, after=lambda: cleaned.append("first"))
    second = Contestant("second", (*python, "raise SystemExit(1)"), tmp_path)
    said: list[str] = []
    samples = alternately([[first, second]], 2, surroundings(tmp_path), said.append)
    assert [line.split()[-1] for line in said] == ["first", "second", "first", "second"]
    assert [line.split()[1] for line in said] == ["1/2", "1/2", "2/2", "2/2"]
    assert cleaned == ["first", "first"]
    assert all(sample.wall > 0 and sample.cpu > 0 for group in samples for mine in group for sample in mine)
    (large, small), _ = zip(*samples[0], strict=True)
    assert large.peak > small.peak + 25


def test_a_run_that_fails_is_not_measured(tmp_path: Path) -> None:
    broken = Contestant("broken", (sys.executable, "-c", "raise SystemExit('no such thing') from None"), tmp_path, (0,))
    with pytest.raises(Failed, match="no such thing"):
        once(broken, surroundings(tmp_path))
