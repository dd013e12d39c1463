"""The results as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.arithmetic import Cost, Sample, Spread, beyond, cpu, exponents, peak, ratios, spread, wall
from benchmarks.counts import Count
from benchmarks.setting import GROWTH_GOAL, PEAK_GOAL, Goal, Growth, Row


@dataclass(frozen=True)
class Measured:
    """A row with what its commands cost in each round."""

    row: Row
    ours: Sequence[Sample]
    theirs: Sequence[Sample]


@dataclass(frozen=True)
class MeasuredGrowth:
    """The costs for each size, in each round."""

    growth: Growth
    ours: Sequence[Sequence[Sample]]
    nothing: Sequence[Sample]
    theirs: Sequence[Sequence[Sample]]


def number(value: float) -> str:
    """Three digits, however large or small."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 1 else f"{value:.2g}"


def shown(values: Spread) -> str:
    """A spread as min / median / max."""
    return f"{number(values.least)} / **{number(values.middle)}** / {number(values.most)}"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    rows = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def ratio_table(rows: Sequence[Measured], growth: MeasuredGrowth | None = None) -> str:
    """One line for each goal: the ratios of all rounds."""
    head = ("", "against", "time", "processor time", "peak memory", "goal for processor time", "reached")
    return table(head, [*map(_ratio_line, rows), *(_growth_lines(growth) if growth else ())])


def _ratio_line(measured: Measured) -> list[str]:
    goal = measured.row.goal
    faster = goal is not None and goal.times_faster
    above, below = (measured.theirs, measured.ours) if faster else (measured.ours, measured.theirs)

    def told(cost: Cost) -> str:
        return shown(spread(ratios(above, below, cost))) + (" × less" if faster else "")

    middle = spread(ratios(above, below, cpu)).middle
    title = measured.row.title + (f" ({measured.row.note})" if measured.row.note else "")
    return [title, f"`{measured.row.theirs.name}`", told(wall), told(cpu), told(peak), *_verdict(goal, middle)]


def _growth_lines(measured: MeasuredGrowth) -> list[list[str]]:
    sizes, ours = measured.growth.sizes, measured.ours
    title = f"growth from {sizes[0]:,} to {sizes[-1]:,} files: exponent"

    def told(samples: Sequence[Sequence[Sample]]) -> list[str]:
        return [shown(spread(exponents(sizes, samples, cost))) for cost in (wall, cpu, peak)]

    middle = spread(exponents(sizes, ours, cpu)).middle
    without_start = beyond(ours, measured.nothing)
    beyond_start = spread(exponents(sizes, without_start, cpu)).middle
    largest = spread([max(sample.peak for sample in of_round) for of_round in zip(*ours, strict=True)])
    return [
        [title, "", *told(ours), *_verdict(Goal(GROWTH_GOAL), middle)],
        [f"{title}, less a check of nothing", "", *told(without_start), *_verdict(Goal(GROWTH_GOAL), beyond_start)],
        [f"{title} of ruff's", "", *told(measured.theirs), "", ""],
        ["peak memory of any process, any size, MiB", "", "", "", shown(largest), *_peak_verdict(largest)],
    ]


def _peak_verdict(largest: Spread) -> list[str]:
    return [f"≤ {PEAK_GOAL} MiB", "yes" if largest.middle <= PEAK_GOAL else "no"]


def _verdict(goal: Goal | None, middle: float) -> list[str]:
    return [str(goal), "yes" if goal.reached(middle) else "no"] if goal else ["", ""]


def pathological_table(
    samples: Mapping[str, Sequence[Sequence[Sample]]], cases: Mapping[str, Growth], goal: float
) -> str:
    """For each case how processor time grows with the lines, less that of a check of nothing."""
    head = ("what grows", "lines", "processor seconds", "exponent", "goal", "reached")
    lines = []
    for title, (nothing, *ours) in samples.items():
        sizes = cases[title].sizes
        found = spread(exponents(sizes, beyond(ours, nothing), cpu))
        told = [" · ".join(f"{size:,}" for size in sizes), " · ".join(_medians(each)[1] for each in ours)]
        lines.append([title, *told, shown(found), *_verdict(Goal(goal), found.middle)])
    return table(head, lines)


def watch_line(answers: Sequence[tuple[float, float]], goal: float) -> str:
    """What an answer costs while files are watched: each on the clock and in processor time."""
    seconds, used = (spread([each[number] for each in answers]) for number in (0, 1))
    reached = "reached" if used.middle <= goal else "not reached"
    return (
        f"Saved file to answer, `fixer check --watch`, transformers: {shown(used)} s of processor time "
        f"(goal ≤ {goal:g}: {reached}), {shown(seconds)} s on the clock.\n"
    )


def cost_table(rows: Sequence[Measured]) -> str:
    """What the ratios are made of: medians."""
    head = ("", "command", "seconds", "processor seconds", "peak MiB")
    lines = []
    for measured in rows:
        for contestant, samples in ((measured.row.ours, measured.ours), (measured.row.theirs, measured.theirs)):
            lines.append([measured.row.title, f"`{contestant.name}`", *_medians(samples)])
    return table(head, lines)


def growth_table(measured: MeasuredGrowth) -> str:
    """Medians by number of files."""
    growth = measured.growth
    head = ("Python files", *(f"{who}: {what}" for who in ("fixer", "ruff") for what in ("seconds", "cpu s", "MiB")))
    sizes = zip(growth.sizes, measured.ours, measured.theirs, strict=True)
    lines = [[f"{size:,}", *_medians(ours), *_medians(theirs)] for size, ours, theirs in sizes]
    return table(head, [["0", *_medians(measured.nothing), "", "", ""], *lines])


def count_table(counts: Sequence[Count]) -> str:
    """Files, those that each stage leaves, and findings."""
    stages = list(dict.fromkeys(stage for count in counts for stage in count.stages))
    head = (
        *("", "Python files", "ruff looks at", "fixer looks at", "left by the prefilter"),
        *(stages or ["left by later stages"]),
        *("findings", "with a fix", "files skipped"),
    )
    lines = [
        [
            count.corpus,
            *(f"{value:,}" for value in (count.python, count.by_ruff, count.seen, count.read)),
            *([f"{count.stages[stage]:,}" if stage in count.stages else "·" for stage in stages] or ["·"]),
            *(f"{value:,}" for value in (count.findings, count.fixable, count.skipped)),
        ]
        for count in counts
    ]
    return table(head, lines)


def _medians(samples: Sequence[Sample]) -> list[str]:
    return [number(spread([cost(sample) for sample in samples]).middle) for cost in (wall, cpu, peak)]
