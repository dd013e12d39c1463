"""From files and rules to a Plan: rounds of edits to a fixpoint, over components of files. Knows no rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from codemods.engine.check_document import look_at_document
from codemods.engine.check_python import look
from codemods.engine.findings import located, with_places
from codemods.engine.prefilter import RuleInfo, packages_of, prefilter
from codemods.model.edits import (
    Edit,
    Evidence,
    Finding,
    Lines,
    Safety,
    Skip,
    SkipReason,
    map_back,
    select,
    splice,
)
from codemods.model.plan import (
    Change,
    FilePlan,
    OtherVersions,
    Plan,
    Project,
    SuppressedFinding,
    Target,
    UnusedSuppression,
)
from codemods.project.index import Index
from codemods.project.results import Memory, Remembered
from codemods.rules.rule import Rule
from codemods.sources import files
from codemods.sources.document import Reader, Unit
from codemods.syntax import imports, suppress
from codemods.syntax.facts import Facts, gather

ROUNDS = 10
"""After so many rounds a file that still changes is left as it was."""


@dataclass(frozen=True)
class Options:
    """What to look for, and how far to go."""

    rules: tuple[Rule | RuleInfo, ...]
    unsafe: bool = False
    strategies: Mapping[str, str] = field(default_factory=dict)
    targets: Mapping[str, str | Target] = field(default_factory=dict)
    counts: Callable[[Finding, Callable[[str], str | None]], bool] | None = None
    """Whether a finding is wanted; it and the texts are as the files were read."""
    wanted: Callable[[Finding], bool] = lambda finding: True
    """Whether a finding is wanted for what it is."""
    taken: Callable[[Finding], bool] = lambda finding: True
    """Whether the fix of a finding may be taken; the finding is told in any case."""
    codes: tuple[str, ...] = ()
    """Of all rules, run or not, to tell mistyped ones in comments."""
    silence: bool = False
    """Instead of repairing findings, write comments that silence them."""
    loaded: Callable[[Any], Rule] = lambda rule: rule
    """The rule behind what `rules` tells of it; asked for only where a file concerns it."""


def plan(
    paths: Sequence[str],
    reader: Reader,
    options: Options,
    *,
    fix: bool,
    within: Collection[str] | None = None,
    index: Index | None = None,
    memory: Memory | None = None,
    tick: Callable[[int], None] = lambda count: None,
) -> Plan:
    """Find what the rules speak of in `paths`; with `fix`, take every fix of sufficient safety, to a fixpoint.

    Files outside `within` (by default: `paths`) are read where a question leads there, never changed.

    Args:
        index: of the same reader and targets, with what it has found for other paths.
        memory: where to look for what was found before, and to keep it.
        tick: told of each path that is done.
    """
    allowed = frozenset(paths if within is None else within)
    index = Index(reader, options.targets, noting=memory is not None) if index is None else index
    assert memory is None or index.questions.wanted, "what is remembered needs the questions that led there"
    index.searched_together = tuple(sorted({literal for rule in options.rules for literal in rule.somewhere}))
    index.ask_together(packages_of(options.rules))
    owner: dict[str, frozenset[str]] = {}
    done: dict[frozenset[str], _Component] = {}
    known: dict[str, Remembered] = {}
    for path in _units(paths, reader, options.rules, tick):
        if path in owner:
            continue
        if memory and (remembered := memory.recall(path)) and remembered.holds(index):
            if not (fix and any(_is_wanted(finding, options, allowed) for finding in remembered.findings)):
                known[path] = remembered
                continue
        group, wider = frozenset[str](), frozenset({path})
        with index.questions.noted() as asked:
            while wider != group:
                group = wider
                component = _Component(sorted(group), reader, index, options, allowed, fix)
                reached = group | component.settle()
                wider = reached.union(*(owner[p] for p in reached if p in owner))
        for absorbed in {owner[p] for p in group if p in owner}:
            del done[absorbed]
        owner |= dict.fromkeys(group, group)
        done[group] = component
        found = component.unchanged() if memory else None
        if memory and found and not (fix and any(_is_wanted(f, options, allowed) for f in found.findings)):
            memory.keep(found.with_questions(asked, index))
    members = [member for component in done.values() for member in component.files]
    by_file: dict[str, list[_File]] = {}
    for member in sorted(members, key=lambda m: m.path):
        by_file.setdefault(files.container(member.path), []).append(member)
    plans = [file for path, units in sorted(by_file.items()) if (file := _whole(path, units)) is not None]
    before = [each for path, each in known.items() if path not in owner]
    plans = sorted((*plans, *(_as_it_is(each, reader) for each in before if each.read)), key=lambda file: file.path)
    return Plan(
        files=tuple(f for f in plans if f.findings or f.changed),
        skips=tuple(sorted(dict.fromkeys(s for each in (members, before) for m in each for s in m.skips), key=_path)),
        projects=_projects(index, (f.path for f in plans)),
        unused=tuple(sorted((unused for each in (members, before) for m in each for unused in m.unused), key=_path)),
        suppressed=tuple(sorted({one for each in (members, before) for m in each for one in m.suppressed})),
        other_versions=tuple(sorted({other for each in (members, before) for m in each for other in m.other_versions})),
        files_seen=len(paths),
        files_read=len(plans),
        components=tuple(tied for g in done if len(tied := frozenset(map(files.container, g))) > 1),
    )


def _path(told: Skip | UnusedSuppression) -> str:
    return told.path


def _place(finding: Finding) -> tuple[int, int, int, int, str]:
    there = finding.reported
    return finding.cell or 0, there.line, there.column, there.end, finding.code


def _identity(finding: Finding) -> tuple[str, str, int, int]:
    return finding.code, finding.claim, finding.reported.start, finding.reported.end


def _is_wanted(finding: Finding, options: Options, allowed: Collection[str]) -> bool:
    """Whether a finding's fix is to be taken."""
    least = Safety.UNSAFE if options.unsafe else Safety.SAFE
    if finding.fix is None or finding.safety < least or not options.taken(finding):
        return False
    return all(files.container(path) in allowed for path in finding.fix.paths)


