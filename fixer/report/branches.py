"""The branches that a run made, or would make: for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fixer.report.tally import plural

if TYPE_CHECKING:
    from fixer.output.branches import Delivery
    from fixer.output.pull_requests import HandedOver


def commit_lines(deliveries: Sequence[Delivery]) -> Iterator[str]:
    """The commits that were made, oldest first; those of several branches below the branch's name."""
    for delivery in deliveries:
        indent = ""
        if len(deliveries) > 1 or delivery.part is not None:
            yield delivery.branch if delivery.moved else f"{delivery.branch} (as it was)"
            indent = "  "
        yield from (f"{indent}{commit.oid[:10]} {commit.subject}" for commit in delivery.commits)


def part_lines(deliveries: Sequence[Delivery]) -> Iterator[str]:
    """What each branch of a split plan holds, and whose it is."""
    parted = [(delivery.branch, delivery.part) for delivery in deliveries if delivery.part is not None]
    width = max((len(branch) for branch, _ in parted), default=0)
    for branch, part in parted:
        applied = sum(finding.applied for finding in part.plan.findings)
        fixes = "1 fix" if applied == 1 else f"{applied:,} fixes"
        owners = "" if part.name.startswith(part.owners) or not part.owners else f" ({', '.join(part.owners)})"
        counted = f"{fixes} in {plural(len(part.paths), 'file')}"
        yield f"{branch:<{width}}  {part.name}{owners}: {counted}"


def branches(deliveries: Sequence[Delivery], handed: Sequence[HandedOver] = ()) -> list[dict[str, Any]]:
    """The branches as plain JSON values, with what became of those that were pushed."""
    where = {one.branch: one for one in handed}
    return [
        {
            "name": delivery.branch,
            "part": delivery.part.name if delivery.part else None,
            "owners": list(delivery.part.owners) if delivery.part else [],
            "base": delivery.base,
            "tip": delivery.tip,
            "moved": delivery.moved,
            "files": [file.path for file in delivery.outcome.plan.changed],
            "commits": [
                {"id": commit.oid, "subject": commit.subject, "codes": list(commit.codes), "files": list(commit.files)}
                for commit in delivery.commits
            ],
            "notes": list(delivery.notes),
            **_whereabouts(where.get(delivery.branch)),
        }
        for delivery in deliveries
    ]


def _whereabouts(handed: HandedOver | None) -> dict[str, Any]:
    if handed is None:
        return {}
    asked = handed.pull_request
    return {
        "pushed": {"outcome": handed.pushed.outcome, "notes": list(handed.notes)},
        "pull_request": {"outcome": asked.outcome, "number": asked.number, "url": asked.url} if asked else None,
    }
