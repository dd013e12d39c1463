"""From files to a plan: the prefilter, in this process or in several, and the parts put together again."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING

from codemods.engine.prefilter import RuleInfo, packages_of, prefilter
from codemods.model.edits import Finding, Skip, SkipReason
from codemods.model.plan import FilePlan, Plan, Project, Target
from codemods.model.profile import SILENT, Profile, Recorder
from codemods.sources import files as sources
from codemods.sources.python import LARGEST
from codemods.transforms import loaded
from fixer import COLLECT
from fixer.project.discover import marked_generated
from fixer.project.selectors import ALL_FINDINGS, EVERY, NamedFindings, Wanted
from fixer.run.pool import Crew

if TYPE_CHECKING:
    from codemods.engine.rounds import Options
    from codemods.engine.steps import Step
    from codemods.project.index import Index
    from codemods.project.results import Kept, Memory, Remembered
    from codemods.sources.document import Reader
    from fixer.git.changes import Changes
    from fixer.run.cache import Cache, Past

ENOUGH_LINES = 20_000
"""Lines of prefiltered files from which on starting processes pays."""
CHUNK_LINES = 4_000
ENOUGH_FILES = 2_000
"""Files from which on the prefilter is shared among processes."""
AT_ONCE = 250
"""Files that a process prefilters at once."""
FEW_FILES = 50
"""Files up to which the prefilter comes first, and what was found before is looked for only if it leaves any."""
MENTIONS = b"fixer: ignore"
"""Files with suppression comments are looked at even without a trigger, to tell unused ones."""

Tick = Callable[[int], None]
"""Told of so many more files that are done."""
Progress = Callable[[str, int], AbstractContextManager[Tick]]
"""Shows a phase of the work, by its name and how many files it is about, while the block of its `with` runs."""


def no_progress(phase: str, total: int) -> AbstractContextManager[Tick]:
    """Show nothing."""
    return nullcontext(lambda count: None)


@dataclass(frozen=True, slots=True)
class Order:
    """Which rules run and how, on files with the same settings. Plain data: it crosses to worker processes."""

    reader: Reader
    rules: tuple[RuleInfo, ...]
    unsafe: bool = False
    strategies: tuple[tuple[str, str], ...] = ()
    targets: tuple[Target, ...] = ()
    fix: bool = False
    changed: Changes | None = None
    """Findings elsewhere do not count."""
    wanted: Wanted = EVERY
    """Which findings count for what they cost."""
    named: NamedFindings = ALL_FINDINGS
    """Of which findings the fixes are taken. What is kept does not depend on it."""
    codes: tuple[str, ...] = ()
    """Of all rules, run or not."""
    silence: bool = False
    """Write comments that silence findings, instead of their fixes."""

    @property
    def overrides(self) -> dict[str, Target]:
        """The versions that hold whatever files say, by package."""
        return {target.package: target for target in self.targets}


@dataclass(frozen=True, slots=True)
class Task:
    """An order and the files it is for."""

    order: Order
    paths: tuple[str, ...]
    generated: bool = False
    """Read files that say a program wrote them."""
    kept: bool = False
    """Look for what was found before, and keep what is found."""
    profiled: bool = False
    """Workers say where their time went."""
    users: tuple[tuple[str, frozenset[str]], ...] | None = None
    """The files of the tree that may import packages of rules, with these, where the prefilter has read all files."""

    @property
    def cached(self) -> bool:
        """Whether that is done."""
        return self.kept and self.order.changed is None and not self.order.silence


@dataclass(frozen=True, slots=True)
class Planned:
    """What a worker answers: the plan of some files, what is worth remembering, and where its time went."""

    plan: Plan
    new: Sequence[Remembered] = ()
    profile: Profile = field(default_factory=Profile)


@dataclass(frozen=True, slots=True)
class Prefiltered:
    """What the prefilter leaves of some files."""

    wanted: tuple[tuple[str, int], ...]
    """Paths, with their numbers of lines."""
    unread: tuple[str, ...]
    """Those that cannot be read."""
    unsure: tuple[tuple[str, int], ...] = ()
    """Those that may hold a bug only if a file of the tree imports a package, with their numbers of lines."""
    users: tuple[tuple[str, frozenset[str]], ...] = ()
    """The files that may import packages of rules, with these."""


@cache
def _options(order: Order) -> Options:
    from codemods.engine.rounds import Options

    return Options(
        rules=order.rules,
        loaded=loaded,
        unsafe=order.unsafe,
        strategies=dict(order.strategies),
        targets=order.overrides,
        counts=order.changed.concern if order.changed is not None else None,
        wanted=order.wanted,
        taken=order.named,
        codes=order.codes,
        silence=order.silence,
    )


def prefilter_paths(task: Task, paths: Sequence[str], tick: Tick = lambda count: None) -> Prefiltered:
    """Those of a task's files that may hold a bug by their bytes; what a worker does first."""
    filtered = prefilter(task.order.rules)
    wanted: list[tuple[str, int]] = []
    unread: list[str] = []
    unsure: list[tuple[str, int]] = []
    users: list[tuple[str, frozenset[str]]] = []
    for path in paths:
        data = task.order.reader.read(path)
        if data is None:
            unread.append(path)
        else:
            look = filtered.first(path, sources.searchable(path, data))
            if look.packages:
                users.append((path, look.packages))
            surely = bool(look.rules) or MENTIONS in data
            if (surely or look.others) and (task.generated or not marked_generated(data)):
                lines = data.count(b"\n") + 1 if len(data) <= LARGEST else 1
                (wanted if surely else unsure).append((path, lines))
        tick(1)
    return Prefiltered(tuple(wanted), tuple(unread), tuple(unsure), tuple(users))


