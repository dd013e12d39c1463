"""What the state of a campaign knows about a repository and its branches, as it is read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fixer.bulk.job import Ending, FindingRow


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a repository, as far as it has come."""

    name: str
    part: str
    owners: tuple[str, ...]
    stage: str
    """`prepared`; `done`: it is where it belongs; `closed`: merged, or given up; `withdrawn`: nothing is left."""
    tip: str
    title: str
    body: str
    patch: bytes
    pack: bytes | None
    commits: tuple[tuple[str, str], ...]
    series: tuple[str, ...]
    verdict: str
    verification: str
    ending: Ending | None
    detail: str
    pull_request: int | None
    url: str


@dataclass(frozen=True, slots=True)
class Row:
    """A repository, as far as it has come."""

    id: int
    name: str
    location: str
    local: bool
    base: str | None
    base_name: str
    ending: Ending | None
    detail: str
    places: tuple[FindingRow, ...]
    notes: tuple[str, ...]
    skipped: int
    mark: str | None
    branches: tuple[Branch, ...]


def read(
    connection: sqlite3.Connection, which: str, values: Sequence[object] = (), *, bytes_too: bool
) -> Iterator[Row]:
    """The repositories that a condition of SQL chooses; patches and packs only where somebody wants them."""
    found = connection.execute(
        "SELECT id, name, location, local, base, base_name, ending, detail, places, notes, skipped, mark "
        f"FROM repository {which}",
        tuple(values),
    )
    for number, name, location, local, base, base_name, ending, detail, places, notes, skipped, mark in found:
        yield Row(
            id=number,
            name=name,
            location=location,
            local=bool(local),
            base=base,
            base_name=base_name,
            ending=Ending(ending) if ending else None,
            detail=detail,
            places=tuple(FindingRow(**place) for place in json.loads(places)),
            notes=tuple(json.loads(notes)),
            skipped=skipped,
            mark=mark,
            branches=tuple(_branches(connection, number, bytes_too)),
        )


def _branches(connection: sqlite3.Connection, repository: int, bytes_too: bool) -> Iterator[Branch]:
    heavy = "patch, pack" if bytes_too else "x'', NULL"
    found = connection.execute(
        f"SELECT name, part, owners, stage, tip, title, body, {heavy}, commits, series, verdict, verification, "
        "ending, detail, pull_request, url FROM branch WHERE repository = ? ORDER BY name",
        (repository,),
    )
    for name, part, owners, stage, tip, title, body, patch, pack, commits, series, *rest in found:
        verdict, verification, ending, detail, pull_request, url = rest
        yield Branch(
            name=name,
            part=part,
            owners=tuple(json.loads(owners)),
            stage=stage,
            tip=tip,
            title=title,
            body=body,
            patch=patch,
            pack=pack,
            commits=tuple((oid, subject) for oid, subject in json.loads(commits)),
            series=tuple(json.loads(series)),
            verdict=verdict,
            verification=verification,
            ending=Ending(ending) if ending else None,
            detail=detail,
            pull_request=pull_request,
            url=url,
        )
