"""Who is compared with whom: the rows of the table and their goals."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks import branches, planted
from benchmarks.branches import Branches
from benchmarks.corpora import Corpora
from benchmarks.environments import Tools
from benchmarks.measure import Contestant, Failed, once

GROWTH = "growth"
GROWTH_GOAL = 1.05
PEAK_GOAL = 250
"""MiB."""


@dataclass(frozen=True)
class Goal:
    """What the median of the ratios should be."""

    limit: float
    times_faster: bool = False
    """Their time in ours, at least; otherwise our time in theirs, at most."""

    def reached(self, ratio: float) -> bool:
        """Whether a ratio (their time in ours if `times_faster`) is good enough."""
        return ratio >= self.limit if self.times_faster else ratio <= self.limit

    def __str__(self) -> str:
        return f"≥ {self.limit:g} × faster" if self.times_faster else f"≤ {self.limit:g}"


@dataclass(frozen=True)
class Row:
    """Two commands and what their ratio should be."""

    key: str
    title: str
    ours: Contestant
    theirs: Contestant
    goal: Goal | None = None
    note: str = ""
    """What a reader must know to read the ratio."""


@dataclass(frozen=True)
class Growth:
    """The same commands over more and more files."""

    sizes: tuple[int, ...]
    """Python files."""
    ours: tuple[Contestant, ...]
    nothing: Contestant
    """Ours, over an empty repository."""
    theirs: tuple[Contestant, ...]


@dataclass(frozen=True)
class Setting:
    """The tools, what they are let loose on, and the commands that the rows are made of."""

    tools: Tools
    corpora: Corpora
    cache: Path
    environment: dict[str, str]

    @cached_property
    def options(self) -> frozenset[str]:
        """What `fixer check` offers."""
        asked = [self.tools.fixer, "check", "--help"]
        said = subprocess.run(asked, env={**self.environment, "COLUMNS": "120"}, stdout=subprocess.PIPE, check=True)
        return frozenset(re.findall(r"--[a-z-]+", said.stdout.decode()))

    @cached_property
    def branches(self) -> Branches:
        """The repository with planted bugs, and who repairs it."""
        return branches.prepare(self.cache, self.corpora.repository, self.tools.fixer)

    def check(self, at: Path, *arguments: str, cached: bool = False) -> Contestant:
        """Our check, by default without whatever cache there is."""
        uncached = ("--no-cache",) if "--no-cache" in self.options and not cached else ()
        name = " ".join(("fixer check", *uncached, *arguments))
        return Contestant(name, (self.tools.fixer, "check", "--isolated", *uncached, *(arguments or (".",))), at)

    def ruff(self, at: Path, *, cached: bool = False) -> Contestant:
        """The least that ruff can do with every file: the few rules about NumPy."""
        cache = ("--cache-dir", str(self.cache / "tool-caches" / "ruff")) if cached else ("--no-cache",)
        name = f"ruff check {'(warm)' if cached else '--no-cache'} --select NPY"
        return Contestant(name, (self.tools.ruff, "check", "--isolated", *cache, "--select", "NPY", "."), at)


def cold_torch_free(setting: Setting) -> Row:
    """Many files, and nothing for us in nearly all of them."""
    return Row(
        "cold-torch-free",
        "cold check, all rules, torch-free packages",
        setting.check(setting.corpora.torch_free),
        setting.ruff(setting.corpora.torch_free),
        Goal(0.8),
    )


def cold_torch_heavy(setting: Setting) -> Row:
    """Files that our rules are about."""
    return Row(
        "cold-torch-heavy",
        "cold check, all rules, torch-heavy packages",
        setting.check(setting.corpora.torch_heavy),
        setting.ruff(setting.corpora.torch_heavy),
        Goal(1.0),
        "a first goal is ≤ 1.5",
    )


def warm(setting: Setting) -> Row:
    """Nothing has changed since the last check."""
    at = setting.corpora.repository
    ours, theirs = setting.check(at, cached=True), setting.ruff(at, cached=True)
    caches = "--no-cache" in setting.options
    for contestant in (ours, theirs) if caches else (theirs,):
        once(contestant, setting.environment)
    return Row(
        "warm",
        "warm check, all rules, the whole repository",
        ours,
        theirs,
        Goal(1.0),
        "" if caches else "`fixer` has no cache yet: every check is a cold one",
    )


def torchfix(setting: Setting) -> Row:
    """The peer that looks for bugs in PyTorch code."""
    command = (setting.tools.torchfix, "--select", "ALL", ".")
    return Row(
        "torchfix",
        "cold check, Accelerate and Lightning",
        setting.check(setting.corpora.pair),
        Contestant("torchfix --select ALL", command, setting.corpora.pair),
        Goal(300, times_faster=True),
    )


def one_changed_file(setting: Setting) -> Row:
    """The check before a commit; whether the file is wrong is written in two others."""
    since = "--since" in setting.options
    ours = setting.check(setting.corpora.repository, *(("--since", "HEAD") if since else (planted.CHANGED,)))
    said = subprocess.run(
        (*ours.command, "--format", "json"), cwd=ours.at, env=setting.environment, capture_output=True, check=False
    )
    if [(f["code"], f["path"]) for f in json.loads(said.stdout)["findings"]] != [("PL001", planted.CHANGED)]:
        raise Failed(f"`{ours.name}` did not find the one bug in {planted.CHANGED} of {setting.corpora.repository}")
    return Row(
        "one-changed-file",
        "cold check of one changed file in the whole repository, its base classes in two other files",
        ours,
        Contestant("fixer --version", (setting.tools.fixer, "--version"), setting.corpora.repository),
        Goal(2.0),
        "" if since else "the file is named, as there is no `--since` yet",
    )


def starting(setting: Setting) -> Row:
    """What a person waits for who asks what there is."""
    return Row(
        "help",
        "`fixer --help`",
        Contestant("fixer --help", (setting.tools.fixer, "--help"), setting.corpora.empty),
        Contestant('python -c "import typer"', (setting.tools.python, "-c", "import typer"), setting.corpora.empty),
        Goal(1.5),
    )


def branch(setting: Setting) -> Row:
    """From bugs to commits, beside the commits alone."""
    made = setting.branches
    return Row(
        "branch",
        f"`apply --branch`, {planted.COUNT:,} changed files of the repository, {made.commits} commits",
        made.ours,
        made.by_hand,
        Goal(0.7),
        "git by hand is given the new contents; ours includes finding them (next row)",
    )


def branch_planning(setting: Setting) -> Row:
    """How much of `apply --branch` is finding the fixes."""
    made = setting.branches
    return Row("branch-planning", "of which planning: the same with `--dry-run`", made.planning, made.by_hand)


def cold_as_shipped(setting: Setting) -> Row:
    """Files of kinds that we read and ruff does not."""
    at = setting.corpora.as_shipped
    title = "cold check, all rules, torch-free packages with 29,000 JSON files of translations"
    return Row("cold-as-shipped", title, setting.check(at), setting.ruff(at))


ROWS: dict[str, Callable[[Setting], Row]] = {
    "cold-torch-free": cold_torch_free,
    "cold-torch-heavy": cold_torch_heavy,
    "warm": warm,
    "torchfix": torchfix,
    "one-changed-file": one_changed_file,
    "help": starting,
    "branch": branch,
    "branch-planning": branch_planning,
    "cold-as-shipped": cold_as_shipped,
}
"""Each makes a row; what it needs before the first round is done then, and not measured."""


def growth(setting: Setting) -> Growth:
    """From 1,000 files to all of them."""
    return Growth(
        sizes=tuple(size for size, _ in setting.corpora.growth),
        ours=tuple(setting.check(place) for _, place in setting.corpora.growth),
        nothing=setting.check(setting.corpora.empty),
        theirs=tuple(setting.ruff(place) for _, place in setting.corpora.growth),
    )
