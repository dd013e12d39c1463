"""What a check found, as one HTML page: totals by rule, and file by file each finding with its fix as a diff."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codemods.model.edits import Edit, Finding, Safety, Skip, splice
from codemods.model.plan import FilePlan, Plan
from codemods.model.visible import visible_line
from codemods.sources.files import container, decode
from fixer.report.diff import CONTEXT, between
from fixer.report.html import LISTS, SCRIPT, called, data, diff, filters, link, page, table, text, words
from fixer.report.patch import body as patch_lines
from fixer.report.tally import by_rule, count, headline, plural, unused_suppressions, worst_first
from fixer.report.terminal import code

if TYPE_CHECKING:
    from codemods.rules.rule import Rule
    from codemods.sources.document import Unit

STYLE = """
.group > summary code { font-weight: 600; background: none; }
.fix { margin: .25rem 0; font-size: 13px; } .fix > summary { font-weight: 400; }
.finding { margin: .75rem 0 1.25rem; } .finding > p { margin: .15rem 0; overflow-wrap: anywhere; }
"""
FEW = 50
"""Findings up to which nothing is folded."""
SAFETY = {Safety.SAFE: ("safe", "good"), Safety.UNSAFE: ("unsafe", "fair"), Safety.DISPLAY: ("by hand", "soft")}


def render(
    plan: Plan,
    rules: Mapping[str, Rule],
    *,
    name: str,
    unsafe: frozenset[str],
    read: Callable[[str], bytes | None],
) -> bytes:
    """The whole page.

    Args:
        name: of what was looked at.
        unsafe: the paths where unsafe fixes are wanted.
        read: the files as they were planned on.
    """
    total = count(plan.findings, unsafe)
    texts = _Texts(plan, read)
    found = [file for file in plan.files if file.findings]
    found.sort(key=lambda file: -max(finding.weight for finding in file.findings))
    where = f" in {plural(len(found), 'file')}" if found else ""
    looked = f"{plural(plan.files_seen, 'file')} looked at, {plan.files_read:,} read closely"
    body = [
        f"<h1>{text(name)}</h1>",
        f"<p><strong>{text(headline(plan.findings) or 'Nothing found')}</strong></p>",
        f'<p class="soft">{plural(total.findings, "finding")}{where}; {looked}</p>',
    ]
    if found:
        names = dict(sorted({finding.code: finding.name for finding in plan.findings}.items()))
        body += ["<h2>By rule</h2>", *_totals(plan, names, unsafe), "<h2>Findings</h2>"]
        costs = dict.fromkeys(finding.cost for finding in worst_first(plan.findings))
        levels = sorted({finding.safety for finding in plan.findings}, reverse=True)
        body += filters(
            {
                "cost": {one: one for one in costs},
                "rule": {code: f"{code} {name}" for code, name in names.items()},
                "fix": {str(one): SAFETY[one][0] for one in levels},
            }
        )
    for file in found:
        body += _file(file, texts, rules, opened=total.findings <= FEW)
    body += _rest(plan)
    return page(f"{name}: {plural(total.findings, 'finding')}", LISTS + STYLE, body, SCRIPT if found else "").encode()


class _Texts:
    """Programs as they were read; each is decoded once."""

    def __init__(self, plan: Plan, read: Callable[[str], bytes | None]) -> None:
        self._before = {file.path: file.before for file in plan.files}
        self._read = read
        self._sources: dict[str, Unit | Skip] = {}

    def of(self, unit: str) -> str:
        if unit not in self._sources:
            path = container(unit)
            held = self._before[path] if path in self._before else self._read(path)
            self._sources[unit] = decode(unit, held or b"")
        source = self._sources[unit]
        return "" if isinstance(source, Skip) else source.text


def _totals(plan: Plan, names: Mapping[str, str], unsafe: frozenset[str]) -> Iterator[str]:
    rows = []
    for rule, counted in by_rule(plan.findings, unsafe).items():
        files = len({finding.path for finding in plan.findings if finding.code == rule})
        numbers = (counted.findings, counted.fixable + counted.fixed, counted.unsafe, counted.display, files)
        rows.append((called(rule, names[rule]), *(f"{number:,}" for number in numbers)))
    return table(("rule", "findings", "fixable", "unsafe", "by hand", "files"), rows, 5)


def _file(file: FilePlan, texts: _Texts, rules: Mapping[str, Rule], *, opened: bool) -> Iterator[str]:
    codes = ", ".join(dict.fromkeys(finding.code for finding in file.findings))
    yield f'<details class="group"{" open" if opened else ""}><summary><code>{text(visible_line(file.path))}</code> '
    yield f'<span class="soft">{len(file.findings):,}: {text(codes)}</span></summary><div class="inside">'
    lines = code(file)
    for finding in worst_first(file.findings):
        yield from _finding(finding, texts, lines.get(finding.cell, ()), rules.get(finding.code))
    yield "</div></details>"


def _finding(finding: Finding, texts: _Texts, lines: Sequence[str], rule: Rule | None) -> Iterator[str]:
    shown, shade = SAFETY[finding.safety]
    place, cell = finding.reported, f"cell {finding.cell}, " if finding.cell is not None else ""
    more = f" ({link(rule.references[0], 'more')})" if rule and rule.references else ""
    sorts = data(cost=(finding.cost,), rule=(finding.code,), fix=(str(finding.safety),))
    yield f'<section class="finding" data-leaf{sorts}>'
    name = f"<strong>{text(finding.code)}</strong> [{finding.cost}]"
    yield f"<p>{cell}line {place.line}: {name} {words(finding.message)}{more}</p>"
    for each in finding.evidence:
        where = text(f"{visible_line(each.path)}:{each.line}")
        yield f'<p class="soft">shown by <code>{where}</code> {words(each.why)}</p>'
    if finding.fix is None:
        last = min(place.end_line, place.line + 2 * CONTEXT)
        yield diff(f" {line}" for line in lines[place.line - 1 : last])
    else:
        title = f'<span class="badge {shade}">{shown}</span>: {words(finding.fix.title)}'
        yield f'<details class="fix" open><summary>{title}</summary>'
        for unit in sorted(finding.fix.paths):
            if container(unit) != finding.path:
                yield f'<p class="at"><code>{text(unit)}</code></p>'
            yield _change(texts.of(unit), [edit for edit in finding.fix.edits if edit.path == unit])
        yield "</details>"
    yield "</section>"


def _change(before: str, edits: Sequence[Edit]) -> str:
    """The lines around the edits of one program, before and after."""
    start = before.rfind("\n", 0, min(edit.start for edit in edits)) + 1
    for _ in range(CONTEXT):
        start = before.rfind("\n", 0, max(start - 1, 0)) + 1
    stop = max(edit.end for edit in edits)
    for _ in range(CONTEXT + 1):
        stop = before.find("\n", stop) + 1 or len(before)
    moved = [replace(edit, start=edit.start - start, end=edit.end - start) for edit in edits]
    old = before[start:stop]
    shown = between(old.encode("utf-8", "replace"), splice(old, moved).encode("utf-8", "replace"))
    return "".join(
        diff(b"".join(patch_lines(hunk)).decode("utf-8", "replace").removesuffix("\n").split("\n")) for hunk in shown
    )


def _rest(plan: Plan) -> Iterator[str]:
    """What was not looked at, and suppressions that silence nothing."""
    lines = [f"{visible_line(skip.path)}: {skip.reason}{skip.detail and f': {skip.detail}'}" for skip in plan.skips]
    if lines:
        yield f"<h2>Skipped</h2><ul>{''.join(f'<li>{words(line)}</li>' for line in lines)}</ul>"
    lines = list(unused_suppressions(plan))
    if lines:
        yield f"<h2>Unused suppressions</h2><ul>{''.join(f'<li>{words(line)}</li>' for line in lines)}</ul>"
