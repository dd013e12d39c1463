"""From files to a plan: the gate on bytes, in this process or in several, and the parts put together again."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from codemods import engine
from codemods.edits import Skip, SkipReason
from codemods.gate import gate
from codemods.plan import FilePlan, Plan, Project
from codemods.sources import files as sources
from codemods.sources.python import LARGEST
from codemods.transforms import load
from fixer.discover import marked_generated

if TYPE_CHECKING:
    from codemods.sources.document import Reader
    from fixer.git.changes import Changes

ENOUGH_LINES = 20_000
"""Gated lines from which on starting processes pays."""
CHUNK_LINES = 4_000
MENTIONS = b"fixer: ignore"
"""Files with suppression comments are looked at even without a trigger, to tell unused ones."""

Progress = Callable[[int, int], None]
"""Told how many of how many files are done."""


@dataclass(frozen=True, slots=True)
class Order:
    """Which rules run and how, on files with the same settings. Plain data: it crosses to worker processes."""

    reader: Reader
    codes: tuple[str, ...]
    unsafe: bool = False
    strategies: tuple[tuple[str, str], ...] = ()
    targets: tuple[tuple[str, str], ...] = ()
    fix: bool = False
    changed: Changes | None = None
    """Findings elsewhere do not count."""


@dataclass(frozen=True, slots=True)
class Task:
    """An order and the files it is for."""

    order: Order
    paths: tuple[str, ...]


@cache
def _options(order: Order) -> engine.Options:
    codes = frozenset(order.codes)
    return engine.Options(
        rules=tuple(rule for rule in load() if rule.code in codes),
        unsafe=order.unsafe,
        strategies=dict(order.strategies),
        targets=dict(order.targets),
        counts=order.changed.concern if order.changed is not None else None,
    )


def prepare(task: Task) -> None:
    """Load what a task needs, so that what is missing is missed before any file is read."""
    _options(task.order)


def plan_paths(task: Task, paths: Sequence[str]) -> Plan:
    """The plan of some of a task's files; what a worker does. Fixes may reach the task's other files."""
    return engine.plan(paths, task.order.reader, _options(task.order), fix=task.order.fix, within=task.paths)


def steps(order: Order, plan: Plan) -> Iterator[tuple[engine.Step, ...]]:
    """The plan as successive texts, one rule after the other: a series for each group of files with the same rules.

    Files that share no fix do not depend on each other's new text, so that none has to be planned again for the sake
    of a rule that changes nothing in it.
    """
    tied = {path: component for component in plan.components for path in component}
    applied: dict[frozenset[str], set[str]] = defaultdict(set)
    for file in plan.files:
        applied[tied.get(file.path, frozenset({file.path}))] |= {f.code for f in file.findings if f.applied}
    groups: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for component, codes in applied.items():
        groups[tuple(sorted(codes))] |= component
    for _, paths in sorted(groups.items()):
        files = tuple(file for file in plan.files if file.path in paths)
        if any(file.changed for file in files):
            yield engine.steps(replace(plan, files=files), order.reader, _options(order))


def run(
    tasks: Sequence[Task],
    *,
    jobs: int,
    include_generated: bool = False,
    why: Callable[[str], str] = lambda path: "could not be read",
    progress: Progress = lambda done, total: None,
) -> tuple[Plan, ...]:
    """The plan of each task.

    Args:
        jobs: how many processes at most; 0 means one for each processor, where the work is worth it.
        include_generated: read files that say a program wrote them.
        why: says why a path could not be read.
    """
    gated: list[tuple[Task, list[tuple[str, int]], tuple[Skip, ...]]] = []
    for task in tasks:
        gated.append((task, *_gate(task, include_generated, why)))
    total = sum(len(files) for _, files, _ in gated)
    lines = sum(count for _, files, _ in gated for _, count in files)
    processes = jobs or available()
    alone = processes == 1 or total < 2 or lines < ENOUGH_LINES
    done = 0
    plans = []

    def tick(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total)

    for task, files, skips in gated:
        chunks = list(_chunks(files, ENOUGH_LINES if alone else CHUNK_LINES))
        if alone:
            parts = []
            for chunk in chunks:
                parts.append(plan_paths(task, chunk))
                tick(len(chunk))
        else:
            from fixer.pool import plan_chunks

            parts = plan_chunks(task, chunks, min(processes, len(chunks)), tick)
        plan = _whole(task, parts)
        plans.append(replace(plan, skips=(*plan.skips, *skips), files_seen=len(task.paths), files_read=len(files)))
    return tuple(plans)


def available() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _gate(
    task: Task, include_generated: bool, why: Callable[[str], str]
) -> tuple[list[tuple[str, int]], tuple[Skip, ...]]:
    """The files that may hold a bug by their bytes, with their numbers of lines, and those that cannot be read."""
    first = gate(_options(task.order).rules)
    files: list[tuple[str, int]] = []
    skips: list[Skip] = []
    for path in task.paths:
        data = task.order.reader.read(path)
        if data is None:
            skips.append(Skip(path, SkipReason.UNREADABLE, why(path)))
            continue
        if MENTIONS not in data:
            found = sources.searchable(path, data)
            if not first.wanted(path, found):
                continue
        if include_generated or not marked_generated(data):
            files.append((path, data.count(b"\n") + 1 if len(data) <= LARGEST else 1))
    return files, tuple(skips)


def _chunks(files: Iterable[tuple[str, int]], lines: int) -> Iterable[tuple[str, ...]]:
    """Neighbouring files, about `lines` lines together."""
    chunk: list[str] = []
    size = 0
    for path, count in files:
        if chunk and size + count > lines:
            yield tuple(chunk)
            chunk, size = [], 0
        chunk.append(path)
        size += count
    if chunk:
        yield tuple(chunk)


def _whole(task: Task, parts: Sequence[Plan]) -> Plan:
    """One plan from those of the chunks; files that two chunks speak about are planned again, together."""
    plan = merge(parts)
    seen = Counter(file.path for part in parts for file in part.files)
    contested = {path for path, count in seen.items() if count > 1}
    if not contested:
        return plan
    growing = True
    while growing:
        tied = {path for component in plan.components if component & contested for path in component}
        growing = not tied <= contested
        contested |= tied
    again = plan_paths(task, sorted(contested & set(task.paths)))
    rest = [file for file in plan.files if file.path not in contested]
    return merge(
        [
            replace(
                plan,
                files=tuple(rest),
                skips=tuple(skip for skip in plan.skips if skip.path not in contested),
                unused=tuple(unused for unused in plan.unused if unused.path not in contested),
                components=tuple(component for component in plan.components if not component & contested),
            ),
            again,
        ]
    )


def merge(plans: Iterable[Plan]) -> Plan:
    """Plans of different files as one."""
    plans = list(plans)
    files: dict[str, FilePlan] = {}
    for file in chain.from_iterable(plan.files for plan in plans):
        files.setdefault(file.path, file)
    projects: dict[str, Project] = {}
    for project in chain.from_iterable(plan.projects for plan in plans):
        known = projects.get(project.root)
        projects[project.root] = Project(project.root, {**known.targets, **project.targets}) if known else project
    return Plan(
        files=tuple(files[path] for path in sorted(files)),
        skips=tuple(dict.fromkeys(chain.from_iterable(plan.skips for plan in plans))),
        projects=tuple(projects[root] for root in sorted(projects)),
        unused=tuple(dict.fromkeys(chain.from_iterable(plan.unused for plan in plans))),
        files_seen=sum(plan.files_seen for plan in plans),
        files_read=sum(plan.files_read for plan in plans),
        components=tuple(dict.fromkeys(chain.from_iterable(plan.components for plan in plans))),
    )