def _as_it_is(remembered: Remembered, reader: Reader) -> FilePlan:
    data = reader.read(remembered.path) or b"" if remembered.findings else b""
    return FilePlan(remembered.path, data, data, remembered.findings)


def _units(
    paths: Sequence[str], reader: Reader, rules: Sequence[Rule | RuleInfo], tick: Callable[[int], None]
) -> Iterator[str]:
    """The programs in the files, those of a notebook one by one."""
    for path in paths:
        data = reader.read(path) if path.endswith(files.NOTEBOOK) else None
        if data is not None and prefilter(tuple(rules)).wanted(path, files.searchable(path, data)):
            yield from files.units(path, data)
        else:
            yield path
        tick(1)


def _whole(path: str, units: Sequence[_File]) -> FilePlan | None:
    """One file from its units: their texts put into its bytes one after the other."""
    read = [unit for unit in units if unit.source is not None]
    if not read:
        return None
    before = after = read[0].data
    for unit in read:
        after = unit.put_into(after)
    findings = [finding for unit in read for finding in unit.findings()]
    findings.sort(key=_place)
    changes = tuple(change for unit in read for change in unit.changes)
    return FilePlan(path, before, after, tuple(findings), changes, all(unit.at_once for unit in read))


def _projects(index: Index, paths: Iterable[str]) -> tuple[Project, ...]:
    found = {project.root: project for project in map(index.project, paths)}
    return tuple(found[root] for root in sorted(found))


def with_fixes(
    whole: Plan, codes: Collection[str], reader: Reader, options: Options, index: Index
) -> Mapping[str, bytes] | None:
    """The changed files of a plan with no fixes but those that some rules asked for, all taken in one round.

    Returns:
        None where these give no program, or reach into a notebook.
    """
    paths = [file.path for file in whole.changed]
    if any(path.endswith(files.NOTEBOOK) for path in paths):
        return None
    return taken_alone([f for f in whole.findings if f.applied and f.code in codes], paths, reader, options, index)


def taken_alone(
    findings: Sequence[Finding], units: Collection[str], reader: Reader, options: Options, index: Index
) -> Mapping[str, bytes] | None:
    """The files that hold some units, after the fixes of some findings and no others, all taken in one round.

    Returns:
        None where these give no program.
    """
    component = _Component(sorted(units), reader, index, options, frozenset(units), fix=True)
    if isinstance(component.take(findings, index), str):
        return None
    after: dict[str, bytes] = {}
    for file in component.files:
        after[file.file] = file.put_into(after.get(file.file, file.data))
    return after