def plan_paths(
    task: Task, paths: Sequence[str], index: Index, memory: Memory | None = None, tick: Tick = lambda count: None
) -> Plan:
    """The plan of some of a task's files; what a worker does. Fixes may reach the task's other files.

    Args:
        index: what this run has found out about the tree in this process.
    """
    from codemods.engine import rounds

    gc.set_threshold(*COLLECT)
    return rounds.plan(
        paths,
        task.order.reader,
        _options(task.order),
        fix=task.order.fix,
        within=task.paths,
        index=index,
        memory=memory,
        tick=tick,
    )


def index_of(task: Task, recorder: Recorder = SILENT) -> Index:
    """A new index of the tree of a task."""
    from codemods.project.index import Index

    index = Index(task.order.reader, task.order.overrides, recorder=recorder, noting=task.cached)
    if task.users is not None:
        index.note_users(packages_of(task.order.rules), dict(task.users))
    return index


def work(task: Task, doing: str, paths: Sequence[str], index: Index, tick: Tick) -> Prefiltered | Planned:
    """What a worker process does with some of a task's files."""
    if doing == "prefilter":
        return prefilter_paths(task, paths)
    from codemods.project.results import Kept

    memory = Kept()
    index.recorder.profile = Profile()
    with index.recorder.phase("planning"):
        plan = plan_paths(task, paths, index, memory if task.cached else None, tick)
    return Planned(plan, memory.new, index.recorder.profile)


def steps(order: Order, plan: Plan) -> Iterator[tuple[Step, ...]]:
    """The plan as successive texts, one rule after the other, in groups of files with the same rules."""
    from codemods.engine.steps import series

    return series(plan, order.reader, _options(order))


def fixed_files(order: Order, findings: Sequence[Finding], index: Index) -> Mapping[str, bytes] | None:
    """The files that the fixes of some findings change, with no other fix; None where these give no program."""
    from codemods.engine.rounds import taken_alone

    units = {path for finding in findings for path in (finding.path, *(finding.fix.paths if finding.fix else ()))}
    return taken_alone(findings, units, order.reader, _options(order), index)


