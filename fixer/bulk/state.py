"""Where a campaign stands: an SQLite file beside the campaign, in which each step is one transaction.

Only the process that runs the campaign writes. What is about to be done to a repository is written down before it is
done, so that whatever a killed run has left is known as our own.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from fixer.bulk.job import Answer, Change, Ending, Place
from fixer.bulk.repositories import Target
from fixer.errors import Refusal

SCHEMA = 1
HOUR = 3600.0
_TABLES = """
CREATE TABLE campaign (name TEXT NOT NULL, begun INTEGER NOT NULL) STRICT;
CREATE TABLE repository (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    location TEXT NOT NULL,
    local INTEGER NOT NULL,
    position INTEGER,           -- in the campaign file; NULL: no longer there
    mark TEXT,                  -- of the campaign when it was planned
    base TEXT,
    base_name TEXT NOT NULL DEFAULT '',
    ending TEXT,
    detail TEXT NOT NULL DEFAULT '',
    places TEXT NOT NULL DEFAULT '[]',
    notes TEXT NOT NULL DEFAULT '[]',
    skipped INTEGER NOT NULL DEFAULT 0,
    seconds TEXT NOT NULL DEFAULT '{}',
    touched REAL
) STRICT;
CREATE TABLE branch (
    repository INTEGER NOT NULL REFERENCES repository (id),
    name TEXT NOT NULL,
    part TEXT NOT NULL,
    owners TEXT NOT NULL,
    stage TEXT NOT NULL CHECK (stage IN ('prepared', 'arrived', 'done', 'closed', 'withdrawn')),
    tip TEXT NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    patch BLOB NOT NULL,
    pack BLOB,                  -- until it has arrived
    commits TEXT NOT NULL,
    verdict TEXT NOT NULL,
    verification TEXT NOT NULL,
    ending TEXT,
    detail TEXT NOT NULL DEFAULT '',
    pull_request INTEGER,
    url TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (repository, name)
) STRICT;
CREATE TABLE tip (              -- everything that a branch was ever to point at
    repository INTEGER NOT NULL REFERENCES repository (id),
    branch TEXT NOT NULL,
    oid TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (repository, branch, oid)
) STRICT;
CREATE INDEX tip_at ON tip (at);
"""


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a repository, as far as it has come."""

    name: str
    part: str
    owners: tuple[str, ...]
    stage: str
    """`prepared`, `arrived` in the repository, `done` with its pull request, `closed` (merged, or given up), or
    `withdrawn`: nothing is left for it."""
    tip: str
    title: str
    body: str
    patch: bytes
    pack: bytes | None
    commits: tuple[tuple[str, str], ...]
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
    places: tuple[Place, ...]
    notes: tuple[str, ...]
    skipped: int
    mark: str | None
    branches: tuple[Branch, ...]