class _File:
    """One unit (a file, or a program within one) on its way through the rounds."""

    def __init__(self, path: str, reader: Reader, options: Options, *, reached: bool) -> None:
        """`reached`: a fix of another file may lead here, whatever the triggers say."""
        self.path = path
        self.rules = options.rules
        self.skips: list[Skip] = []
        self.unused: list[UnusedSuppression] = []
        self.suppressed: list[SuppressedFinding] = []
        self.other_versions: list[OtherVersions] = []
        self.applied: list[Finding] = []
        self.changes: list[Change] = []
        self.rounds: list[list[Edit]] = []
        self.at_once = True
        """No fix had to wait for another one, here or in a file that is tied to this one."""
        self.remaining: list[Finding] = []
        self.first: list[Finding] = []
        """What was found in the file as it was read."""
        self.fingerprints: dict[tuple[str, str, int, int], str] = {}
        """Of everything that was found there, by code, message and place: the fixes of one round leave fewer equal
        findings to number in the next one.
        """
        self.source: Unit | None = None
        self.data = b""
        self.text = ""
        self.file = files.container(path)
        data = reader.read(self.file)
        if data is None:
            self.skips.append(Skip(path, SkipReason.UNREADABLE, "cannot be read"))
            return
        if not (reached or suppress.MARK in data):
            if not prefilter(self.rules).concerns(self.file, files.searchable(self.file, data)):
                return
        source = files.decode(path, data)
        if isinstance(source, Skip):
            self.skips.append(replace(source, path=self.file))
            return
        self.skips += (Skip(self.file, SkipReason.UNPARSABLE, note) for note in source.notes)
        self.data, self.source, self.text = data, source, source.text

    def findings(self) -> Iterator[Finding]:
        """What was fixed and what remains, each at its place in the file as it was read."""
        yield from map(self.located, (*self.applied, *self.remaining))

    def located(self, finding: Finding) -> Finding:
        """A finding with its cell, if this is a notebook, and its place there."""
        assert self.source is not None
        return located(finding, self.source, self.path)

    def line(self, number: int) -> int:
        """The line of the file that is line `number` of the unit as it was read."""
        assert self.source is not None
        return self.source.file_line(Lines(self.source.text).starts[number - 1])

    def put_into(self, data: bytes) -> bytes:
        """The bytes of the file with the unit's text of now; the other units may have put theirs in before."""
        if not self.rounds:
            return data
        source = self.source if data == self.data else files.decode(self.path, data)
        assert source is not None and not isinstance(source, Skip)
        return source.encode(self.text)

    def revert(self, skip: Skip) -> None:
        """Leave the file as it was read; what was found stays reported."""
        assert self.source is not None
        self.text = self.source.text
        self.skips.append(skip)
        self.remaining = self.first
        self.applied, self.changes, self.rounds = [], [], []

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Where a span of the current text lay in the file as it was read."""
        for edits in reversed(self.rounds):
            start, end = map_back(start, edits), map_back(end, edits, end=end > start)
        return start, max(start, end)

    def original_of(self, edit: Edit) -> Edit:
        """An edit of the current text, with the span it has in the file as it was read."""
        start, end = self.original(edit.start, edit.end)
        return replace(edit, start=start, end=end)

    def refuses(self, text: str) -> str:
        """Why the file cannot hold a text; "" if it can."""
        assert self.source is not None
        try:
            self.source.encode(text)
        except UnicodeEncodeError:
            return "the file's encoding cannot hold the new text"
        except ValueError as error:
            return str(error)
        return ""


class _Component:
    """Files tied by fixes, brought to their fixpoint together."""

    def __init__(
        self,
        paths: Sequence[str],
        reader: Reader,
        index: Index,
        options: Options,
        allowed: frozenset[str],
        fix: bool,
    ) -> None:
        self.options, self.allowed, self.fix, self.index = options, allowed, fix, index
        self.files = [_File(path, reader, options, reached=len(paths) > 1) for path in paths]
        self.failed: set[tuple[str, str]] = set()
        """Code and path of rules whose fixes give no program there: no more of them are taken."""
        self.by_path = {f.path: f for f in self.files}

    def settle(self) -> frozenset[str]:
        """Run the rounds. Returns the paths beyond this component that a fix reaches (then it must be widened)."""
        seen = [self._texts()]
        index = self.index
        round_number = 0
        while True:
            findings = [f for file in self.files for f in self._look(file, index, round_number)]
            if not self.fix:
                return frozenset()
            wanted = [f for f in findings if _is_wanted(f, self.options, self.allowed)]
            if beyond := frozenset(p for f in wanted if f.fix for p in f.fix.paths) - self.by_path.keys():
                return beyond
            step = self._step(wanted, index)
            if step is None:
                return frozenset()
            taken, index = step
            if round_number or len(taken) < len(wanted):
                for file in self.files:
                    file.at_once = False
            if self._texts() in seen or round_number == ROUNDS:
                codes = ", ".join(sorted({f.code for f in taken}))
                self._revert(SkipReason.UNSETTLED, f"fixes of {codes} do not come to rest; nothing was changed")
                return frozenset()
            seen.append(self._texts())
            round_number += 1

    def unchanged(self) -> Remembered | None:
        """What was found, if this is one file, looked at as a whole, that stayed as it was."""
        (file, *others) = self.files
        if others or file.rounds or file.path.endswith(files.NOTEBOOK) or file.path != file.file:
            return None
        found = tuple(sorted(file.findings(), key=_place)) if file.source is not None else ()
        beside = tuple(file.skips), tuple(file.unused), tuple(file.suppressed), tuple(file.other_versions)
        return Remembered(file.path, file.source is not None, found, *beside)

    def _texts(self) -> dict[str, str]:
        return {f.path: f.text for f in self.files}

    def _revert(self, reason: SkipReason, detail: str) -> None:
        for file in self.files:
            file.revert(Skip(file.path, reason, detail))

    def _look(self, file: _File, index: Index, round_number: int) -> list[Finding]:
        """All findings in the current text of a file."""
        if file.source is None:
            return []
        data = file.text.encode("utf-8", "surrogatepass")
        python, document = files.is_python(file.path), files.is_document(file.path)
        imported: dict[tuple[str, ...], bool] = {(): True}

        def speaks_of(rule: Rule | RuleInfo) -> bool:
            if rule.imports not in imported:
                imported[rule.imports] = not python or bool(index.using(file.path, rule.imports))
            return imported[rule.imports]

        wanted = prefilter(file.rules).wanted(file.path, data, speaks_of)
        spoken = [r for r in wanted if not r.somewhere or index.search(file.path, r.somewhere)] if python else []
        findings: list[Finding] = []
        skips: list[Skip] = []
        for looks, concerned in ((look, spoken), (look_at_document, wanted if document else [])):
            if concerned:
                rules = list(map(self.options.loaded, concerned))
                found, refused = looks(file.path, file.text, index, rules, self.options.strategies)
                findings += found
                skips += refused
        comments = suppress.read(file.text, python=python, foreign=bool(findings))
        kept, silenced, unused = suppress.apply(
            file.file, comments, findings, (r.code for r in file.rules), self.options.codes
        )
        file.skips += [s for s in skips if s not in file.skips]
        if not round_number:
            file.fingerprints = {_identity(f): f.fingerprint for f in kept}
            file.suppressed = [
                self._suppressed(file, f) for f in silenced if not f.unaffected and self._counts(file, f)
            ]
        else:
            lines = Lines(file.source.text)
            kept = [replace(f, origin=lines.place(*file.original(f.place.start, f.place.end))) for f in kept]
            kept = [replace(f, fingerprint=file.fingerprints.get(_identity(f), f.fingerprint)) for f in kept]
            kept = [with_places(f, self._shown_as_read) for f in kept]
        kept = [f for f in kept if self._counts(file, f)]
        others = [OtherVersions(file.file, f.code, f.fingerprint, f.unaffected) for f in kept if f.unaffected]
        kept = [f for f in kept if not f.unaffected]
        if self.options.silence:
            ends = suppress.line_ends(file.text) if kept and python else {}
            kept = [replace(f, fix=suppress.commented(f, ends), safety=Safety.SAFE) for f in kept]
        if round_number == 0:
            file.first, file.unused = kept, [] if skips else [replace(u, line=file.line(u.line)) for u in unused]
            file.other_versions = others
        file.remaining = [self._as_read(f) for f in kept]
        return kept

    def _counts(self, file: _File, finding: Finding) -> bool:
        """Whether a finding is told."""
        counts = self.options.counts
        if not self.options.wanted(finding):
            return False
        return counts is None or counts(file.located(self._as_read(finding)), self._as_it_was)

    def _suppressed(self, file: _File, finding: Finding) -> SuppressedFinding:
        line = file.line(finding.place.line)
        return SuppressedFinding(file.file, line, finding.code, finding.fingerprint)

    def _shown_as_read(self, evidence: Evidence) -> Evidence:
        """A piece of evidence with its line in the file as it was read."""
        file = self.by_path.get(evidence.path)
        if file is None or file.source is None or not file.rounds:
            return evidence
        starts = Lines(file.text).starts
        start = file.original(starts[evidence.line - 1], starts[evidence.line - 1])[0]
        return replace(evidence, line=Lines(file.source.text).position(start)[0])

    def _as_it_was(self, path: str) -> str | None:
        """The text of a file as it was read, if it is one of these."""
        file = self.by_path.get(path)
        return file.source.text if file and file.source else None

    def _as_read(self, finding: Finding) -> Finding:
        """A finding with its fix in coordinates of the files as they were read."""
        if finding.fix is None:
            return finding
        edits = (self.by_path[e.path].original_of(e) if e.path in self.by_path else e for e in finding.fix.edits)
        return replace(finding, fix=replace(finding.fix, edits=tuple(edits)))

    def _step(self, wanted: Sequence[Finding], index: Index) -> tuple[Sequence[Finding], Index] | None:
        """Take as many of the fixes as together give programs; None where there are none.

        A rule whose fix alone gives none is set aside for that file: it costs nobody else.
        """
        while taken := select(f for f in wanted if (f.code, f.path) not in self.failed)[0]:
            derived = self.take(taken, index)
            while isinstance(derived, str) and len(taken) > 1:
                taken = taken[: len(taken) // 2]
                derived = self.take(taken, index)
            if isinstance(derived, Index):
                return taken, derived
            first = taken[0]
            self.failed.add((first.code, first.path))
            detail = f"a fix of {first.code} would not give a program: {derived}"
            self.by_path[first.path].skips.append(Skip(first.path, SkipReason.RULE_FAILED, detail))
        return None

    def take(self, taken: Sequence[Finding], index: Index) -> Index | str:
        """Apply one round's fixes; or, with nothing changed, why the result is no program."""
        edits: dict[str, list[Edit]] = {}
        changes: dict[str, list[Change]] = {}
        for finding in taken:
            for edit in finding.fix.edits if finding.fix else ():
                edits.setdefault(edit.path, []).append(edit)
                there = self.by_path[edit.path].original_of(edit)
                changes.setdefault(edit.path, []).append(Change(finding.code, there, finding.message, finding.safety))
        as_read = [self._as_read(finding) for finding in taken]
        texts: dict[str, tuple[str, Facts | None]] = {}
        for path, mine in edits.items():
            file = self.by_path[path]
            try:
                text = splice(file.text, mine)
            except ValueError as error:
                return str(error)
            facts = gather(path, text) if files.is_python(path) else None
            document = files.read(path, text) if files.is_document(path) else None
            for read in (facts, document):
                if isinstance(read, Skip):
                    return read.detail
            if why := file.refuses(text):
                return why
            texts[path] = (text, facts if isinstance(facts, Facts) else None)
        for path, (text, after) in texts.items():
            file, before = self.by_path[path], index.facts(path) if after else None
            old, file.text = file.text, text
            file.changes += changes[path]
            file.rounds.append(sorted(set(edits[path])))
            if before is not None and after is not None:
                after = self._drop_orphans(file, old, before, after, taken, index)
            texts[path] = (file.text, after)
        for finding in as_read:
            self.by_path[finding.path].applied.append(replace(finding, applied=True))
        return index.derive(texts)

    def _drop_orphans(
        self, file: _File, old: str, before: Facts, after: Facts, taken: Sequence[Finding], index: Index
    ) -> Facts:
        """Remove the imports whose last use this round's edits took."""
        candidates = imports.orphans(file.path, before, after, file.text)
        assert file.source is not None
        unused = candidates - file.source.unread
        names = frozenset(name for name in unused if not index.imported_elsewhere(file.path, name))
        if not names:
            return after
        from codemods.syntax import unused_imports

        edits = unused_imports.without(file.path, file.text, names)
        text = splice(file.text, edits)
        facts = gather(file.path, text)
        if isinstance(facts, Skip) or file.refuses(text):
            return after
        word = re.compile(r"\b(" + "|".join(map(re.escape, names)) + r")\b")
        here = [(f, e) for f in taken if f.fix for e in f.fix.edits if e.path == file.path]
        cause = next((f for f, e in here if word.search(old[e.start : e.end])), here[0][0])
        for edit in edits:
            file.changes.append(Change(cause.code, file.original_of(edit), cause.message, cause.safety))
        file.text = text
        file.rounds.append(sorted(edits))
        return facts
