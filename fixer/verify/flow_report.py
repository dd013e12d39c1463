"""Watching a person's module before and after the fixes: the gradient-flow report behind `fixer verify --module`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.model.edits import Finding
from codemods.transforms import load
from codemods.verify.flow import FlowSide
from codemods.verify.flow_bench import Factory, FlowBench, NoTorch, Terms
from codemods.verify.flow_symptoms import FlowSymptom, Judgement, judge, symptoms
from fixer.errors import Refusal
from fixer.verify.sandbox.copies import Origin, copied, shared
from fixer.verify.sandbox.footprints import Footprints
from fixer.verify.sandbox.trackers import offline

if TYPE_CHECKING:
    from codemods.rules.rule import Rule
    from fixer.run.request import Outcome


@dataclass(frozen=True, slots=True)
class Explained:
    """A symptom, and the rules that explain it."""

    symptom: FlowSymptom
    rules: tuple[str, ...] = ()
    """Their codes."""
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class FlowReport:
    """What watching a module came to."""

    module: str
    """As it was asked for: `case.py:make`."""
    verdict: Judgement
    summary: str
    before: FlowSide
    after: FlowSide | None
    """None if there was nothing to fix."""
    symptoms: tuple[Explained, ...] = ()
    fixed: tuple[Finding, ...] = ()
    """The findings whose fixes make up `after`."""
    notes: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    """Files of the checkout itself that were written meanwhile."""


def locate(module: str, root: Path, here: Path) -> Factory:
    """The factory that `--module` names.

    Raises:
        Refusal: if there is no such file inside the project.
    """
    name, colon, factory = module.rpartition(":")
    if not colon or not name or not factory.isidentifier():
        raise Refusal(f"--module {module}: name a file and a function in it, as in --module case.py:make")
    file = (here / name).resolve()
    if not file.is_file():
        raise Refusal(f"--module {module}: there is no file {name}")
    if file.suffix != ".py":
        raise Refusal(f"--module {module}: {name} is not a Python file (.py)")
    if not file.is_relative_to(root):
        raise Refusal(f"--module {module}: {name} lies outside of {root}; change to the project that it belongs to")
    where = here.resolve()
    standing = where.relative_to(root).as_posix() if where.is_relative_to(root) else ""
    return Factory(file.relative_to(root).as_posix(), factory, root, "" if standing == "." else standing)


def watch(
    outcome: Outcome,
    module: str,
    here: Path,
    terms: Terms,
    *,
    linked: Sequence[str] = (),
    tell: Callable[[str], None] = lambda sentence: None,
) -> FlowReport:
    """Watch the module of `module` in all runs, on the code as it is and as `outcome` would leave it, in copies.

    Args:
        linked: paths that git ignores and the factory needs (data, checkpoints); the copies get them too.

    Raises:
        Refusal: if the factory cannot be found, or there is no torch to run under.
    """
    target = locate(module, outcome.root, here)
    origin = Origin(outcome.root.resolve(), linked=tuple(linked))
    footprints = Footprints.of(origin.root, shared(origin))
    with tempfile.TemporaryDirectory(prefix="fixer-flow-", ignore_cleanup_errors=True) as name:
        scratch = Path(name).resolve()
        place = scratch / "copy" / (origin.root.name or "root")  # the same for both, so that nothing differs by it
        for directory in (place.parent, scratch / "tmp"):
            directory.mkdir()
        leftovers = (("rm", "-rf", str(scratch)),)
        with FlowBench(terms, scratch / "tmp", leftovers, tell, offline(scratch)) as bench:
            try:
                with copied(origin, place) as copy:
                    first = bench.observe(target, copy, "before")
                second = None
                if outcome.plan.changed:
                    with copied(origin, place, outcome.plan) as copy:
                        second = bench.observe(target, copy, "after")
            except NoTorch as error:
                raise Refusal(str(error)) from error
    touched = footprints.touched()
    found = symptoms(first, second)
    loaded = frozenset({*first.loaded, *(second.loaded if second else ())})
    fixed = [finding for finding in outcome.plan.findings if finding.applied]
    waiting = [f for f in outcome.plan.findings if f.fix and not f.applied and f.path in loaded]
    codes = ", ".join(sorted({finding.code for finding in waiting}))
    unsafe = f"unsafe fixes of {codes} were not tried: fixer verify --unsafe-fixes --module {module}" if codes else ""
    fixes = f"the fixes of {_listed([f for f in fixed if f.path in loaded] or fixed)}"
    advice = unsafe or ("" if fixed else "no rule has a fix")
    verdict, summary = judge(first, second, found, fixes=fixes, advice=advice)
    rules = load()
    return FlowReport(
        module,
        verdict,
        summary,
        first,
        second,
        tuple(explain(symptom, rules, outcome.plan.findings, loaded) for symptom in found),
        tuple(fixed),
        (*footprints.notes(touched), *([unsafe] if unsafe not in summary else []), *_notes(first)),
        touched,
    )


def _listed(findings: Sequence[Finding]) -> str:
    more = f" and {len(findings) - 4} more" if len(findings) > 4 else ""
    return ", ".join(f"{finding.code} ({finding.location})" for finding in findings[:4]) + more


def _notes(before: FlowSide) -> Iterator[str]:
    if before.strays:
        yield f"imported from the project itself instead of its copy: {', '.join(before.strays[:3])}"
    yield from dict.fromkeys(note for run in before.runs for note in run.notes)


def explain(
    symptom: FlowSymptom, rules: Sequence[Rule], findings: Sequence[Finding], loaded: frozenset[str]
) -> Explained:
    """The findings that explain a symptom: in files that were imported; those on its lines, and those whose rule knows
    the message, before others."""
    knowing = {rule.code for rule in rules if any(e in said for e in rule.errors for said in symptom.said)}
    raised = {rule.code for rule in rules if any(e in symptom.sentence for e in rule.errors)}
    if symptom.state == "new":
        return Explained(symptom)
    near = [f for f in findings if f.path in loaded and f.applied == (symptom.state == "gone")]
    on_line = [f for f in near if any(_covers(f, place) for place in symptom.places)]
    by_text = [f for f in near if f.code in knowing]
    chosen = on_line or by_text or (near if symptom.state == "gone" else [])
    codes = tuple(dict.fromkeys(finding.code for finding in chosen))
    if chosen and symptom.state == "gone":
        return Explained(symptom, codes, f"gone with the fixes of {_listed(chosen)}")
    if chosen:
        by_hand = "" if any(finding.fix for finding in chosen) else "; to decide by hand"
        return Explained(symptom, codes, f"explained by {_listed(chosen)}{by_hand}")
    if raised:
        known = sorted(raised)
        if len(known) > 1:
            return Explained(symptom, tuple(known), f"{', '.join(known)} know the message, and find nothing here")
        title = next(rule.fix_title for rule in rules if rule.code in raised)
        fix = f"its fix elsewhere: {title[:1].lower()}{title[1:]} (fixer explain {known[0]})"
        return Explained(symptom, tuple(known), f"{known[0]} knows the message, and finds nothing here; {fix}")
    return Explained(symptom)


def _covers(finding: Finding, place: str) -> bool:
    path, _, line = place.rpartition(":")
    return path == finding.path and finding.reported.line <= int(line) <= finding.reported.end_line
