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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from fixer.bulk.job import BranchChange, Ending, JobResult
from fixer.bulk.repositories import NamedRepository
from fixer.bulk.rows import Branch, Row, read
from fixer.bulk.schema import SCHEMA, TABLES
from fixer.errors import Refusal

HOUR = 3600.0


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
                for statement in TABLES.split(";\n"):
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

    def enlist(self, targets: Sequence[NamedRepository]) -> None:
        """Take the campaign's list of repositories as the one that counts; what is known of others is kept."""
        with self._step():
            self._connection.execute("UPDATE repository SET position = NULL")
            self._connection.executemany(
                "INSERT INTO repository (key, name, location, local, position) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET name = excluded.name, location = excluded.location, "
                "local = excluded.local, position = excluded.position",
                [(one.key, one.name, one.location, one.local, number) for number, one in enumerate(targets)],
            )

    def row(self, target: NamedRepository) -> Row:
        """What is known of a repository."""
        return next(read(self._connection, "WHERE key = ?", (target.key,), bytes_too=True))

    def rows(self, *, bytes_too: bool = False) -> Iterator[Row]:
        """The repositories of the campaign, in its order; patches and packs only where somebody wants them."""
        return read(self._connection, "WHERE position IS NOT NULL ORDER BY position", bytes_too=bytes_too)

    def answered(self, row: Row, answer: JobResult, mark: str) -> None:
        """A repository was looked at; what is to be delivered is written down."""
        with self._step():
            if answer.ending not in (None, Ending.NOTHING):
                self._end(row, answer.ending, answer.detail)
            elif not answer.unchanged:
                self._connection.execute(
                    "UPDATE repository SET mark = ?, base = ?, base_name = ?, places = ?, notes = ?, skipped = ? "
                    "WHERE id = ?",
                    (
                        # Asking again would give the same answer, unless a command could not be run.
                        mark if all(change.ending is not Ending.FAILED for change in answer.changes) else None,
                        answer.base,
                        answer.base_name,
                        json.dumps([asdict(place) for place in answer.places]),
                        json.dumps(answer.notes),
                        answer.skipped,
                        row.id,
                    ),
                )
                self._replace_branches(row, answer.changes)
                self._end(row, None, answer.detail)

    def _replace_branches(self, row: Row, changes: Sequence[BranchChange]) -> None:
        before = {branch.name: branch for branch in row.branches}
        for change in changes:
            self._write(row, change, before.pop(change.branch, None))
        for branch in before.values():
            if branch.stage == "prepared" and not self.tips(row, branch.name):
                self._connection.execute("DELETE FROM branch WHERE repository = ? AND name = ?", (row.id, branch.name))
            elif branch.stage != "withdrawn":
                self._set(row, branch.name, stage="prepared", pack=None, ending=Ending.NOTHING)

    def _write(self, row: Row, change: BranchChange, old: Branch | None) -> None:
        """Write down what is to be delivered, unless it is there and reads the same already."""
        values: dict[str, object] = {
            "part": change.part,
            "owners": json.dumps(change.owners),
            "title": change.title,
            "body": change.body,
            "patch": change.patch,
            "commits": json.dumps(change.commits),
            "series": json.dumps(change.series),
            "verdict": change.verdict,
            "verification": change.verification,
        }
        if old is not None and old.stage in ("done", "closed") and old.series == change.series and not change.ending:
            # The base has moved on, and the change is the same: a branch that stays where it is wakes nobody up.
            reads = row.local or old.stage == "closed" or (old.title, old.body) == (change.title, change.body)
            kept = {name: value for name, value in values.items() if name != "commits"}
            self._set(row, old.name, **kept, **({} if reads else {"stage": "prepared"}))
            return
        values |= {"stage": "prepared", "tip": change.tip, "pack": change.pack, "ending": change.ending, "detail": ""}
        if old is not None:
            self._set(row, old.name, **values)
            return
        values |= {"repository": row.id, "name": change.branch}
        marks = ", ".join("?" for _ in values)
        self._connection.execute(f"INSERT INTO branch ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))

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
                "INSERT INTO tip VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET at = excluded.at WHERE at = 0",
                (row.id, branch.name, branch.tip, time.time()),
            )

    def counted(self, row: Row, branch: Branch) -> bool:
        """Whether the delivery of what a branch holds now has been counted against the limits already."""
        found = self._connection.execute(
            "SELECT 1 FROM tip WHERE repository = ? AND branch = ? AND oid = ? AND at > 0",
            (row.id, branch.name, branch.tip),
        )
        return found.fetchone() is not None

    def recent(self) -> list[float]:
        """When branches were delivered within the last hour, oldest first."""
        found = self._connection.execute("SELECT at FROM tip WHERE at > ? ORDER BY at", (time.time() - HOUR,))
        return [at for (at,) in found]

    def standing(self) -> int:
        """How many branches wait for review, as far as is known."""
        return int(
            self._connection.execute(
                "SELECT count(*) FROM branch WHERE stage = 'done' AND ending IS 'changed'"
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
        request: tuple[int, str] | None = None,
    ) -> None:
        """A branch has come further, or not.

        Args:
            request: the number and the address of its pull request.
        """
        with self._step():
            values: dict[str, object] = {"stage": stage, "ending": ending, "detail": detail}
            if stage != "prepared":
                values["pack"] = None
            elif ending is not Ending.LIMITED:
                # It did not come to it.
                self._connection.execute(
                    "UPDATE tip SET at = 0 WHERE repository = ? AND branch = ? AND oid = ?",
                    (row.id, branch.name, branch.tip),
                )
            if request is not None:
                values |= {"pull_request": request[0], "url": request[1]}
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
