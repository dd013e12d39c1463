"""Where a campaign stands, as one HTML page: totals, every repository, every diff."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from codemods.model.visible import visible_line
from fixer.report.campaign import WAITING, endings, rules, summary
from fixer.report.html import LISTS, SCRIPT, called, data, filters, link, page, patched, table, text, words
from fixer.report.patch import named
from fixer.report.tally import plural

if TYPE_CHECKING:
    from codemods.rules.rule import Rule
    from fixer.bulk.drive import Standing
    from fixer.bulk.job import FindingRow
    from fixer.bulk.rows import Branch, Row

STYLE = """
.bar { display: flex; gap: 2px; height: .8rem; margin: 1rem 0 .5rem; border-radius: 4px; overflow: hidden; }
.bar i { flex: 1 1 0; min-width: 3px; background: currentColor; }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; padding: 0; margin: 0; list-style: none; font-size: 13px; }
.key li { margin: 0; } .key i { display: inline-block; width: .7rem; height: .7rem; border-radius: 2px;
  background: currentColor; margin-right: .4rem; }
.none { color: var(--line); }
.heads, .group > summary { display: grid; gap: 0 .75rem;
  grid-template-columns: 1rem minmax(0, 3fr) 5rem minmax(0, 3fr) 8.5rem; }
.heads { font-size: 13px; font-weight: 600; padding: .6rem 0 .2rem; border-bottom: 1px solid var(--line); }
.heads > :first-child { grid-column: 2; }
.group > summary { list-style: none; } .group > summary::-webkit-details-marker { display: none; }
.group > summary::before { content: "▸"; color: var(--soft); } .group[open] > summary::before { content: "▾"; }
.group > summary .name { font-weight: 600; } .group > summary .error { grid-column: 2 / -1; font-size: 13px; }
.branch { margin: .75rem 0 1.25rem; } .branch > h3 { font-size: .95rem; margin: 0; overflow-wrap: anywhere; }
.branch > p { margin: .15rem 0; font-size: 13px; overflow-wrap: anywhere; }
.places { font-size: 13px; }
@media (max-width: 40rem) { .heads { display: none; }
  .group > summary { grid-template-columns: 1rem minmax(0, 1fr) auto; }
  .group > summary .found, .group > summary .way { grid-column: 2; font-size: 13px; color: var(--soft); }
  .group > summary .badge { grid-column: 3; grid-row: 1; } .group > summary .way:empty { display: none; } }
