"""Which files get which orders, and their plan: the same road for a work tree and for a commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.model.plan import UPGRADE
from codemods.model.profile import SILENT
from codemods.sources.files import by_directory
from fixer.errors import Refusal
from fixer.project import selectors
from fixer.project.configuration import Settings
from fixer.project.discover import select
from fixer.project.globs import anchored, matcher
from fixer.run import cache_directory
from fixer.run.execute import Order, Progress, Task, merge, run
from fixer.run.request import Comparison, Outcome, Request
from fixer.run.rule_index import rule_infos

if TYPE_CHECKING:
    from codemods.model.plan import Plan
    from codemods.project.index import Index
    from codemods.sources.document import Reader
    from fixer.git.changes import Changes
    from fixer.run.cache import Cache


def plan_listing(
    request: Request,
    arguments: Sequence[str],
    reader: Reader,
    *,
    listed: Callable[[], Sequence[str]] | None = None,
    changed: Changes | None = None,
    root: Path,
    configuration: Callable[[str], Settings],
    is_file: Callable[[str], bool],
    vendored: Callable[[Sequence[str]], frozenset[str]],
    why: Callable[[str], str],
    fix: bool,
    progress: Progress,
    index: Callable[[Task], Index] | None = None,
) -> Outcome:
    """The plan of those files of `reader` that lie at or below `arguments`, each with the settings of its directory.

    Args:
        listed: the files below a directory are among these; by default all of `reader`.
        changed: plan for these changes only.
        index: what is known of the tree by now; by default nothing.
    """
    recorder = request.recorder
    with recorder.phase("rules"):
        options = _Options(request, changed)
    ours = configuration("")
    try:
        excluded = matcher([*(anchored(pattern, "") for pattern in request.exclude), *ours.exclude])
    except ValueError as error:
        raise Refusal(f"--exclude: {error}") from error
    include_vendored = request.include_vendored or ours.include_vendored
    with recorder.phase("selecting"):
        chosen = select(
            listed or reader.files,
            arguments,
            is_file=is_file,
            excluded=excluded,
            include_vendored=include_vendored,
            vendored=vendored,
        )
        paths = chosen.paths if changed is None else [path for path in chosen.paths if path in changed.lines]
        tasks, troubles = _tasks(
            paths,
            options,
            configuration,
            reader,
            fix=fix,
            generated=include_vendored,
            kept=request.cache,
            profiled=recorder is not SILENT,
        )

    @cache
    def kept() -> Cache:
        from fixer.run.cache import Cache

        return Cache(cache_directory.directory(), request.held)

    with recorder.phase("planning"):
        plans = run(tasks, jobs=request.jobs, why=why, progress=progress, cache=kept, recorder=recorder, index=index)
    selectors.check_fingerprints(request.only, [finding for plan in plans for finding in plan.findings])
    known = _compared(request, tasks, plans, reader, arguments)
    plans = tuple(_without_others(plan, task.order) for task, plan in zip(tasks, plans, strict=True))
    plan = merge(plans)
    if changed is not None:
        here = changed.touch
        plan = replace(plan, unused=tuple(each for each in plan.unused if here(each.path, each.line, each.line)))
    recorder.stage("seen", plan.files_seen)
    recorder.stage("prefiltered", plan.files_read)
    recorder.stage("found", sum(1 for file in plan.files if file.findings))
    return Outcome(
        root=root,
        plan=plan,
        settings=ours,
        parts=tuple((task.order, plan) for task, plan in zip(tasks, plans, strict=True)),
        problems=tuple(dict.fromkeys((*chosen.problems, *troubles))),
        vendored=chosen.vendored,
        read=reader.read,
        unsafe=frozenset(path for task in tasks if task.order.unsafe for path in task.paths),
        known=known,
    )


def _without_others(plan: Plan, order: Order) -> Plan:
    """The plan without the findings that do not count for their fingerprints."""
    if order.named == selectors.ALL_FINDINGS:
        return plan
    files = (replace(file, findings=tuple(filter(order.named, file.findings))) for file in plan.files)
    return replace(plan, files=tuple(file for file in files if file.findings or file.changed))


def _compared(
    request: Request, tasks: Sequence[Task], plans: Sequence[Plan], reader: Reader, arguments: Sequence[str]
) -> Comparison | None:
    """What was found of a baseline. An entry is gone if its rule looked at its file, or the file is gone."""
    if request.baseline is None:
        return None
    entries = frozenset(request.baseline.findings)
    named = {entry.fingerprint for entry in entries}
    found = {finding.fingerprint for plan in plans for finding in plan.findings}
    hidden = sum(finding.fingerprint in named for plan in plans for finding in plan.findings)
    found |= {other.fingerprint for plan in plans for other in plan.other_versions}
    if request.since is not None or request.only or any(task.order.wanted != selectors.EVERY for task in tasks):
        return Comparison(request.baseline.name, hidden, 0)
    looked = {path: {rule.code for rule in task.order.rules} for task in tasks for path in task.paths}
    skipped = {skip.path for plan in plans for skip in plan.skips}
    below = tuple(f"{argument}/" if argument else "" for argument in arguments)
    gone = 0
    for entry in (entry for entry in entries if entry.fingerprint not in found):
        if entry.path in looked:
            gone += entry.code in looked[entry.path] and entry.path not in skipped
        else:
            gone += entry.path.startswith(below) and not reader.exists(entry.path)
    return Comparison(request.baseline.name, hidden, gone)


def _tasks(
    paths: Iterable[str],
    options: _Options,
    configuration: Callable[[str], Settings],
    reader: Reader,
    *,
    fix: bool,
    generated: bool,
    kept: bool,
    profiled: bool,
) -> tuple[list[Task], list[str]]:
    """What is to be done, files with equal orders together; and a sentence for each configuration that is broken."""
    groups: dict[Order, list[str]] = {}
    problems: list[str] = []
    known: dict[int, tuple[Settings, _Local | None]] = {}
    for directory, inside in by_directory(paths).items():
        try:
            settings = configuration(directory)
            if id(settings) not in known:  # nearly all directories have those of another one
                known[id(settings)] = settings, None
                known[id(settings)] = settings, _Local(options, settings, reader, fix=fix)
        except Refusal as refusal:
            problems.append(str(refusal))
            continue
        if (local := known[id(settings)][1]) is not None:
            left = [path for path in inside if not local.excludes(path)]
            for order, some in groupby(left, local.order):
                groups.setdefault(order, []).extend(some)
    return [Task(order, tuple(sorted(inside)), generated, kept, profiled) for order, inside in groups.items()], problems


class _Options:
    """The options of the command line, checked once, to be laid over the settings of each directory."""

    def __init__(self, request: Request, changed: Changes | None) -> None:
        self._request, self._changed = request, changed
        known = request.baseline.findings if request.baseline is not None else ()
        self._named = selectors.NamedFindings(request.only, frozenset(each.fingerprint for each in known))
        self._rules = rule_infos(cache_directory.directory() if request.cache else None)
        self._codes = tuple(rule.code for rule in self._rules)
        selectors.check_codes(request.select, self._rules, "--add-ignore" if request.silence else "--select")
        selectors.check_codes(request.ignore, self._rules, "--ignore")
        self._strategies = selectors.pairs(request.strategies, "--strategy")
        selectors.check_strategies(self._strategies, self._rules, "--strategy")

    def order(self, settings: Settings, reader: Reader, *, fix: bool) -> Order:
        """What to do in a directory with these settings.

        Raises:
            Refusal: if the settings name rules or strategies that do not exist.
        """
        request, where = self._request, settings.sources[-1] if settings.sources else ""
        selectors.check_codes(settings.select or (), self._rules, f"{where}: select")
        selectors.check_codes(settings.ignore, self._rules, f"{where}: ignore")
        for _, codes in settings.per_file_ignores:
            selectors.check_codes(codes, self._rules, f"{where}: per-file-ignores")
        selectors.check_strategies(settings.strategies, self._rules, f"{where}: strategies")
        rules = selectors.enabled(
            self._rules,
            select=settings.select,
            ignore=settings.ignore,
            more_select=request.select,
            more_ignore=request.ignore,
        )
        carried = any(target.source == UPGRADE for target in request.targets)
        return Order(
            reader=reader,
            rules=tuple(rule for rule in rules if carried or not rule.upgrading),
            unsafe=settings.unsafe_fixes if request.unsafe_fixes is None else request.unsafe_fixes,
            strategies=tuple(sorted({**settings.strategies, **self._strategies}.items())),
            targets=tuple({**settings.targets, **{target.package: target for target in request.targets}}.values()),
            fix=fix,
            changed=self._changed,
            named=self._named,
            codes=self._codes,
            silence=request.silence,
            wanted=selectors.wanted(request.select or settings.select or (), (*settings.ignore, *request.ignore)),
        )


class _Local:
    """What is to be done in one directory."""

    def __init__(self, options: _Options, settings: Settings, reader: Reader, *, fix: bool) -> None:
        self.excludes = matcher(settings.exclude)
        self._order = options.order(settings, reader, fix=fix)
        self._ignores = [(matcher([pattern]), codes) for pattern, codes in settings.per_file_ignores]

    def order(self, path: str) -> Order:
        """The order for one file: rules that `per-file-ignores` turns off there do not run."""
        ignored = tuple(code for covers, codes in self._ignores if covers(path) for code in codes)
        if not ignored:
            return self._order
        return replace(
            self._order, rules=tuple(rule for rule in self._order.rules if not rule.code.startswith(ignored))
        )
