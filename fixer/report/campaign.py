"""Where a campaign stands: as JSON for programs, as Markdown for a ticket, and what both count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from codemods import __version__
from fixer.report.tally import plural

if TYPE_CHECKING:
    from fixer.bulk.drive import Standing
    from fixer.bulk.job import FindingRow
    from fixer.bulk.rows import Branch, Row

WAITING = "not-yet"
"""What is said of a repository that no run has come to."""


def endings(rows: Iterable[Row]) -> dict[str, int]:
    """How many repositories came to each ending, the most frequent first."""
    counts = Counter(str(row.ending or WAITING) for row in rows)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def rules(places: Iterable[FindingRow]) -> dict[str, dict[str, int]]:
    """For each rule, how many places there are, how many of them are fixed, and how many of each safety."""
    counted: dict[str, Counter[str]] = {}
    for place in places:
        counter = counted.setdefault(place.code, Counter(findings=0, fixed=0, safe=0, unsafe=0, display=0))
        counter.update(["findings", place.safety, *(["fixed"] if place.fixed else [])])
    return {code: dict(counted[code]) for code in sorted(counted)}


def summary(rows: Sequence[Row]) -> str:
    """`400 repositories: 312 changed, 88 nothing to do.`"""
    parts = [f"{number:,} {ending.replace('-', ' ')}" for ending, number in endings(rows).items()]
    return f"{plural(len(rows), 'repository', 'repositories')}: {', '.join(parts) or 'none'}."


def document(standing: Standing, *, patches: bool = True) -> dict[str, Any]:
    """Everything as plain JSON values."""
    rows = standing.rows
    return {
        "version": __version__,
        "campaign": standing.campaign,
        "repositories": [_repository(row, patches) for row in rows],
        "rules": rules(place for row in rows for place in row.places),
        "notes": list(standing.notes),
        "summary": {"repositories": len(rows), "states": endings(rows)},
    }


def _repository(row: Row, patches: bool) -> dict[str, Any]:
    return {
        "name": row.name,
        "location": row.location,
        "base": row.base,
        "base_name": row.base_name,
        "state": str(row.ending or WAITING),
        "error": row.detail if row.ending and row.ending.bad else "",
        "detail": row.detail,
        "findings": [asdict(place) for place in row.places],
        "skipped": row.skipped,
        "notes": list(row.notes),
        "branches": [_branch(branch, patches) for branch in row.branches],
    }


def _branch(branch: Branch, patches: bool) -> dict[str, Any]:
    content: dict[str, Any] = {
        "name": branch.name,
        "part": branch.part,
        "owners": list(branch.owners),
        "stage": branch.stage,
        "state": str(branch.ending or WAITING),
        "detail": branch.detail,
        "tip": branch.tip,
        "title": branch.title,
        "commits": [{"oid": oid, "subject": subject} for oid, subject in branch.commits],
        "checks": branch.verdict or None,
        "verification": branch.verification,
        "pull_request": {"number": branch.pull_request, "url": branch.url} if branch.pull_request else None,
    }
    return {**content, "patch": branch.patch.decode("utf-8", "replace")} if patches else content


def markdown(standing: Standing) -> str:
    """The campaign as a page: totals, a table of the repositories, what needs a person, every diff folded."""
    rows = standing.rows
    sections = [
        [f"# Campaign {standing.campaign}", "", summary(rows)],
        list(_rules(rows)),
        list(_repositories(rows)),
        list(_attention(rows, standing.notes)),
        list(_diffs(rows)),
        [f"Made with fixer {__version__}."],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _rules(rows: Sequence[Row]) -> Iterator[str]:
    counted = rules(place for row in rows for place in row.places)
    if not counted:
        return
    yield "## By rule\n"
    yield "| rule | places | fixed | safe | unsafe | by hand | repositories |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for code, count in counted.items():
        where = sum(any(place.code == code for place in row.places) for row in rows)
        numbers = (*(count[key] for key in ("findings", "fixed", "safe", "unsafe", "display")), where)
        yield f"| {code} | {' | '.join(f'{number:,}' for number in numbers)} |"


def _repositories(rows: Sequence[Row]) -> Iterator[str]:
    yield "## Repositories\n"
    yield "| repository | places | fixed | branch | pull request | checks | state |"
    yield "|---|---:|---:|---|---|---|---|"
    for row in rows:
        fixed = sum(place.fixed for place in row.places)
        for number, branch in enumerate(row.branches or (None,)):
            first = (_cell(row.name), str(len(row.places)), str(fixed)) if number == 0 else ("", "", "")
            yield f"| {' | '.join((*first, *_branch_cells(row, branch)))} |"


def _branch_cells(row: Row, branch: Branch | None) -> tuple[str, ...]:
    if branch is None:
        return "", "", "", str(row.ending or WAITING)
    request = f"[#{branch.pull_request}]({branch.url})" if branch.pull_request else ""
    return _cell(branch.name), request, branch.verdict, str(branch.ending or row.ending or WAITING)


def _attention(rows: Sequence[Row], notes: Sequence[str]) -> Iterator[str]:
    bad = [row for row in rows if row.ending and row.ending.bad]
    noted = [(row.name, note) for row in rows for note in row.notes]
    if bad or noted or notes:
        yield "## What somebody should know\n"
    yield from (f"- {_cell(row.name)}: {row.ending}: {_plain(row.detail)}" for row in bad)
    yield from (f"- {_cell(name)}: {_plain(note)}" for name, note in noted)
    yield from (f"- {_plain(note)}" for note in notes)


def _diffs(rows: Sequence[Row]) -> Iterator[str]:
    changed = [(row, branch) for row in rows for branch in row.branches if branch.patch]
    if changed:
        yield "## Changes\n"
    for row, branch in changed:
        patch = branch.patch.decode("utf-8", "replace").rstrip("\n")
        fence = "`" * max(3, 1 + max((len(run) for run in _runs(patch)), default=0))
        yield f"<details><summary>{_plain(row.name)}: {_plain(branch.name)}</summary>\n"
        yield f"{fence}diff\n{patch}\n{fence}\n\n</details>\n"


def _runs(text: str) -> Iterator[str]:
    import re

    return (match[0] for match in re.finditer("`+", text))


def _cell(text: str) -> str:
    """Inline code that can stand in a table."""
    text = text.replace("|", "\\|").replace("\n", " ")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
