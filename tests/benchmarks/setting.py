"""What a row of the table is, and what rows are made from."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks import branches
from benchmarks.branches import Branches
from benchmarks.corpora import Corpora
from benchmarks.environments import Tools
from benchmarks.measure import Contestant

GROWTH, PATHOLOGICAL, WATCH = "growth", "pathological", "watch"
"""What is measured and is no row."""
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

    def ruff(self, at: Path, *, cached: bool = False, rules: tuple[str, ...] = ("--select", "NPY")) -> Contestant:
        """By default the least that ruff can do with every file: the few rules about NumPy."""
        cache = ("--cache-dir", str(self.cache / "tool-caches" / "ruff")) if cached else ("--no-cache",)
        name = " ".join(("ruff check", "(warm)" if cached else "--no-cache", *rules))
        return Contestant(name, (self.tools.ruff, "check", "--isolated", *cache, *rules, "."), at)

    @property
    def version(self) -> Contestant:
        """What starting takes."""
        return Contestant("fixer --version", (self.tools.fixer, "--version"), self.corpora.fifteen)
