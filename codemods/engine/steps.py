"""The plan as a series of texts, one rule after the other: what the commits of a branch hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codemods.engine.rounds import Options, plan, with_fixes
from codemods.model.edits import Finding
from codemods.model.plan import FilePlan, Plan
from codemods.project.index import Index
from codemods.sources.document import Reader

Texts = Mapping[str, bytes]


@dataclass(frozen=True)
class Step:
    """What one commit holds: the files' contents after the rules of this and all earlier steps."""

    codes: tuple[str, ...]
    files: Texts
    findings: tuple[Finding, ...]


def series(whole: Plan, reader: Reader, options: Options) -> Iterator[tuple[Step, ...]]:
    """The steps of a plan, in groups of files in which the same rules change something.

    Files that share no fix do not depend on each other's new text: what a rule does in one of them is told without a
    look at the others.
    """
    tied = {path: component for component in whole.components for path in component}
    members: dict[frozenset[str], list[FilePlan]] = defaultdict(list)
    for file in whole.files:
        members[tied.get(file.path, frozenset({file.path}))].append(file)
    groups: dict[tuple[tuple[str, ...], bool], list[FilePlan]] = defaultdict(list)
    for files in members.values():
        codes = _codes(finding for file in files for finding in file.findings)
        groups[codes, all(file.at_once for file in files)] += files
    index = Index(reader, options.targets)
    for _, files in sorted(groups.items(), key=lambda group: group[0]):
        if any(file.changed for file in files):
            files.sort(key=lambda file: file.path)
            yield steps(replace(whole, files=tuple(files)), reader, options, index)


def steps(whole: Plan, reader: Reader, options: Options, index: Index | None = None) -> tuple[Step, ...]:
    """The plan as a series of commits, one per rule, in order of code.

    The text after the rules r1…rk is the plan of those rules alone, to their fixpoint, imports included. Where no fix
    had to wait for another one, each rule's fixes are taken from the plan; else the rules are planned again. Where the
    last such text would differ from the plan of all rules, or one in between would not parse, the rules share a step.

    Args:
        index: of the files as `reader` has them.
    """
    codes = _codes(whole.findings)
    final = {file.path: file.after for file in whole.changed}
    applied = tuple(finding for finding in whole.findings if finding.applied)
    if not final:
        return ()
    if len(codes) > 1:
        again = _Again(whole, reader, options, Index(reader, options.targets) if index is None else index)
        for after in (again.taken, again.planned):
            if after(codes) == final:
                return tuple(_one_by_one(whole, codes, after))
    return (Step(codes, final, applied),)


def _codes(findings: Iterator[Finding] | Sequence[Finding]) -> tuple[str, ...]:
    return tuple(sorted({finding.code for finding in findings if finding.applied}))


@dataclass(frozen=True)
class _Again:
    """The changed files after some of the rules; None where that cannot be said."""

    whole: Plan
    reader: Reader
    options: Options
    index: Index

    def taken(self, codes: Collection[str]) -> Texts | None:
        """With those fixes of the plan that these rules asked for."""
        if not all(file.at_once for file in self.whole.changed):
            return None
        return with_fixes(self.whole, codes, self.reader, self.options, self.index)

    def planned(self, codes: Collection[str]) -> Texts | None:
        """With the fixes that these rules find, with no other rule."""
        rules = tuple(rule for rule in self.options.rules if rule.code in codes)
        paths = [file.path for file in self.whole.changed]
        found = plan(paths, self.reader, replace(self.options, rules=rules), fix=True, index=self.index)
        if not set(found.skips) <= set(self.whole.skips):
            return None
        before = {file.path: file.before for file in self.whole.changed}
        return before | {file.path: file.after for file in found.changed}


def _one_by_one(whole: Plan, codes: Sequence[str], after: Callable[[Collection[str]], Texts | None]) -> Iterator[Step]:
    final = {file.path: file.after for file in whole.changed}
    previous = {file.path: file.before for file in whole.changed}
    waiting: list[str] = []
    for number, code in enumerate(codes, start=1):
        waiting.append(code)
        last = number == len(codes)
        files = final if last else after(codes[:number])
        if files is None or (number == len(codes) - 1 and files == final):
            continue
        changed = {path: data for path, data in files.items() if data != previous[path]}
        if changed or last:
            findings = tuple(each for each in whole.findings if each.applied and each.code in waiting)
            yield Step(tuple(waiting), changed, findings)
            previous.update(changed)
            waiting = []
