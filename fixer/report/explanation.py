"""An explanation of a place on a terminal and as JSON: each finding with what becomes of it, or the silent rules."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.text import Text

from codemods import __version__
from codemods.model.plan import FilePlan
from codemods.model.visible import visible, visible_line
from fixer.report.tally import plural
from fixer.report.terminal import code, show_finding
from fixer.run.explanation import Becomes, Explanation, Judgement

if TYPE_CHECKING:
    from rich.console import Console

    from codemods.engine.examination import ExaminedUnit

WIDTH = 79
"""The widest line of text."""
_LATER = {Becomes.FIXED: "green", Becomes.UNSAFE: "yellow", Becomes.BY_HAND: "yellow", Becomes.NOT_TAKEN: "yellow"}


def show(console: Console, found: Explanation, here: Path, *, verbose: bool = False) -> None:
    """All of it; `verbose` names every rule."""
    lines = code(FilePlan(found.path, found.data, found.data))
    path = visible_line(os.path.relpath(found.root / found.path, here))
    if found.place.line is not None and not found.judgements:
        _line(console, path, found, lines)
    for judgement in found.judgements:
        _judgement(console, judgement, found, here, lines)
    for skip in found.skips:
        detail = f": {skip.detail}" if skip.detail else ""
        _print(console, f"{path} is skipped: {skip.reason}{detail}", style="yellow")
    told = any(judgement.becomes is Becomes.LEFT_OUT for judgement in found.judgements)
    for sentence in () if told else found.left_out:
        _print(console, f"A check of the project does not report {path}: {sentence}.", style="yellow")
    what = "line" if found.place.line is not None else "file"
    if any(unit.asked or unit.unasked for unit in found.units):
        other, hint = ("other ", "" if verbose else " (--verbose says why)") if found.judgements else ("", "")
        _print(console, f"No {other}rule speaks about this {what}{hint}.")
    if verbose or not found.judgements:
        _rules(console, found, path, verbose=verbose)


def _line(console: Console, path: str, found: Explanation, lines: Mapping[int | None, Sequence[str]]) -> None:
    place = found.place
    cell = f"cell {place.cell}:" if place.cell is not None else ""
    console.print(Text(f"{path}:{cell}{place.line}", "bold"), soft_wrap=True)
    texts = lines.get(place.cell, ())
    if place.line is not None and place.line <= len(texts):
        line = Text(f"{place.line} | ", "blue").append(visible(texts[place.line - 1].rstrip("\r")), "default")
        console.print(line, soft_wrap=True)
    console.print()


def _judgement(
    console: Console, judgement: Judgement, found: Explanation, here: Path, lines: Mapping[int | None, Sequence[str]]
) -> None:
    finding = judgement.finding
    show_finding(console, finding, found.root, here, lines.get(finding.cell, ()))
    _print(console, judgement.why, label="-> ", style=_LATER.get(judgement.becomes, "cyan"))
    console.print()


def _rules(console: Console, found: Explanation, path: str, *, verbose: bool) -> None:
    """The rules that looked, and those that did not, with what kept them."""
    spoke = {judgement.finding.code for judgement in found.judgements} | found.unselected
    place = found.place
    about = f" about line {place.line}" if place.line is not None else ""
    for unit in found.units:
        if place.line is not None and not unit.holds_line:
            continue
        for sentence in unit.names:
            _print(console, f"{sentence}.", indent=2)
        name = path if unit.path == found.path else visible_line(unit.path)
        asked = [code for code in unit.asked if code not in spoke]
        if asked:
            say = "says" if len(asked) == 1 else "say"
            _print(console, f"{plural(len(asked), 'rule')} looked at {name} and {say} nothing{about}:")
            _list(console, found, unit, dict.fromkeys(asked, ""), verbose)
        if unasked := {code: why for code, why in unit.unasked.items() if code not in found.unselected}:
            _print(console, f"{plural(len(unasked), 'rule')} did not look at {name}:")
            _list(console, found, unit, unasked, verbose)
    if found.unselected:
        number = plural(len(found.unselected), "rule")
        _print(console, f"{number} left out by `select`, `ignore` or `per-file-ignores`:")
        _print(console, ", ".join(sorted(found.unselected)), indent=2)


def _list(console: Console, found: Explanation, unit: ExaminedUnit, reasons: Mapping[str, str], verbose: bool) -> None:
    """Rules with their reasons: each that the words of the line are about; the others by code, unless `verbose`."""
    rest = []
    for rule in found.rules:
        if rule.code not in reasons:
            continue
        words = sorted(unit.words.intersection(chain.from_iterable(rule.triggers)))
        if not (words or verbose):
            rest.append(rule.code)
            continue
        here = f" ({', '.join(f'`{word}`' for word in words)})" if words else ""
        why = f": {reasons[rule.code]}" if reasons[rule.code] else ""
        _print(console, f"{rule.code} {rule.name}{here}{why}", indent=2)
    if rest:
        _print(console, ", ".join(rest), indent=2)
        if any(reasons[code] for code in rest):
            _print(console, "(--verbose says why)", indent=2)
    console.print()


def _print(console: Console, sentence: str, *, label: str = "", style: str = "", indent: int = 0) -> None:
    begin = " " * indent + label
    for line in wrap(
        " ".join(visible(sentence).split()),
        WIDTH,
        initial_indent=begin,
        subsequent_indent=" " * (len(begin) + (0 if label else 2)) if indent or label else "",
        break_on_hyphens=False,
    ):
        console.print(Text(line, style), soft_wrap=True)


def document(found: Explanation, here: Path) -> dict[str, Any]:
    """All of it as JSON values. Lines and columns are 1-based."""
    place = found.place
    return {
        "version": __version__,
        "path": Path(os.path.relpath(found.root / found.path, here)).as_posix(),
        "line": place.line,
        "cell": place.cell,
        "findings": [_finding(judgement) for judgement in found.judgements],
        "left_out": list(found.left_out),
        "not_selected": sorted(found.unselected),
        "skips": [{"path": skip.path, "reason": str(skip.reason), "detail": skip.detail} for skip in found.skips],
        "units": [
            {"path": unit.path, "names": list(unit.names), "asked": list(unit.asked), "not_asked": dict(unit.unasked)}
            for unit in found.units
            if place.line is None or unit.holds_line
        ],
    }


def _finding(judgement: Judgement) -> dict[str, Any]:
    finding = judgement.finding
    there = finding.reported
    return {
        "code": finding.code,
        "name": finding.name,
        "line": there.line,
        "column": there.column,
        "end_line": there.end_line,
        "end_column": there.end_column,
        "cell": finding.cell,
        "fingerprint": finding.fingerprint,
        "message": finding.message,
        "consequence": str(finding.consequence),
        "certainty": str(finding.certainty),
        "evidence": [{"path": each.path, "line": each.line, "why": each.why} for each in finding.evidence],
        "safety": str(finding.safety),
        "becomes": judgement.becomes.value,
        "why": judgement.why,
    }