def run(
    tasks: Sequence[Task],
    *,
    jobs: int,
    why: Callable[[str], str] = lambda path: "could not be read",
    progress: Progress = no_progress,
    cache: Callable[[], Cache] | None = None,
    recorder: Recorder = SILENT,
    index: Callable[[Task], Index] | None = None,
) -> tuple[Plan, ...]:
    """The plan of each task.

    Args:
        jobs: how many processes at most; 0 means one for each processor, where the work is worth it.
        why: says why a path could not be read.
        cache: where to look for what was found before, and to keep it.
        index: what is known of the tree of a task; by default a new index.
    """
    processes = jobs or available()
    with Crew(processes) as crew:
        with progress("prefilter", sum(len(task.paths) for task in tasks)) as tick:
            started = [_Started(task, crew, cache, recorder, tick, index) for task in tasks]
        with progress("checking", sum(len(each.prefiltered.wanted) for each in started)) as tick:
            return tuple(each.plan(why, tick) for each in started)


class _Started:
    """A task on its way: the prefilter, what is remembered, and the rest."""

    def __init__(
        self,
        task: Task,
        crew: Crew,
        cache: Callable[[], Cache] | None,
        recorder: Recorder,
        tick: Tick,
        known: Callable[[Task], Index] | None,
    ) -> None:
        self.task, self.crew, self.recorder, self.tick, self._known = task, crew, recorder, tick, known
        self.past: Past | None = None
        self.memory: Kept | None = None
        self.whole: Plan | None = None
        few = len(task.paths) <= FEW_FILES
        paths: Sequence[str] = task.paths
        self.prefiltered = self._prefilter(paths) if few else Prefiltered((), ())
        if cache is not None and task.cached and (self.prefiltered.wanted or not few):
            with recorder.phase("cache"):
                paths = self._recall(cache(), paths)
        if self.whole is None and not few:
            tick(len(task.paths) - len(paths))
            self.prefiltered = self._prefilter(paths)
            if self.past is not None:
                with recorder.phase("cache"):
                    self.past.note_innocent(paths, self.prefiltered)
        elif self.memory is not None:
            left = tuple(each for each in self.prefiltered.wanted if each[0] not in self.memory.known)
            self.prefiltered = replace(self.prefiltered, wanted=left)

    def _recall(self, cache: Cache, paths: Sequence[str]) -> Sequence[str]:
        """Look for what was found before. Returns the paths of which nothing is known."""
        from fixer.run.cache import Past

        self.past = Past(cache, self.task)
        self.whole = self.past.whole(fix=self.task.order.fix)
        if self.whole is None and (paths := self.past.unknown(paths)):
            self.memory = self.past.memory(paths, self.index)
            paths = [path for path in paths if path not in self.memory.known]
        return paths

    @cached_property
    def index(self) -> Index:
        """Of the tree of the task; where no file may hold a bug, nobody asks."""
        with self.recorder.phase("importing"):
            return index_of(self.task, self.recorder) if self._known is None else self._known(self.task)

    def _prefilter(self, paths: Sequence[str]) -> Prefiltered:
        with self.recorder.phase("prefilter"):
            return self._prefiltered(paths)

    def _prefiltered(self, paths: Sequence[str]) -> Prefiltered:
        if self.crew.processes == 1 or len(paths) < ENOUGH_FILES:
            parts = [prefilter_paths(self.task, paths, self.tick)]
        else:
            chunks = [paths[at : at + AT_ONCE] for at in range(0, len(paths), AT_ONCE)]
            parts = self.crew.prefilter(self.task, chunks, self.tick)
        whole = Prefiltered(
            tuple(each for part in parts for each in part.wanted),
            tuple(path for part in parts for path in part.unread),
            tuple(each for part in parts for each in part.unsure),
            tuple(each for part in parts for each in part.users),
        )
        return self._with_unsure(whole, frozenset(paths)) if whole.unsure else whole

    def _with_unsure(self, first: Prefiltered, paths: frozenset[str]) -> Prefiltered:
        """The files that concern a rule about packages beside the others, where a file of the tree imports one."""
        rules = self.task.order.rules
        about = packages_of(rules)
        if paths.issuperset(path for path in self.task.order.reader.files() if sources.is_python(path)):
            self.task = replace(self.task, users=first.users)
            packages = frozenset(name for _, used in first.users for name in used)
        else:
            from codemods.project.dependencies import Using

            self.index.ask_together(about)
            packages = frozenset(name for name in about if self.index.found(Using("", (name,))))
        told = prefilter(tuple(rule for rule in rules if not packages.isdisjoint(rule.imports)))
        wanted = list(first.wanted)
        unsure: list[tuple[str, int]] = []
        for path, lines in first.unsure:
            data = self.task.order.reader.read(path) if packages else None
            concerned = data is not None and told.wanted(path, sources.searchable(path, data))
            (wanted if concerned else unsure).append((path, lines))
        return replace(first, wanted=tuple(wanted), unsure=tuple(unsure))

    def plan(self, why: Callable[[str], str], tick: Tick) -> Plan:
        """The plan of the whole task."""
        if self.whole is not None:
            return self.whole
        task, wanted, memory = self.task, self.prefiltered.wanted, self.memory
        remembered: list[Plan] = []
        if memory is not None and memory.known:
            remembered = [plan_paths(task, sorted(memory.known), self.index, memory)]
        lines = sum(count for _, count in wanted)
        parts: list[Plan] = []
        if wanted:
            with self.recorder.phase("importing"):
                import codemods.engine.rounds  # noqa: F401
        if self.crew.processes == 1 or len(wanted) < 2 or lines < ENOUGH_LINES:
            for chunk in _chunks(wanted, ENOUGH_LINES):
                parts.append(plan_paths(task, chunk, self.index, memory, tick))
        else:
            with self.recorder.phase("waiting"):
                found = self.crew.plan(task, _chunks(wanted, CHUNK_LINES), tick)
            for each in found:
                parts.append(each.plan)
                self.recorder.profile.add(each.profile)
                if memory is not None:
                    memory.new += each.new
        plan = _whole(task, [*remembered, *parts], lambda: self.index)
        unread = (Skip(path, SkipReason.UNREADABLE, why(path)) for path in self.prefiltered.unread)
        plan = replace(
            plan,
            skips=(*plan.skips, *unread),
            files_seen=len(task.paths),
            files_read=len(wanted) + (len(memory.known) if memory is not None else 0),
        )
        if self.past is not None:
            with self.recorder.phase("cache"):
                if memory is not None:
                    self.past.keep(memory, self.index)
                if not self.prefiltered.unread:
                    self.past.keep_whole(plan)
        return plan