class State:
    """An opened state."""

    def __init__(self, file: Path, connection: sqlite3.Connection) -> None:
        self.file = file
        self._connection = connection

    @classmethod
    @contextmanager
    def open(cls, file: Path, campaign: str, *, create: bool = False) -> Iterator[State]:
        """The state in `file`; with `create`, ours alone, and made if there is none.

        Raises:
            Refusal: if there is none, it is not ours, or another run is at work on it.
        """
        if not create and not file.exists():
            raise Refusal(f"{file}: nothing has been done yet; `fixer bulk run` begins")
        handle = None
        try:
            if create:
                handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            connection = sqlite3.connect(file, isolation_level=None, timeout=30)
            try:
                yield cls._prepared(file, connection, campaign, create=create)
            finally:
                connection.close()
        except BlockingIOError as error:
            raise Refusal(f"{file}: another run of this campaign is at work; wait until it ends, or stop it") from error
        except sqlite3.DatabaseError as error:
            raise Refusal(f"{file}: {error}; is this the state of a campaign, on a disk with room?") from error
        except OSError as error:
            raise Refusal(f"{file}: {error.strerror}; choose another place with `state`") from error
        finally:
            if handle is not None:
                os.close(handle)

    @classmethod
    def _prepared(cls, file: Path, connection: sqlite3.Connection, campaign: str, *, create: bool) -> State:
        state = cls(file, connection)
        connection.execute("PRAGMA foreign_keys = ON")
        if create:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        empty = not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if version == 0 and empty and create:
            with state._step():
                for statement in _TABLES.split(";\n"):
                    connection.execute(statement)
                connection.execute("INSERT INTO campaign VALUES (?, ?)", (campaign, int(time.time())))
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
        elif version == 0:
            raise Refusal(f"{file}: is not the state of a campaign; choose another place with `state`")
        elif version != SCHEMA:
            raise Refusal(f"{file}: was written by another fixer (schema {version}, not {SCHEMA}); use that one")
        name = connection.execute("SELECT name FROM campaign").fetchone()[0]
        if name != campaign:
            raise Refusal(f"{file}: is the state of the campaign {name!r}, not of {campaign!r}; choose another `state`")
        return state

    @contextmanager
    def _step(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @property
    def begun(self) -> int:
        """When the campaign began, in seconds since 1970."""
        return int(self._connection.execute("SELECT begun FROM campaign").fetchone()[0])

    def enlist(self, targets: Sequence[Target]) -> None:
        """Take the campaign's list of repositories as the one that counts; what is known of others is kept."""
        with self._step():
            self._connection.execute("UPDATE repository SET position = NULL")
            self._connection.executemany(
                "INSERT INTO repository (key, name, location, local, position) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET name = excluded.name, location = excluded.location, "
                "local = excluded.local, position = excluded.position",
                [(one.key, one.name, one.location, one.local, number) for number, one in enumerate(targets)],
            )

    def row(self, target: Target) -> Row:
        """What is known of a repository."""
        return next(self._rows("WHERE key = ?", (target.key,), bytes_too=True))

    def rows(self, *, bytes_too: bool = False) -> Iterator[Row]:
        """The repositories of the campaign, in its order; patches and packs only where somebody wants them."""
        return self._rows("WHERE position IS NOT NULL ORDER BY position", (), bytes_too=bytes_too)

    def _rows(self, which: str, values: Iterable[object], *, bytes_too: bool) -> Iterator[Row]:
        found = self._connection.execute(
            "SELECT id, name, location, local, base, base_name, ending, detail, places, notes, skipped, mark "
            f"FROM repository {which}",
            tuple(values),
        )
        for number, name, location, here, base, base_name, ending, detail, places, notes, skipped, mark in found:
            yield Row(
                id=number,
                name=name,
                location=location,
                local=bool(here),
                base=base,
                base_name=base_name,
                ending=Ending(ending) if ending else None,
                detail=detail,
                places=tuple(Place(**place) for place in json.loads(places)),
                notes=tuple(json.loads(notes)),
                skipped=skipped,
                mark=mark,
                branches=tuple(self._branches(number, bytes_too)),
            )

    def _branches(self, repository: int, bytes_too: bool) -> Iterator[Branch]:
        heavy = "patch, pack" if bytes_too else "x'', NULL"
        found = self._connection.execute(
            f"SELECT name, part, owners, stage, tip, title, body, {heavy}, commits, verdict, verification, ending, "
            "detail, pull_request, url FROM branch WHERE repository = ? ORDER BY name",
            (repository,),
        )
        for name, part, owners, stage, tip, title, body, patch, pack, commits, verdict, tested, ending, *rest in found:
            made = tuple((oid, subject) for oid, subject in json.loads(commits))
            named = (name, part, tuple(json.loads(owners)), stage, tip, title, body, patch, pack, made)
            yield Branch(*named, verdict, tested, Ending(ending) if ending else None, *rest)

    def answered(self, row: Row, answer: Answer, mark: str) -> None:
        """A repository was looked at; what is to be delivered is written down."""
        with self._step():
            if answer.ending not in (None, Ending.NOTHING):
                self._end(row, answer.ending, answer.detail)
            elif not answer.unchanged:
                self._connection.execute(
                    "UPDATE repository SET mark = ?, base = ?, base_name = ?, places = ?, notes = ?, skipped = ?, "
                    "seconds = ? WHERE id = ?",
                    (
                        # Asking again would give the same answer, unless a command could not be run.
                        mark if all(change.ending is not Ending.FAILED for change in answer.changes) else None,
                        answer.base,
                        answer.base_name,
                        json.dumps([asdict(place) for place in answer.places]),
                        json.dumps(answer.notes),
                        answer.skipped,
                        json.dumps(dict(answer.seconds)),
                        row.id,
                    ),
                )
                self._replace_branches(row, answer.changes)
                self._end(row, None, answer.detail)

    def _replace_branches(self, row: Row, changes: Sequence[Change]) -> None:
        before = {branch.name: branch for branch in row.branches}
        for change in changes:
            old = before.pop(change.branch, None)
            same = old is not None and old.tip == change.tip and old.stage in ("arrived", "done")
            self._connection.execute(
                "INSERT OR REPLACE INTO branch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?)",
                (
                    row.id,
                    change.branch,
                    change.part,
                    json.dumps(change.owners),
                    "arrived" if same else "prepared",
                    change.tip,
                    change.title,
                    change.body,
                    change.patch,
                    None if same else change.pack,
                    json.dumps(change.commits),
                    change.verdict,
                    change.verification,
                    change.ending,
                    old.pull_request if old else None,
                    old.url if old else "",
                ),
            )
        for branch in before.values():
            if branch.stage == "prepared" and not self.tips(row, branch.name):
                self._connection.execute("DELETE FROM branch WHERE repository = ? AND name = ?", (row.id, branch.name))
            elif branch.stage != "withdrawn":
                self._set(row, branch.name, stage="prepared", pack=None, ending=Ending.NOTHING)

    def tips(self, row: Row, branch: str) -> frozenset[str]:
        """Everything that we ever wanted a branch to point at."""
        found = self._connection.execute(
            "SELECT oid FROM tip WHERE repository = ? AND branch = ?", (row.id, branch)
        ).fetchall()
        return frozenset(oid for (oid,) in found)

    def delivering(self, row: Row, branch: Branch) -> None:
        """A branch is about to be pointed somewhere."""
        with self._step():
            self._connection.execute(
                "INSERT OR IGNORE INTO tip VALUES (?, ?, ?, ?)", (row.id, branch.name, branch.tip, time.time())
            )

    def recent(self) -> list[float]:
        """When branches were delivered within the last hour, oldest first."""
        found = self._connection.execute("SELECT at FROM tip WHERE at > ? ORDER BY at", (time.time() - HOUR,))
        return [at for (at,) in found]

    def standing(self) -> int:
        """How many branches wait for review, as far as is known."""
        return int(
            self._connection.execute(
                "SELECT count(*) FROM branch WHERE stage IN ('arrived', 'done') AND ending IS 'changed'"
            ).fetchone()[0]
        )

    def advanced(
        self,
        row: Row,
        branch: Branch,
        stage: str,
        ending: Ending,
        detail: str = "",
        *,
        pull_request: int | None = None,
        url: str = "",
    ) -> None:
        """A branch has come further, or not."""
        with self._step():
            values: dict[str, object] = {"stage": stage, "ending": ending, "detail": detail}
            if stage != "prepared":
                values["pack"] = None
            elif ending is not Ending.LIMITED:
                # It did not come to it, so that it does not count against the limit.
                self._connection.execute(
                    "DELETE FROM tip WHERE repository = ? AND branch = ? AND oid = ?", (row.id, branch.name, branch.tip)
                )
            if pull_request is not None:
                values |= {"pull_request": pull_request, "url": url}
            self._set(row, branch.name, **values)

    def ended(self, row: Row, ending: Ending, detail: str) -> None:
        """A repository is done with, for this run."""
        with self._step():
            self._end(row, ending, detail)

    def _end(self, row: Row, ending: Ending | None, detail: str) -> None:
        self._connection.execute(
            "UPDATE repository SET ending = ?, detail = ?, touched = ? WHERE id = ?",
            (ending, detail, time.time(), row.id),
        )

    def _set(self, row: Row, branch: str, **values: object) -> None:
        columns = ", ".join(f"{name} = ?" for name in values)
        self._connection.execute(
            f"UPDATE branch SET {columns} WHERE repository = ? AND name = ?", (*values.values(), row.id, branch)
        )
