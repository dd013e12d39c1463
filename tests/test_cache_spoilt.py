"""Whatever lies where the cache should lie: a check says what it says without one, and so does the next."""

from __future__ import annotations

import gc
import os
import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from test_cache import LOOP, NET, OLD, SOME, TEXTS, said
from world import repository, write

from codemods.project.dependencies import name_of
from fixer.run import cache
from fixer.run.cache import Cache, key_of


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository, and beside it a cache in which everything about it is known."""
    place = tmp_path_factory.mktemp("spoilt")
    many = {f"more/m{number}.py": f"x = {number}\n" for number in range(60)}
    at = repository(place / "project", {**{path: texts[0] for path, texts in TEXTS.items()}, **many})
    for _ in range(2):
        said(at)
    gc.collect()  # closes the database
    database = sqlite3.connect(place / "cache" / cache.FILE)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    shutil.copytree(place / "cache", place / "whole")
    return at


@pytest.fixture(scope="module")
def anew(there: Path) -> dict[bool, str]:
    """What a check without a cache says, of the files as they were committed and of changed ones."""
    found = {}
    for changed in (False, True):
        change(there, changed)
        found[changed] = said(there, "--no-cache")
    assert found[False] != found[True]
    return found


def change(at: Path, changed: bool) -> None:
    write(at, {"base.py": TEXTS["base.py"][changed], "more/m7.py": OLD if changed else "x = 7\n"})


def agree(there: Path, anew: dict[bool, str]) -> None:
    """Check that a spoilt cache is of no consequence, whether something has changed or nothing has."""
    for changed in (False, True):
        spoilt = shutil.copytree(there.parent / "cache", there.parent / "spoilt")
        change(there, changed)
        assert said(there) == anew[changed]
        assert said(there) == anew[changed]
        gc.collect()
        shutil.rmtree(there.parent / "cache")
        spoilt.rename(there.parent / "cache")


@pytest.fixture(autouse=True)
def as_it_was(there: Path) -> Path:
    """The cache, whole."""
    for name in ("cache", "spoilt"):
        shutil.rmtree(there.parent / name, ignore_errors=True)
    return Path(shutil.copytree(there.parent / "whole", there.parent / "cache"))


@pytest.mark.parametrize("seed", range(50))
def test_bytes_that_flip(there: Path, anew: dict[bool, str], as_it_was: Path, seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray((as_it_was / cache.FILE).read_bytes())
    for _ in range(chance.choice((1, 8, 200))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    (as_it_was / cache.FILE).write_bytes(data)
    change(there, bool(seed % 2))
    assert said(there) == anew[bool(seed % 2)]


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_an_end_that_is_missing(there: Path, anew: dict[bool, str], as_it_was: Path, part: float) -> None:
    file = as_it_was / cache.FILE
    file.write_bytes(file.read_bytes()[: int(part * file.stat().st_size)])
    agree(there, anew)


def test_pages_of_another_database(there: Path, anew: dict[bool, str], as_it_was: Path) -> None:
    """What SQLite would add to the file when it is opened."""
    other = Cache(there.parent / "other")
    other.keep([(b"%d" % number, SOME) for number in range(300)], [])
    shutil.copy(f"{other.file}-wal", f"{as_it_was / cache.FILE}-wal")
    other.close()
    agree(there, anew)


@pytest.mark.parametrize(
    "statements",
    [
        pytest.param("DROP TABLE results; CREATE TABLE results (a, b)", id="a table of other columns"),
        pytest.param("DROP TABLE contents; CREATE VIEW contents AS SELECT 1 AS identity, 2 AS value", id="a view"),
        pytest.param("PRAGMA user_version = 999", id="a later format"),
        pytest.param("UPDATE results SET value = 'text'; UPDATE contents SET value = 1", id="values of other types"),
        pytest.param("UPDATE innocent SET names = NULL", id="no value"),
        pytest.param("UPDATE innocent SET names = 'text'", id="text for names"),
        pytest.param(
            "UPDATE results SET value = (SELECT value FROM results AS r WHERE r.key > results.key LIMIT 1)",
            id="the values of other keys",
        ),
        pytest.param("UPDATE contents SET value = (SELECT max(value) FROM contents)", id="another content"),
    ],
)
def test_another_program_has_written_it(there: Path, anew: dict[bool, str], as_it_was: Path, statements: str) -> None:
    with sqlite3.connect(as_it_was / cache.FILE) as database:
        database.executescript(statements)
    database.close()
    agree(there, anew)


def test_names_of_other_rules(there: Path, anew: dict[bool, str], as_it_was: Path) -> None:
    """As if no rule wanted any file."""
    names = b"".join(key_of(name_of(text.encode()), (None, True, False))[:20] for text in (NET, LOOP, OLD))
    with sqlite3.connect(as_it_was / cache.FILE) as database:
        database.execute("DELETE FROM results")
        assert database.execute("UPDATE innocent SET names = ?", (names,)).rowcount
    database.close()
    agree(there, anew)


def test_a_directory_in_its_place(there: Path, anew: dict[bool, str], as_it_was: Path) -> None:
    (as_it_was / cache.FILE).unlink()
    (as_it_was / cache.FILE / "below").mkdir(parents=True)
    agree(there, anew)


def test_a_file_in_place_of_the_directory(there: Path, anew: dict[bool, str], as_it_was: Path) -> None:
    shutil.rmtree(as_it_was)
    as_it_was.write_bytes(b"no directory")
    for changed in (False, True):
        change(there, changed)
        assert said(there) == anew[changed]
    as_it_was.unlink()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
@pytest.mark.parametrize("mode", [0o000, 0o500])
def test_what_may_not_be_written(there: Path, anew: dict[bool, str], as_it_was: Path, mode: int) -> None:
    as_it_was.chmod(mode)
    try:
        for changed in (False, True):
            change(there, changed)
            assert said(there) == anew[changed]
    finally:
        as_it_was.chmod(0o700)


def test_one_that_is_spoilt_is_made_anew(there: Path, anew: dict[bool, str], as_it_was: Path) -> None:
    file = as_it_was / cache.FILE
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    change(there, False)
    for _ in range(3):
        assert said(there) == anew[False]
    with sqlite3.connect(file) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT count(*) FROM results").fetchone() > (0,)
    database.close()
