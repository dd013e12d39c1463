"""What people see: findings with the code they are about, the coloured patch, and the summary at the end."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from codemods.model.edits import Consequence, Finding, Safety, Skip, SkipReason, splice
from codemods.model.plan import FilePlan, Plan, Target
from codemods.model.visible import visible, visible_line
from codemods.sources.files import NOTEBOOK, container, decode
from codemods.sources.text import Source
from fixer.report.diff import Hunk, between, cell_hunks, hunks
from fixer.report.patch import body, header
from fixer.report.tally import (
    NAMED,
    by_rule,
    copies,
    count,
    files_looked_at,
    headline,
    in_other_versions,
    nothing_found,
    plural,
    shown,
    unused_suppressions,
    worst_first,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SHADES = {
    Consequence.SILENT: "bold red",
    Consequence.RAISES: "red",
    Consequence.WARNS: "yellow",
    Consequence.DEPRECATED: "yellow",
    Consequence.STYLE: "dim",
}
UNWRITTEN = frozenset({SkipReason.UNREADABLE, SkipReason.CHANGED, SkipReason.OUTDATED, SkipReason.UNSAFE_PATH})
"""Why a file that has a fix was not written."""
SHOWN = 20
"""Skips listed in full without `--verbose`."""


def location(finding: Finding, root: Path, here: Path) -> str:
    """`path:line:column`, the path as seen from where the person stands; in a notebook `path:cell 3:line:column`."""
    path = os.path.relpath(root / finding.path, here)
    return f"{replace(finding, path=path).location}:{finding.reported.column}"


def finding_line(finding: Finding, root: Path, here: Path) -> str:
    """`path:line:column: CODE [cost] message`."""
    message = visible(" ".join(finding.message.split()))
    return f"{location(finding, root, here)}: {finding.code} [{finding.cost}] {message}"


def show_findings(console: Console, plan: Plan, root: Path, here: Path) -> None:
    """Each finding with its line of code underlined, what shows it, and what can be done about it; the worst first.

    What copies of one function hold in several files is shown once.
    """
    lines = {file.path: code(file) for file in plan.files if file.findings}
    for finding, *others in copies(plan.findings):
        show_finding(console, finding, root, here, lines[finding.path].get(finding.cell, ()))
        if others:
            places = [location(other, root, here) for other in others[:NAMED]]
            places += [f"{len(others) - NAMED:,} more (every format but this one lists them)"] if others[NAMED:] else []
            said = f"same finding in {len(others) + 1:,} files: "
            begin = Text(f"{_gutter(finding)} = ", "blue").append(said, "cyan")
            show_prose(console, begin.append(visible(", ".join(places)), "default"))
        console.print()


def show_finding(console: Console, finding: Finding, root: Path, here: Path, lines: Sequence[str]) -> None:
    """What was found, above its line of code.

    Args:
        lines: those of the file, or of the cell.
    """
    head = Text(location(finding, root, here), "bold")
    head.append(": ", "cyan").append(finding.code, "bold red")
    head.append(f" [{finding.cost}]", SHADES[finding.weight])
    head.append(f" {visible(' '.join(finding.claim.split()))}", "default not bold")
    show_prose(console, head)
    show_frame(console, finding, lines)


def show_frame(console: Console, finding: Finding, lines: Sequence[str]) -> None:
    """The first line of the finding, underlined; what shows it, and its fix in words."""
    for line in underlined(finding, lines):
        console.print(line, soft_wrap=True)
    for note in notes(finding):
        show_prose(console, note)


def show_prose(console: Console, text: Text) -> None:
    """Sentences: on a terminal wrapped between words, unless a word is wider than it; elsewhere on one line."""
    fits = max(map(cell_len, text.plain.split()), default=0) <= console.width
    console.print(text, soft_wrap=not (fits and console.file.isatty()))


def code(file: FilePlan) -> dict[int | None, list[str]]:
    """The lines of a file as it was read; those of a notebook by cell."""
    if file.path.endswith(NOTEBOOK):
        from codemods.sources.notebook import cells

        return {number: source.split("\n") for number, source in cells(file.before)}
    source = decode(file.path, file.before)
    return {None: [] if isinstance(source, Skip) else source.text.split("\n")}


def underlined(finding: Finding, lines: Sequence[str]) -> Iterator[Text]:
    """The first line of the finding, with marks below it."""
    place = finding.reported
    if not 0 < place.line <= len(lines):
        return
    shown = lines[place.line - 1].rstrip("\r")
    stop = place.end_column - 1 if place.end_line == place.line else len(shown.rstrip())
    gutter = _gutter(finding)
    pad = re.sub(r"[^\t]", " ", shown[: place.column - 1])
    yield Text(f"{gutter} |", "blue")
    yield Text(f"{place.line} | ", "blue").append(visible(shown), "default")
    marks = "^" * max(1, stop - (place.column - 1))
    yield Text(f"{gutter} | ", "blue").append(pad + marks, "red")


def notes(finding: Finding) -> Iterator[Text]:
    """What shows the finding, and its fix in words."""
    begin = f"{_gutter(finding)} = "
    for label, shade, places in (
        ("shown by", "cyan", finding.shown_by),
        ("not certain", "yellow", finding.doubts),
        ("look first" if finding.fix else "no fix", "yellow", finding.cautions),
    ):
        for each in places:
            place = f"{visible_line(each.path)}:{each.line}: {visible(each.why)}"
            yield Text(begin, "blue").append(f"{label}: ", shade).append(place, "default")
    if finding.fix is not None:
        note = " (unsafe)" if finding.safety is Safety.UNSAFE else ""
        yield Text(begin, "blue").append(f"fix{note}: ", "green").append(visible(finding.fix.title), "default")


def _gutter(finding: Finding) -> str:
    """As wide as the number of the line."""
    return " " * len(str(finding.reported.line))


def show_fix(console: Console, finding: Finding, read: Callable[[str], bytes | None]) -> None:
    """What the fix of a finding alone changes, with the lines around it; a notebook as the program that it is.

    Args:
        read: gives the bytes of a file.
    """
    for unit in sorted(finding.fix.paths) if finding.fix is not None else ():
        source = decode(unit, read(container(unit)) or b"")
        if isinstance(source, Skip):
            continue
        if unit != finding.path:
            console.print(Text(visible_line(unit), "bold"), soft_wrap=True)
        after = splice(source.text, (edit for edit in finding.fix.edits if edit.path == unit) if finding.fix else ())
        for hunk in between(source.text.encode("utf-8", "replace"), after.encode("utf-8", "replace")):
            _show_body(console, hunk, "utf-8", ended=not unit.endswith(NOTEBOOK))


def show_patch(console: Console, files: Iterable[FilePlan]) -> None:
    """The patch in colours: line by line what `report.patch` writes."""
    for file in files:
        if not file.changed:
            continue
        for raw in header(file).split(b"\n")[:-1]:
            console.print(Text(visible(raw.decode("utf-8", "replace")), "bold"), soft_wrap=True)
        if file.path.endswith(NOTEBOOK):
            for number, changed in cell_hunks(file):
                console.print(Text(f"cell {number}", "bold magenta"))
                _show_hunks(console, changed, "utf-8", ended=False)
        else:
            source = decode(file.path, file.before)
            _show_hunks(console, hunks(file), source.encoding if isinstance(source, Source) else "utf-8")


def _show_hunks(console: Console, shown: Iterable[Hunk], encoding: str, *, ended: bool = True) -> None:
    """Hunks in colours; `ended`: a last line without an end is worth a word (it is not in a cell)."""
    for hunk in shown:
        line = Text(f"@@ {hunk.position} @@", "cyan")
        line.append(f" {visible(hunk.heading)}" if hunk.heading else "", "yellow")
        console.print(line, soft_wrap=True)  # whole, as every line here: what is copied from a terminal is a patch
        _show_body(console, hunk, encoding, ended=ended)


def _show_body(console: Console, hunk: Hunk, encoding: str, *, ended: bool) -> None:
    for raw in b"".join(body(hunk)).split(b"\n")[:-1]:
        if raw.startswith(b"\\") and not ended:
            continue
        text = visible(raw.decode(encoding, "replace").rstrip("\r"))
        style = {b"+": "green", b"-": "red", b"\\": "dim"}.get(raw[:1], "")
        console.print(Text(text, style), soft_wrap=True)


def show_statistics(write: Callable[[str], None], plan: Plan, unsafe: frozenset[str]) -> None:
    """Findings by rule, most frequent first, then the versions that decide which rules hold, project by project."""
    names = {finding.code: finding.name for finding in plan.findings}
    counts = sorted(by_rule(plan.findings, unsafe).items(), key=lambda item: (-item[1].findings, item[0]))
    for code, counted in counts:
        write(f"{counted.findings:>6}  {code:<8} {names[code]}  ({counted.with_fix} with a fix)\n")
    for project in plan.projects:
        known = ", ".join(dict.fromkeys(_version(target) for _, target in sorted(project.targets.items())))
        write(f"{visible_line(project.root) or '.'}: {known or 'no file names a version of torch or its friends'}\n")


def _version(target: Target) -> str:
    """`torch 2.4.1 from uv.lock`."""
    return f"{target.package} {shown(target.spec)} from {visible_line(target.source)}"


def show_summary(
    console: Console, plan: Plan, *, unsafe: frozenset[str], done: str, vendored: int = 0, verbose: bool = False
) -> None:
    """The table by rule, what was not fixed and how to get it, skips and unused suppressions.

    Args:
        done: what happened to the findings: `found`, `fixed`, `committed`, `silenced`, or `would be` one of these.
    """
    total = count(plan.findings, unsafe)
    if total.findings:
        if console.is_terminal:
            console.print()
        console.print(_table(plan, unsafe, done))
    files = len({finding.path for finding in plan.findings})
    where = f" in {plural(files, 'file')}" if files else ""
    read = files_looked_at(plan)
    if not total.findings:
        show_prose(console, Text(nothing_found(plan)))
    elif done == "found":
        show_prose(console, Text(f"{headline(plan.findings)}{where} ({read})."))
    else:
        changed = plural(len(plan.changed), "file")
        fixed = f"{total.fixed:,} of {plural(total.findings, 'finding')} {done}, in {changed}"
        show_prose(console, Text(f"{headline(plan.findings)}. {fixed} ({read})."))
    for sentence in what_is_left(plan, unsafe, done):
        show_prose(console, Text(sentence))
    if plan.suppressed:
        show_prose(console, Text(f"{plural(len(plan.suppressed), 'finding')} suppressed by comments."))
    for sentence in unused_suppressions(plan):
        show_prose(console, Text(visible(sentence), "yellow"))
    for sentence in in_other_versions(plan, few=not verbose):
        show_prose(console, Text(visible(sentence)))
    if vendored:
        left_out = plural(vendored, "vendored or generated file")
        show_prose(console, Text(f"{left_out} left out (--include-vendored reads them)."))
    show_skips(console, plan.skips, verbose=verbose)


def what_is_left(plan: Plan, unsafe: frozenset[str], done: str) -> Iterable[str]:
    """A sentence for each kind of finding that was not fixed, with the way to get it."""
    total = count(plan.findings, unsafe)
    if plan.changed and done == "would be fixed":
        yield "Nothing was written: the same command without --dry-run does that."
    if total.fixable and done == "found":
        yield f"{total.fixable:,} can be fixed: `fixer apply --dry-run` shows how."
    elif total.fixable:
        skipped = {skip.path for skip in plan.skips if skip.reason in UNWRITTEN}
        unwritten = count([finding for finding in plan.findings if finding.path in skipped], unsafe).fixable
        if unwritten:
            yield f"{unwritten:,} could not be fixed, because files could not be written."
        if rest := total.fixable - unwritten:
            yield f"{rest:,} could not be fixed together with the others: `fixer check` says what is left of them."
    if any(not finding.is_certain for finding in plan.findings):
        yield "What is only possible names the place that decides; --fail-on possible counts it, too."
    if total.display and done.endswith("silenced"):
        yield (
            f"{total.display:,} cannot be silenced by a comment (no line there can end with one): "
            "use `per-file-ignores` in the configuration."
        )
        return
    if total.unsafe:
        yield f"{total.unsafe:,} more with --unsafe-fixes."
    if total.display:
        codes = sorted({finding.code for finding in plan.findings if finding.fix is None})
        yield f"{total.display:,} to decide by hand: see `fixer explain {codes[0] if codes else 'CODE'}`."


def show_skips(console: Console, skips: Sequence[Skip], *, verbose: bool) -> None:
    """The files that were left alone, each with the reason."""
    if not skips:
        return
    console.print(f"{plural(len({skip.path for skip in skips}), 'file')} skipped:", style="yellow", highlight=False)
    shown = skips if verbose else skips[:SHOWN]
    for skip in shown:
        detail = f": {visible(' '.join(skip.detail.split()))}" if skip.detail else ""
        console.print(Text(f"  {visible_line(skip.path)}: {skip.reason}{detail}"), soft_wrap=True)
    if len(shown) < len(skips):
        console.print(f"  … and {len(skips) - len(shown):,} more (--verbose lists all)", highlight=False)


def _table(plan: Plan, unsafe: frozenset[str], done: str) -> Table:
    from rich.table import Table  # dear, and seldom wanted

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("rule")
    table.add_column("name")
    table.add_column("findings", justify="right")
    table.add_column("fixable" if done == "found" else done, justify="right")
    table.add_column("unsafe", justify="right")
    table.add_column("by hand", justify="right")
    names = {finding.code: finding.name for finding in worst_first(plan.findings)}
    counts = by_rule(plan.findings, unsafe)
    for code in names:
        counted = counts[code]
        ready = counted.fixable if done == "found" else counted.fixed
        numbers = (counted.findings, ready, counted.unsafe, counted.display)
        table.add_row(code, names[code], *(f"{number:,}" if number else "·" for number in numbers))
    return table