def available() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _chunks(files: Iterable[tuple[str, int]], lines: int) -> list[tuple[str, ...]]:
    """Neighbouring files, about `lines` lines together; the largest chunks first."""
    chunks: list[list[tuple[str, int]]] = []
    size = lines
    for each in files:
        if size + each[1] > lines:
            chunks.append([])
            size = 0
        chunks[-1].append(each)
        size += each[1]
    chunks.sort(key=lambda chunk: -sum(count for _, count in chunk))
    return [tuple(path for path, _ in chunk) for chunk in chunks]


def _whole(task: Task, parts: Sequence[Plan], index: Callable[[], Index]) -> Plan:
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
    again = plan_paths(task, sorted(contested & set(task.paths)), index())
    rest = [file for file in plan.files if file.path not in contested]
    return merge(
        [
            replace(
                plan,
                files=tuple(rest),
                skips=tuple(skip for skip in plan.skips if skip.path not in contested),
                unused=tuple(unused for unused in plan.unused if unused.path not in contested),
                suppressed=tuple(one for one in plan.suppressed if one.path not in contested),
                other_versions=tuple(other for other in plan.other_versions if other.path not in contested),
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
        skips=tuple(sorted(dict.fromkeys(chain.from_iterable(plan.skips for plan in plans)), key=lambda s: s.path)),
        projects=tuple(projects[root] for root in sorted(projects)),
        unused=tuple(sorted(dict.fromkeys(chain.from_iterable(plan.unused for plan in plans)), key=lambda u: u.path)),
        suppressed=tuple(sorted({one for plan in plans for one in plan.suppressed})),
        other_versions=tuple(sorted({other for plan in plans for other in plan.other_versions})),
        files_seen=sum(plan.files_seen for plan in plans),
        files_read=sum(plan.files_read for plan in plans),
        components=tuple(dict.fromkeys(chain.from_iterable(plan.components for plan in plans))),
    )
