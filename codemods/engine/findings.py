"""From a check's draft to a finding: versions weighed, a fingerprint, and the fix as edits of its files."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from codemods.analysis.pinned_in_code import keeps, no_code_pins_another_release
from codemods.engine import safety as judged
from codemods.flow.answers import Answer, unknown, unless
from codemods.model.edits import (
    Certainty,
    Consequence,
    Edit,
    Evidence,
    Finding,
    Fix,
    Lines,
    Place,
    Safety,
    Skip,
    SkipReason,
    Unaffected,
    Unreadable,
)
from codemods.project import versions
from codemods.project.index import Index
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.sources import files
from codemods.sources.document import Unit
from codemods.sources.manifest import Manifest


@contextlib.contextmanager
def costing_only(rule: Rule, path: str, failed: dict[str, Skip]) -> Iterator[None]:
    """What a rule raises is noted, and goes no further."""
    try:
        yield
    except Unreadable as error:
        failed[rule.code] = error.skip
    except Exception as error:
        detail = f"{rule.code} failed: {type(error).__name__}: {error}"
        failed[rule.code] = Skip(path, SkipReason.RULE_FAILED, detail)


def unaffected(draft: Draft, context: FileContext) -> Unaffected | None:
    """The first package of which the project allows no version that has the bug; None: it may have the bug."""
    for package, affected in draft.bites.items():
        target = context.target(package)
        if target is not None and not versions.may(target, affected):
            return Unaffected(target.package, target.spec, target.source, affected)
    return None


def chosen(draft: Draft, asked: Mapping[str, str]) -> Draft:
    """The draft with one of its remedies: the one asked for (rule → strategy), else the first that needs no request."""
    if not draft.remedies:
        return draft
    default = (name for name, remedy in draft.remedies.items() if not remedy.on_request)
    strategy = asked.get(draft.rule.code) or next(default, None)
    remedy = draft.remedies.get(strategy) if strategy else None
    if remedy is None or not (remedy.fix or remedy.also):
        return draft
    return replace(draft, remedy=remedy, strategy=strategy)


def without_fix(draft: Draft) -> Draft:
    """The draft as a report."""
    return replace(draft, remedy=None, strategy=None)


def with_answer(draft: Draft, answer: Answer) -> Draft:
    """The draft whose repairs rest on one more answer."""

    def asked(remedy: Remedy) -> Remedy:
        return replace(remedy, is_right=(*remedy.is_right, answer))

    return replace(
        draft,
        remedy=asked(draft.remedy) if draft.remedy is not None else None,
        remedies={name: asked(remedy) for name, remedy in draft.remedies.items()},
    )


_READING = {
    **dict.fromkeys(("yaml", "yml"), ("yaml.", "YAML(")),
    "json": ("json.load",),
    "toml": ("toml",),
}
"""Words of code that reads configuration files itself, by suffix (`read_by_code`)."""


def with_other_readers(context: FileContext, draft: Draft) -> Draft:
    """A draft on a configuration file, which others may read as well (`tests/test_closed_worlds.py`).

    A schema, a digest of the file, a script in another language: no import shows who does. Code of the project that
    reads such files may change what they say.
    """
    place = context.shown_at(getattr(draft.node, "start", 0), "who else reads this file is not in sight")
    changed = unless(
        context.shown_in(path, word, "this reads files of that kind, and may change what it reads")
        for word in _READING.get(context.path.rpartition(".")[2], ())
        for path in context.index.search(context.path, (word.encode(),), files.PYTHON)
    )
    return with_answer(replace(draft, is_bug=(*draft.is_bug, changed)), unknown(place))


class Numbering:
    """Fingerprints: what is found, where, and which of several equal ones; never the number of a line."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def next(self, *parts: str) -> str:
        """Sixteen hexadecimal digits, others for each repetition of the same parts."""
        seed = "\0".join(parts)
        self._counts[seed] = self._counts.get(seed, 0) + 1
        return hashlib.sha256(f"{seed}\0{self._counts[seed]}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


def finding(
    context: FileContext,
    draft: Draft,
    *,
    place: Place,
    scope: str,
    lines: tuple[int, int],
    fix: Fix | None,
    numbering: Numbering,
) -> Finding:
    """One draft as a finding at `place`, which lies in the qualified `scope` and in the statement on `lines`."""
    safety, remedy = Safety.DISPLAY, draft.remedy
    missing: dict[str, str] = {}
    bug, right = judged.is_bug(draft), judged.is_right(draft)
    if fix and remedy is not None:
        safety = judged.safety(draft)
        missing = {p: spec for p, spec in remedy.requires.items() if not versions.surely(context.target(p), spec)}
        if missing:
            safety = min(safety, Safety.UNSAFE)
            fix = Fix(f"{fix.title} (needs {_ranges(missing)})", fix.edits)
    others = tuple(_other_releases(context, draft, place.line))
    doubts = (*(bug.places if bug.is_unknown else ()), *others)
    cautions = right.places if fix and right.is_unknown else draft.refused
    cautions = tuple(each for each in cautions if each not in doubts)
    if not doubts and not cautions:  # the release is all that makes the fix unsafe (`set_in_a_loop`)
        cautions = tuple(_outside(context, missing, place.line))
    spoken = " ".join(context.text[place.start : place.end].split())
    return Finding(
        code=draft.rule.code,
        name=draft.rule.name,
        path=context.path,
        place=place,
        claim=_with_versions(draft),
        safety=safety,
        fix=fix,
        strategy=draft.strategy if fix else None,
        strategies=tuple(draft.remedies),
        bites=dict(draft.bites),
        consequence=draft.consequence,
        certainty=Certainty.POSSIBLE if bug.is_unknown or others else Certainty.CERTAIN,
        evidence=tuple(dict.fromkeys((*draft.evidence, *doubts, *cautions))),
        doubts=doubts,
        cautions=cautions,
        fingerprint=numbering.next(draft.rule.code, context.path, scope, spoken),
        copy=numbering.next(draft.rule.code, "", scope, spoken),
        lines=lines,
        unaffected=unaffected(draft, context),
    )


def _other_releases(context: FileContext, draft: Draft, line: int) -> Iterator[Evidence]:
    """Why a release may be installed in which nothing ends or trains wrong: it is no doubt of the repair.

    Args:
        line: of the finding, for a project that asks for no release.
    """
    if draft.consequence >= Consequence.RAISES:
        yield from _outside(context, draft.bites, line)


def _outside(context: FileContext, ranges: Mapping[str, str], line: int) -> Iterator[Evidence]:
    """Where a project asks for releases of packages that may lie outside of some ranges."""
    for package, range in ranges.items():
        target, asked = context.target(package), context.requirements(package)
        outer = context.index.versions.further_out(context.index.root(context.path), package)
        if versions.surely(target, range):  # the environment of the whole repository may hold, too (`of_an_old_tool`)
            known = target is None or target.given
            asked = [] if known else [(path, each) for path, each, told in outer if not versions.surely(told, range)]
        elif not asked:
            yield _which_is_not_said(context, package, line)
        for path, requirement in asked[:1]:
            document = context.index.document(path)
            where = document.line(requirement) if isinstance(document, Manifest) else 1
            yield Evidence(path, where, f"{package} outside of {range} may be installed, too")


def _which_is_not_said(context: FileContext, package: str, line: int) -> Evidence:
    """Where a project would say which release it has: its first packaging file, else the place of the finding."""
    for path in context.index.versions.manifests(context.index.root(context.path))[:1]:
        return Evidence(path, 1, f"this does not say which {package} is installed")
    return Evidence(context.path, line, f"which {package} is installed is not known")


def of_these_releases(context: FileContext, draft: Draft) -> Draft:
    """A draft that rests on what scripts, images and people say about the releases that it is about, too."""
    if draft.bites:
        installed = no_code_pins_another_release(context, draft.bites)
        draft = replace(draft, is_bug=(*draft.is_bug, installed))
        if keeps(installed) and any(context.upgrade(package) is not None for package in draft.bites):
            draft = without_fix(draft)  # an image of its own keeps the old release (`installed_by_an_image`)
    if draft.remedy is not None and draft.remedy.requires:
        draft = with_answer(draft, no_code_pins_another_release(context, draft.remedy.requires))
    return draft


def located(finding: Finding, source: Unit, path: str) -> Finding:
    """A finding in the text of the unit `path`, with its place in the file that holds it."""
    file, there = files.container(path), finding.reported
    cell, line, column = source.position(there.start)
    if cell is not None:
        _, end_line, end_column = source.position(there.end)
        there = Place(there.start, there.end, line, column, end_line, end_column)
    placed = with_places(finding, lambda each: _of_file(each, source, path))
    return replace(placed, path=file, cell=cell, origin=there)


def with_places(finding: Finding, moved: Callable[[Evidence], Evidence]) -> Finding:
    """A finding with every place that it names moved."""
    return replace(
        finding,
        evidence=tuple(map(moved, finding.evidence)),
        doubts=tuple(map(moved, finding.doubts)),
        cautions=tuple(map(moved, finding.cautions)),
    )


def _of_file(evidence: Evidence, source: Unit, path: str) -> Evidence:
    """Evidence from a unit as evidence from the file that holds it."""
    file = files.container(path)
    if evidence.path != path or path == file:
        return replace(evidence, path=files.container(evidence.path))
    return replace(evidence, path=file, line=source.file_line(Lines(source.text).starts[evidence.line - 1]))


def _with_versions(draft: Draft) -> str:
    """The message, with the versions in which the bug exists."""
    if not draft.bites:
        return draft.message
    return f"{draft.message} ({_ranges(draft.bites)})"


def _ranges(allowed: Mapping[str, str]) -> str:
    return ", ".join(f"{package} {spec}" for package, spec in allowed.items())


def fix_of(draft: Draft, edits: Sequence[Edit] | None) -> Fix | None:
    """The edits under the title of the remedy; None: there are none."""
    title = (draft.remedy.title if draft.remedy else None) or draft.rule.fix_title
    return Fix(title, tuple(dict.fromkeys(edits))) if edits else None


def edits_elsewhere(index: Index, path: str, replacements: Any) -> list[Edit] | None:
    """The edits of another file, a document; None where one of them cannot surely be made.

    Several fixes may ask for the same (a floor that all of them rely on), so they are shared.
    """
    if (document := index.document(path)) is None or (edits := document.together(replacements)) is None:
        return None
    return [replace(edit, shared=True) for edit in edits]