"""
SHADES = {"changed": "good", "nothing-to-do": "soft", "skipped-by-limit": "fair", WAITING: "none"}
"""Of what became of a repository; everything else is bad."""
STAGES = {
    "prepared": "not delivered yet",
    "done": "delivered",
    "closed": "merged, or given up",
    "withdrawn": "no longer needed",
}
HEADS = ("repository", "fixed", "branch, pull request", "state")
FEW = 10
"""What needs a person is listed up to this many; the list of repositories has the rest."""


def render(standing: Standing, known: Mapping[str, Rule]) -> bytes:
    """The whole page.

    Args:
        known: the rules by code, for their names.
    """
    rows = standing.rows
    owners = sorted({owner for row in rows for branch in row.branches for owner in branch.owners})
    body = [
        f"<h1>Campaign {text(standing.campaign)}</h1>",
        *_progress(rows),
        *_attention(rows, standing.notes),
        *_rules(rows, known),
        "<h2>Repositories</h2>",
        *filters(
            {
                "rule": {code: _called(code, known) for code in rules(_places(rows))},
                "owner": {owner: owner for owner in owners},
                "state": {state: state.replace("-", " ") for state in _states(rows)},
            }
        ),
        f'<div class="heads">{"".join(f"<span>{head}</span>" for head in HEADS)}</div>',
    ]
    for number, row in enumerate(rows):
        body += _repository(number, row, known)
    return page(f"Campaign {standing.campaign}", LISTS + STYLE, body, SCRIPT).encode("utf-8", "replace")


def _places(rows: Iterable[Row]) -> Iterator[FindingRow]:
    return (place for row in rows for place in row.places)


def _states(rows: Sequence[Row]) -> dict[str, None]:
    """Everything that became of a repository or of a branch, the most frequent first."""
    return dict.fromkeys([*endings(rows), *sorted(_state(row, branch) for row in rows for branch in row.branches)])


def _state(row: Row, branch: Branch | None = None) -> str:
    return str((branch.ending if branch else None) or row.ending or WAITING)


def _shade(state: str) -> str:
    return SHADES.get(state, "bad")


def _called(code: str, known: Mapping[str, Rule]) -> str:
    return f"{code} {known[code].name}" if code in known else code


def _fixed(row: Row, branch: Branch) -> list[FindingRow]:
    """The places that a branch repairs: no two branches share a file."""
    lines = frozenset(line for line in branch.patch.split(b"\n") if line.startswith(b"diff --git "))
    return [place for place in row.places if place.fixed and named(place.path) in lines]


def _progress(rows: Sequence[Row]) -> Iterator[str]:
    branches = Counter(branch.stage for row in rows for branch in row.branches)
    told = [plural(len(rows), "repository", "repositories"), plural(branches.total(), "branch", "branches")]
    stages = ", ".join(f"{branches[stage]:,} {name}" for stage, name in STAGES.items() if branches[stage])
    yield f'<p class="soft">{", ".join(told)}{stages and ": "}{stages}</p>'
    counts = endings(rows)
    parts = "".join(f'<i class="{_shade(state)}" style="flex-grow: {count}"></i>' for state, count in counts.items())
    yield f'<div class="bar" role="img" aria-label="{text(summary(rows))}">{parts}</div><ul class="key">'
    for state, count in counts.items():
        share = 100 * count / len(rows)
        yield f'<li><i class="{_shade(state)}"></i>{state.replace("-", " ")}: {count:,} ({share:.0f} %)</li>'
    yield "</ul>"


def _rules(rows: Sequence[Row], known: Mapping[str, Rule]) -> Iterator[str]:
    counted = rules(_places(rows))
    if not counted:
        return
    keys = ("findings", "fixed", "safe", "unsafe", "display")
    total = [sum(count[key] for count in counted.values()) for key in keys]
    held = [{place.code for place in row.places} for row in rows]
    lines = [
        (
            called(code, known[code].name if code in known else ""),
            *(f"{count[key]:,}" for key in keys),
            f"{sum(code in codes for codes in held):,}",
        )
        for code, count in counted.items()
    ]
    lines.append(("all", *(f"{number:,}" for number in total), f"{sum(bool(codes) for codes in held):,}"))
    yield "<h2>By rule</h2>"
    yield from table(("rule", "places", "fixed", "safe", "unsafe", "by hand", "repositories"), lines, 6)


def _attention(rows: Sequence[Row], notes: Sequence[str]) -> Iterator[str]:
    bad = [(number, row) for number, row in enumerate(rows) if row.ending and row.ending.bad]
    if bad:
        yield f"<h2>{plural(len(bad), 'repository needs', 'repositories need')} a person</h2><ul>"
        for number, row in bad[:FEW]:
            where = f'<a href="#r{number}">{text(row.name)}</a>'
            yield f'<li>{where}: <span class="bad">{_state(row).replace("-", " ")}</span>: {words(row.detail)}</li>'
        if len(bad) > FEW:
            yield f"<li>and {len(bad) - FEW:,} more</li>"
        yield "</ul>"
    if notes:
        yield f"<h2>Notes</h2><ul>{''.join(f'<li>{words(note)}</li>' for note in notes)}</ul>"


def _repository(number: int, row: Row, known: Mapping[str, Rule]) -> Iterator[str]:
    state, fixed = _state(row), sum(place.fixed for place in row.places)
    marks = data(rule=(), owner=(), state=(state,))
    yield f'<details class="group" id="r{number}"{marks}><summary><span class="name">{text(row.name)}</span>'
    yield f'<span class="found">{f"{fixed:,} of {len(row.places):,}" if row.places else ""}</span>'
    yield f'<span class="way">{_way(row.branches)}</span>'
    yield f'<span class="badge {_shade(state)}">{state.replace("-", " ")}</span>'
    if row.ending and (row.ending.bad or state == "skipped-by-limit"):
        yield f'<span class="error {_shade(state)}">{words(row.detail)}</span>'
    yield '</summary><div class="inside">'
    yield f'<p class="soft">{words(_about(row))}</p>'
    if row.notes:
        yield f"<ul>{''.join(f'<li>{words(note)}</li>' for note in row.notes)}</ul>"
    shown: set[FindingRow] = set()
    for branch in row.branches:
        mine = _fixed(row, branch)
        shown.update(mine)
        yield from _branch(row, branch, mine)
    yield from _left([place for place in row.places if place not in shown], state, known)
    yield "</div></details>"


def _way(branches: Sequence[Branch]) -> str:
    """Its branch, or how many they are, and the pull requests."""
    requests = [link(branch.url, f"#{branch.pull_request}") for branch in branches if branch.pull_request]
    name = text(branches[0].name) if len(branches) == 1 else f"{len(branches)} branches" if branches else ""
    return " ".join((name, *requests))


def _about(row: Row) -> str:
    parts = [row.location if row.location != row.name else ""]
    if row.base:
        parts.append(f"{row.base_name} at {row.base[:12]}")
    if row.ending and not row.ending.bad and row.detail:
        parts.append(row.detail)
    if row.skipped:
        parts.append(f"{plural(row.skipped, 'file')} skipped")
    return "; ".join(part for part in parts if part) or "no run has come to it yet"


def _branch(row: Row, branch: Branch, fixed: Sequence[FindingRow]) -> Iterator[str]:
    state = _state(row, branch)
    marks = data(rule=(place.code for place in fixed), owner=branch.owners, state=(state,))
    yield f'<section class="branch" data-leaf{marks}><h3><code>{text(branch.name)}</code> {words(branch.title)}</h3>'
    request = link(branch.url, f"pull request #{branch.pull_request}") if branch.pull_request else ""
    facts = [f'<span class="badge {_shade(state)}">{state.replace("-", " ")}</span>', STAGES[branch.stage], request]
    if branch.owners:
        facts.append(f"for {text(', '.join(branch.owners))}")
    yield f"<p>{'; '.join(fact for fact in facts if fact)}</p>"
    if branch.detail:
        yield f'<p class="{_shade(state)}">{words(branch.detail)}</p>'
    if branch.verdict:
        yield f"<p>checks: <strong>{text(branch.verdict)}</strong>: {words(branch.verification)}</p>"
    if branch.commits:
        listed = "".join(f"<li><code>{text(oid[:12])}</code> {words(subject)}</li>" for oid, subject in branch.commits)
        yield f'<ul class="places">{listed}</ul>'
    yield from patched(branch.patch)
    yield "</section>"


def _left(left: Sequence[FindingRow], state: str, known: Mapping[str, Rule]) -> Iterator[str]:
    """The places that no branch repairs."""
    if not left:
        return
    why = {"safe": "not fixed", "unsafe": "with unsafe-fixes", "display": "to decide by hand"}
    yield '<details open><summary>What no branch repairs</summary><ul class="places">'
    for place in left:
        how = "fixed" if place.fixed else why.get(place.safety, place.safety)
        where = f"<code>{text(visible_line(place.path))}:{place.line}</code> {text(_called(place.code, known))}"
        marks = data(rule=(place.code,), owner=(), state=(state,))
        yield f'<li data-leaf{marks}>{where} <span class="soft">({text(how)})</span>: {words(place.message)}</li>'
    yield "</ul></details>"
