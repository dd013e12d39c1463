"""The command: corpora and environments are made, everybody runs in turn, the tables are printed."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import counts, pathological, table, watching
from benchmarks.arithmetic import Sample
from benchmarks.corpora import build
from benchmarks.environments import Tools, install, pip
from benchmarks.measure import Contestant, Failed, alternately, read_through, surroundings
from benchmarks.pins import RUFF, TORCHFIX
from benchmarks.rows import ROWS, growth
from benchmarks.setting import GROWTH, PATHOLOGICAL, WATCH, Setting
from benchmarks.table import Measured, MeasuredGrowth

CHECKOUT = Path(__file__).resolve().parents[2]
NOTES = """\
Numbers are min / **median** / max of the ratios of all rounds; the commands of a row run one right after the other. \
"Cold" is without any cache of the tool's own: the file system's cache cannot be dropped without privileges, so every \
file was read once before the first round. Processor time counts all processes of a command; peak memory is that of \
its largest process. `--isolated` is given to both checkers, so that no package's own settings leave files out.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 if it could not be run."""
    asked = parser().parse_args(arguments)
    try:
        report = run(asked.cache.expanduser().resolve(), asked.fixer.resolve(), asked.rounds, asked.rows)
    except (Failed, subprocess.CalledProcessError) as error:
        print(f"benchmark: {error}", file=sys.stderr)
        return 1
    if asked.output:
        asked.output.write_text(report)
    print(report)
    return 0


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    command = argparse.ArgumentParser(prog="python tests/benchmarks", description="How fast fixer is, as ratios.")
    place = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "fixer-benchmark")
    command.add_argument("--cache", type=Path, default=place, help=f"where corpora and environments are kept ({place})")
    command.add_argument("--fixer", type=Path, default=CHECKOUT, help="the checkout that is installed (this one)")
    command.add_argument("--rounds", type=_positive, default=5, help="how often everybody runs (5)")
    names = [*ROWS, GROWTH, PATHOLOGICAL, WATCH]
    command.add_argument(
        "--rows", nargs="+", choices=names, default=names, metavar="ROW", help=f"of {', '.join(names)}"
    )
    command.add_argument("--output", type=Path, help="also write the tables to this file")
    return command


def _positive(text: str) -> int:
    if (value := int(text)) < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return value


def run(cache: Path, checkout: Path, rounds: int, wanted: Sequence[str]) -> str:
    """The tables, as Markdown. The samples they are made of stay in the cache directory as `samples.json`.

    Raises:
        Failed: if a contestant, or the making of a corpus, does not do what it should.
    """
    corpora = build(cache, pip(cache, tell), tell)
    tools = install(cache, checkout, tell)
    setting = Setting(tools, corpora, cache, surroundings(cache / "tool-caches"))
    tell("preparing the rows")
    rows = [make(setting) for name, make in ROWS.items() if name in wanted]
    growing = growth(setting) if GROWTH in wanted else None
    cases = pathological.growths(setting) if PATHOLOGICAL in wanted else {}
    groups: list[list[Contestant]] = [[row.ours, row.theirs] for row in rows]
    groups += [[case.nothing, *case.ours] for case in cases.values()]
    if growing:
        groups += [[growing.nothing, *growing.ours], list(growing.theirs)]
    used = {contestant.at for group in groups for contestant in group}
    for place in used:
        read_through(place)
    wholly = {contestant.at for group in groups for contestant in group if contestant.command[-1] == "."}

    load = os.getloadavg()
    samples = alternately(groups, rounds, setting.environment, tell)
    (cache / "samples.json").write_text(json.dumps(_raw(groups, samples), indent=1))
    measured = [Measured(row, *gathered) for row, gathered in zip(rows, samples, strict=False)]
    alone = dict(zip(cases, samples[len(rows) :], strict=False))
    answers = watching.saved_to_answer(setting, rounds) if WATCH in wanted else []
    grown = MeasuredGrowth(growing, samples[-2][1:], samples[-2][0], samples[-1]) if growing else None

    busy = f"load average {load[0]:.1f} before and {os.getloadavg()[0]:.1f} after"
    tell("counting")
    parts = [
        f"Rounds: {rounds}; {_machine()}; {busy}. {_versions(tools, checkout)} Rules: {counts.rules(setting)}.\n",
        NOTES,
        table.ratio_table(measured, grown),
        *([table.pathological_table(alone, cases, pathological.GOAL)] if cases else []),
        *([table.watch_line(answers, watching.GOAL)] if answers else []),
        table.count_table(counts.count(setting, wholly)),
        table.cost_table(measured),
        *([table.growth_table(grown)] if grown else []),
    ]
    return "\n".join(parts)


def _raw(groups: Sequence[Sequence[Contestant]], samples: Sequence[Sequence[Sequence[Sample]]]) -> list[dict[str, Any]]:
    """Every measurement, for those who want to look at them otherwise."""
    return [
        {"command": contestant.command, "at": str(contestant.at), "samples": [asdict(sample) for sample in mine]}
        for group, gathered in zip(groups, samples, strict=True)
        for contestant, mine in zip(group, gathered, strict=True)
    ]


def tell(text: str) -> None:
    """Progress is for people, and goes where it does not mix with the tables."""
    print(text, file=sys.stderr, flush=True)


def _machine() -> str:
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{usable} cores of {model}, {platform.system()}, Python {platform.python_version()}"


def _versions(tools: Tools, checkout: Path) -> str:
    commit = _say("git", "-C", str(checkout), "describe", "--always", "--dirty")
    version = _say(tools.fixer, "--version")
    return f"{version} ({commit}), {RUFF[0]}, {TORCHFIX[0]}, {_say('git', '--version')}."


def _say(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
