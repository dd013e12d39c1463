"""What was found before, in a file that is shared by all repositories of a person, and may be copied to others.

Results are kept by the content of the file they are of, its path, the rules, and how they were to run; each with the
questions that were asked about other files and their answers (`codemods.project.results`). Nothing in the cache is
trusted: what cannot be read is forgotten, and no code can come out of it.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import sqlite3
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemods.model.edits import SkipReason
from codemods.project.dependencies import Answered, Search, identity, name_of, packed, unpacked
from codemods.project.results import Kept, Remembered
from codemods.sources import files
from fixer.run import rule_index

if TYPE_CHECKING:
    from codemods.engine.prefilter import RuleInfo
    from codemods.model.plan import FilePlan, Plan
    from codemods.project.index import Index
    from fixer.run.execute import Prefiltered, Task

FILE = "results.sqlite"
LARGEST = 200_000_000
"""Bytes of results; the ones that were not used for longest go first."""
PREFILTERS = 8
"""Sets of rules for which the files are known that none of them wants."""
MOST_NAMES = 500_000
PATIENCE = 2
"""Seconds to wait for another process that holds the file."""
LATELY = 24 * 60 * 60
"""Seconds for which a result that was used is not noted as used again."""
_NAME = 20
"""Bytes of a name of content."""
_SEAL = 16
"""Bytes by which a value shows that it is whole, and that it was kept by this name."""
_FORMAT = 7
_AT_ONCE = 500
_PLAIN = frozenset(
    {
        *(("codemods.model.edits", name) for name in ("Finding", "Place", "Fix", "Edit", "Safety")),
        *(
            ("codemods.model.edits", name)
            for name in ("Skip", "SkipReason", "Consequence", "Certainty", "Evidence", "Unaffected")
        ),
        ("codemods.project.results", "Remembered"),
        ("codemods.project.dependencies", "Answered"),
        *(("codemods.model.plan", name) for name in ("Plan", "FilePlan", "Project", "Target")),
        *(("codemods.model.plan", name) for name in ("UnusedSuppression", "SuppressedFinding", "OtherVersions")),
        ("builtins", "frozenset"),
    }
)
"""What a result consists of. Nothing else is made when one is read."""


def clear(place: Path) -> None:
    """Forget everything that is kept there."""
    for name in (FILE, f"{FILE}-wal", f"{FILE}-shm", rule_index.FILE):
        with suppress(OSError):
            (place / name).unlink()


class Cache:
    """A database of results. Whatever goes wrong with it makes it forget, and nothing else."""

    def __init__(self, place: Path, held: dict[bytes, Any] | None = None) -> None:
        """`held`: results that this process has read before; those that are read now are added."""
        self.file = place / FILE
        self._held = held
        self._database = self._open()
        self._recent: set[bytes] = set()
        """Results that are known to have been used lately."""

    def results(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        """Those of the results that are known."""
        held = self._held or {}
        found: dict[bytes, Any] = {key: held[key] for key in keys if key in held}
        if self._held is not None:
            self._recent.update(found)
            keys = [key for key in keys if key not in found]
        latest = time.time() - LATELY
        for key, value, used in self._those("SELECT key, value, used FROM results WHERE key", keys):
            if isinstance(used, int) and used > latest:
                self._recent.add(key)
            with suppress(Exception):  # a damaged one
                found[key] = _Reader(io.BytesIO(zlib.decompress(_unsealed(key, value)))).load()
        if self._held is not None:
            self._held.update(found)
        return found

    def innocent(self, prefilter: bytes) -> frozenset[bytes]:
        """The names of contents that a prefilter lets no rule look at."""
        rows = self._rows("SELECT names FROM innocent WHERE prefilter = ?", [prefilter])
        names = b"".join(_unsealed(prefilter, blob) for (blob,) in rows)
        return frozenset(names[at : at + _NAME] for at in range(0, len(names), _NAME))

    def text(self, identity: str) -> bytes | None:
        """The content of that identity, if it was kept."""
        for (value,) in self._rows("SELECT value FROM contents WHERE identity = ?", [identity.encode()]):
            with suppress(zlib.error, TypeError):
                data = zlib.decompress(value)
                return data if name_of(data) == identity else None
        return None

    def keep_texts(self, texts: Mapping[str, Callable[[], bytes | None]]) -> None:
        """Keep contents by their identities; what is known is not read again."""
        names = [identity.encode() for identity in texts]
        known: set[bytes] = set()
        for at in range(0, len(names), _AT_ONCE):
            some = names[at : at + _AT_ONCE]
            marks = ",".join("?" * len(some))
            known.update(
                name for (name,) in self._rows(f"SELECT identity FROM contents WHERE identity IN ({marks})", some)
            )
        new = ((name, texts[name.decode()]()) for name in names if name not in known)
        if self._database is None:
            return
        rows = [(name, zlib.compress(data, 1)) for name, data in new if data is not None]
        with self._writing() as database:
            database.executemany("UPDATE contents SET used = strftime('%s') WHERE identity = ?", ((n,) for n in known))
            database.executemany("INSERT OR REPLACE INTO contents VALUES (?, ?, strftime('%s'))", rows)
            _shrink(database, "contents", "identity")

    def keep(self, results: Iterable[tuple[bytes, Any]], used: Iterable[bytes]) -> None:
        """Keep results, and note which others were of use."""
        if self._database is None:
            return
        rows = [(key, _sealed(key, zlib.compress(pickle.dumps(value, protocol=5), 1))) for key, value in results]
        old = [(key,) for key in used if key not in self._recent]
        if not rows and not old:
            return
        with self._writing() as database:
            database.executemany("UPDATE results SET used = strftime('%s') WHERE key = ?", old)
            database.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, strftime('%s'))", rows)
            _shrink(database, "results", "key")

    def keep_innocent(self, prefilter: bytes, names: frozenset[bytes]) -> None:
        """Keep all the names of a prefilter; those of the prefilters that were not used for longest go."""
        if self._database is None:
            return
        latest = "SELECT prefilter FROM innocent ORDER BY used DESC LIMIT ?"
        with self._writing() as database:
            database.execute(
                "INSERT OR REPLACE INTO innocent VALUES (?, ?, strftime('%s'))",
                (prefilter, _sealed(prefilter, b"".join(names))),
            )
            database.execute(f"DELETE FROM innocent WHERE prefilter NOT IN ({latest})", (PREFILTERS,))

    def close(self) -> None:
        """Let go of the file."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self) -> sqlite3.Connection | None:
        # SQLite does not wait for a lock on a file that another process turns into one with a log.
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return self._opened()
            except sqlite3.OperationalError as error:  # locked, or not ours to write
                if "locked" not in str(error) or time.monotonic() > until:
                    return None
                time.sleep(0.01)

    def _opened(self) -> sqlite3.Connection | None:
        for last in (False, True):
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True)
                database = sqlite3.connect(self.file, timeout=PATIENCE, isolation_level=None)
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = OFF")
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if version not in (0, _FORMAT):
                    raise sqlite3.DatabaseError("of another format")
                database.executescript(
                    "CREATE TABLE IF NOT EXISTS results (key BLOB PRIMARY KEY, value BLOB, used INTEGER) WITHOUT ROWID;"
                    "CREATE TABLE IF NOT EXISTS contents (identity BLOB PRIMARY KEY, value BLOB, used INTEGER)"
                    " WITHOUT ROWID;"
                    "CREATE TABLE IF NOT EXISTS innocent (prefilter BLOB PRIMARY KEY, names BLOB, used INTEGER);"
                    f"PRAGMA user_version = {_FORMAT}"
                )
                return database
            except sqlite3.OperationalError:
                raise
            except (sqlite3.Error, OSError, UnicodeDecodeError):
                if last:
                    return None
                clear(self.file.parent)
        return None

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        """Do without the file if it fails; where it is damaged, the next run makes it anew."""
        try:
            yield
        except sqlite3.OperationalError:  # locked, full, or of other columns
            pass
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            self.close()
            clear(self.file.parent)

    def _those(self, query: str, keys: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
        """The rows of a query that ends with the column in which the keys are looked for."""
        for at in range(0, len(keys), _AT_ONCE):
            some = keys[at : at + _AT_ONCE]
            yield from self._rows(f"{query} IN ({','.join('?' * len(some))})", some)

    def _rows(self, query: str, values: Sequence[bytes]) -> list[Any]:
        with self._forgiving():
            return self._database.execute(query, values).fetchall() if self._database is not None else []
        return []

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        assert self._database is not None
        with self._forgiving():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._database.execute("ROLLBACK")
                raise


def _shrink(database: sqlite3.Connection, table: str, key: str) -> None:
    """Forget half of a table that has grown too large: what was not used for longest."""
    (size,) = database.execute(f"SELECT coalesce(sum(length(value)), 0) FROM {table}").fetchone()
    if size > LARGEST:
        (count,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()
        oldest = f"SELECT {key} FROM {table} ORDER BY used LIMIT ?"
        database.execute(f"DELETE FROM {table} WHERE {key} IN ({oldest})", (count // 2,))


def _sealed(name: bytes, value: bytes) -> bytes:
    return hashlib.sha256(name + value).digest()[:_SEAL] + value


def _unsealed(name: bytes, value: object) -> bytes:
    """A value that was kept by that name; nothing if it is another one, or damaged."""
    whole = value[_SEAL:] if isinstance(value, bytes) else b""
    return whole if value == _sealed(name, whole) else b""


class _Reader(pickle.Unpickler):
    """Reads plain data, and nothing that runs."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _PLAIN:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a result")
        return super().find_class(module, name)


class Past:
    """What is known of the files of one task: which ones no rule wants, and what was found in the others."""

    def __init__(self, cache: Cache, task: Task) -> None:
        order = task.order
        self._cache, self._reader = cache, order.reader
        self._prefilter = key_of("prefilter", of_rules(order.rules), task.generated)
        how = order.unsafe, order.strategies, order.targets, order.wanted, order.codes, task.generated
        self._order = key_of("look", of_rules(order.rules), *how)
        self._paths = hashlib.sha256("\0".join(task.paths).encode("utf-8", "surrogateescape")).hexdigest()
        self._keys: dict[str, bytes] = {}
        self._innocent: frozenset[bytes] = frozenset()
        self._of_files: Mapping[str, str] | None = None
        self._of_tree: bytes | None = None
        self._shared: dict[Answered, bytes] = {}
        self._searches = key_of("searches", program(), str(getattr(order.reader, "root", "")))

    def whole(self, *, fix: bool) -> Plan | None:
        """The plan of all the files, if every file of the tree is as it was and nothing in it is to be fixed now."""
        key = self._run()
        plan: Plan | None = self._cache.results([key]).get(key)
        if plan is None or (fix and any(finding.fix for finding in plan.findings)):
            return None
        return replace(plan, files=tuple(self._as_it_is(file) for file in plan.files))

    def _as_it_is(self, file: FilePlan) -> FilePlan:
        data = self._reader.read(file.path) or b""
        return replace(file, before=data, after=data)

    def unknown(self, paths: Sequence[str]) -> Sequence[str]:
        """The paths but those whose content no rule wants."""
        self._innocent = self._cache.innocent(self._prefilter)
        return [path for path in paths if self._name(path) not in self._innocent]

    def note_innocent(self, asked: Sequence[str], left_over: Prefiltered) -> None:
        """Keep which of the paths that were unknown no rule wants."""
        left = {path for path, *_ in (*left_over.wanted, *left_over.unsure)} | {*left_over.unread}
        names = {name for path in asked if path not in left and (name := self._name(path))}
        if names:
            both = self._innocent | names
            self._cache.keep_innocent(self._prefilter, frozenset(names) if len(both) > MOST_NAMES else both)

    def memory(self, paths: Sequence[str], index: Index) -> Kept:
        """What was found in these files, as far as every question that led there has the same answer now."""
        self._keys = {path: key_of(self._order, path, identity(self._reader, path)) for path in paths}
        results = self._cache.results([*self._keys.values(), self._searches])
        names, searches = results.get(self._searches) or ({}, ())
        index.past, index.searched = self._cache.text, _Searched(names, searches, self._identities(), index)
        known = self._with_shared({path: results[key] for path, key in self._keys.items() if key in results})
        return Kept({path: each for path, each in known.items() if each.holds(index)})

    def _with_shared(self, kept: Mapping[str, tuple[Remembered, Sequence[bytes]]]) -> dict[str, Remembered]:
        """Results with what they share, which is kept once; those of which a part is missing are left out."""
        parts: dict[bytes, Any] = {}
        wanted = {name for _, names in kept.values() for name in names}
        while wanted:
            found = self._cache.results(list(wanted))
            parts |= found
            wanted = {name for _, further in found.values() for name in further if name not in parts}
        made: dict[bytes, Answered | None] = {}

        def part(name: bytes) -> Answered | None:
            if name not in made:
                made[name] = None
                if name in parts:
                    made[name] = with_further(*parts[name])
            return made[name]

        def with_further(asked: Answered, names: Sequence[bytes]) -> Answered | None:
            further = tuple(inner for inner in map(part, names) if inner is not None)
            return replace(asked, further=further) if len(further) == len(names) else None

        whole = {}
        for path, (each, names) in kept.items():
            if (asked := with_further(each.asked, names)) is not None:
                whole[path] = replace(each, asked=asked)
        self._shared = {each: name for name, each in made.items() if each is not None}
        return whole

    def keep(self, memory: Kept, index: Index) -> None:
        """Keep what was found this time, file by file; nothing where a file could not be read: that may pass."""
        if not getattr(self._reader, "steady", True):
            return
        unread = {skip.path for each in memory.new for skip in each.skips if skip.reason is SkipReason.UNREADABLE}
        new = {each.path: each for each in memory.new if each.path in self._keys and each.path not in unread}
        parts = _parts(each.asked for each in new.values())
        results: list[tuple[bytes, Any]] = [(self._name_of(part), self._apart(part)) for part in parts]
        for path, each in new.items():
            asked, names = self._apart(each.asked)
            results.append((self._keys[path], (replace(each, asked=asked), names)))
        searches = [(packed(question), found) for question, found in index.searches().items()]
        results.append((self._searches, (self._identities(), tuple(searches))))
        used = map(self._name_of, _parts(each.asked for each in memory.known.values()))
        self._cache.keep(results, [*(self._keys[path] for path in memory.known), *used])
        asking = (*parts, *(each.asked for each in new.values()))
        read = {(path, content) for each in asking for path, content, _ in each.by_file}
        self._cache.keep_texts(
            {answer: partial(self._reader.read, files.container(path)) for path, answer in read if answer}
        )

    def _name_of(self, part: Answered) -> bytes:
        """A name for what several results share."""
        if part not in self._shared:
            self._shared[part] = key_of("shared", *self._apart(part))
        return self._shared[part]

    def _apart(self, asked: Answered) -> tuple[Answered, tuple[bytes, ...]]:
        """Questions without those that are kept apart, and the names of these."""
        return replace(asked, further=()), tuple(map(self._name_of, asked.further))

    def keep_whole(self, plan: Plan) -> None:
        """Keep the plan of all the files together, if it changes nothing and nothing went wrong: that may pass."""
        passing = (SkipReason.RULE_FAILED, SkipReason.UNREADABLE)
        if not plan.changed and not any(skip.reason in passing for skip in plan.skips):
            files = tuple(replace(file, before=b"", after=b"") for file in plan.files)
            self._cache.keep([(self._run(), replace(plan, files=files))], ())

    def _run(self) -> bytes:
        """A name for this task in this state of the tree."""
        return key_of("run", self._tree(), self._prefilter, self._order, self._paths)

    def _name(self, path: str) -> bytes | None:
        """What stands for the content of a file and the kind of file it is, where git knows it."""
        known = getattr(self._reader, "identity", None)
        name = known(path) if known is not None else None
        kind = files.kind(path), files.is_python(path), path.endswith(files.NOTEBOOK)
        return key_of(name, kind)[:_NAME] if name else None

    def _identities(self) -> Mapping[str, str]:
        """What stands for the content of each file that may be read."""
        if self._of_files is None:
            self._of_files = {path: identity(self._reader, path) for path in self._reader.files()}
        return self._of_files

    def _tree(self) -> bytes:
        """A name for all the files that may be read."""
        if self._of_tree is None:
            names = "\0".join(chain.from_iterable(self._identities().items()))
            self._of_tree = key_of("tree", program(), hashlib.sha256(names.encode("utf-8", "surrogateescape")).digest())
        return self._of_tree


def _parts(asked: Iterable[Answered]) -> Sequence[Answered]:
    """What is kept apart of some questions, each part once, with the parts in it."""
    waiting = [part for each in asked for part in each.further]
    found: dict[Answered, None] = {}
    while waiting:
        part = waiting.pop()
        if part not in found:
            found[part] = None
            waiting += part.further
    return tuple(found)


class _Searched:
    """The searches of an earlier run, brought up to date by looking into the files that have changed since."""

    def __init__(
        self, before: Mapping[str, str], searches: Iterable[tuple[Any, Any]], now: Mapping[str, str], index: Index
    ) -> None:
        self._found = {unpacked(asked): frozenset(found) for asked, found in searches}
        self._changed = {path for path in {*before, *now} if before.get(path) != now.get(path)} if before else set()
        self._now, self._index = now, index

    def __call__(self, question: Search) -> tuple[str, ...] | None:
        found = self._found.get(question)
        if found is None:
            return None
        changed = (path for path in self._changed if path in self._now and question.covers(path))
        new = (path for path in changed if self._index.holds(path, question))
        return tuple(sorted((*(found - self._changed), *new)))


def key_of(*parts: object) -> bytes:
    """A name for what depends on these values, and on nothing else."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()


@cache
def program() -> bytes:
    """A name for the program itself, and what it reads Python with: another one finds other things."""
    import codemods

    package = Path(codemods.__file__).parent
    kept = (path for end in ("*.py", "*.toml", "*.json") for path in package.rglob(end))
    sources = sorted(path for path in kept if "verify" not in path.parts)
    digest = hashlib.sha256(repr((sys.version_info[:2], _installed("libcst"), _installed("packaging"))).encode())
    for path in sources:
        digest.update(path.read_bytes())
    return digest.digest()


def _installed(package: str) -> list[tuple[str, int, int]]:
    """A name for what is installed of a package: its modules by size and time of change, without importing any."""
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None, f"{package} is not installed"
    stats = [(path.name, path.stat()) for path in sorted(Path(spec.origin).parent.glob("*.py"))]
    return [(name, status.st_size, status.st_mtime_ns) for name, status in stats]


def of_rules(rules: Sequence[RuleInfo]) -> bytes:
    """A name for rules, those of other packages included."""
    foreign = {module for rule in rules if (module := rule.module) and not module.startswith("codemods.")}
    sources = [Path(sys.modules[name].__file__ or "").read_bytes() for name in sorted(foreign)]
    return key_of(program(), [rule.code for rule in rules], [hashlib.sha256(text).hexdigest() for text in sources])
