"""What can go wrong with a run of `fixer`, for `sweep_faults.py`: each kind does it once, at a random moment."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults import Act, Ended, Fault, another_clock, failing, limited, out_of_memory, told
from sweep_faults import ERRORS, MINE, ROOM, SIGNALS, WAYS, Ground, Trial

Done = tuple[str, Sequence[Ended]]
"""What was done, in words, and how the commands ended."""
WINDOW = {"os.rename", "os.link"}
"""Between the last look at a file and its renaming lies one call of the system: what changes in it is not seen."""
SOURCES = ("src/raw_backward.py", "src/implicit_reentrant.py", "src/detached_loss.py")
YEARS = 300_000_000.0


@dataclass(frozen=True)
class Kind:
    """One kind of fault."""

    do: Callable[[Trial, random.Random], Done]
    fits: Callable[[Ground, str], bool] = lambda ground, way: True
    tidy: bool = True
    """Whether the run itself can tidy up; otherwise the next one does."""


def _moment(trial: Trial, chance: random.Random, but: set[str] = frozenset()) -> int:  # type: ignore[assignment]
    """The number of an event; half of them are about writing."""
    events = trial.ground.events[trial.way]
    writing = chance.random() < 0.5
    numbers = [n for n, (name, writes) in enumerate(events) if (writes or not writing) and name not in but]
    return chance.choice(numbers)


def _at(trial: Trial, chance: random.Random, act: Act, *, lasting: bool = False, but: set[str] | None = None) -> Done:
    when = _moment(trial, chance, but or set())
    return f" at event {when} ({trial.ground.events[trial.way][when][0]})", [trial.run(fault=Fault(when, act, lasting))]


def _signal(trial: Trial, chance: random.Random) -> Done:
    number = chance.choice(SIGNALS)
    where, ended = _at(trial, chance, told(number))
    return f" {number.name}{where}", ended


def _signal_after_a_while(trial: Trial, chance: random.Random) -> Done:
    number, seconds = chance.choice(SIGNALS), chance.uniform(0, 0.25)

    def meanwhile(pid: int) -> None:
        time.sleep(seconds)
        with suppress(ProcessLookupError):
            os.kill(pid, number)

    return f" {number.name} after {seconds:.3f} s", [trial.run(fault=Fault(meanwhile=meanwhile))]


def _error(trial: Trial, chance: random.Random) -> Done:
    number, lasting = chance.choice(ERRORS), chance.random() < 0.5
    where, ended = _at(trial, chance, failing(number), lasting=lasting)
    return f" {os.strerror(number)}{where}{' and from then on' if lasting else ''}", ended


def _memory(trial: Trial, chance: random.Random) -> Done:
    return _at(trial, chance, out_of_memory, lasting=chance.random() < 0.5)


def _mount(trial: Trial, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(trial.ground.place)], capture_output=True)


def _full(trial: Trial, chance: random.Random) -> Done:
    room = chance.choice((0, 4096, 8192, 16384, 40960, 100_000))

    def act(name: str, arguments: tuple[Any, ...]) -> None:
        state = os.statvfs(trial.ground.place)
        _mount(trial, f"size={(state.f_blocks - state.f_bfree) * state.f_bsize + room}")

    trial.mend.append(lambda: _mount(trial, f"size={ROOM}"))
    where, ended = _at(trial, chance, act)
    return f" {room} bytes left{where}", ended


def _read_only(trial: Trial, chance: random.Random) -> Done:
    trial.mend.append(lambda: _mount(trial, "rw"))
    return _at(trial, chance, lambda name, arguments: _mount(trial, "ro"))


def _file_size(trial: Trial, chance: random.Random) -> Done:
    size = chance.choice((1000, 2000, 4096, 10_000, 20_000, 30_000))
    return f" {size}", [trial.run(fault=Fault(prepare=limited(resource.RLIMIT_FSIZE, size)))]


def _open_files(trial: Trial, chance: random.Random) -> Done:
    count = chance.randrange(4, 30)
    return f" {count}", [trial.run(fault=Fault(prepare=limited(resource.RLIMIT_NOFILE, count)))]


def _edited(trial: Trial, chance: random.Random) -> Done:
    # What undo is not to give back, it leaves together with what it is tied to.
    path, whole = chance.choice(SOURCES if trial.way == "undo" else (*SOURCES, "tied/a.py")), chance.random() < 0.5
    file = trial.root / path
    trial.theirs[path] = [trial.before[path] + MINE, trial.after[path] + MINE]

    def act(name: str, arguments: tuple[Any, ...]) -> None:
        if whole:  # as editors do
            file.with_suffix(".new").write_bytes(file.read_bytes() + MINE)
            file.with_suffix(".new").replace(file)
        else:
            with file.open("ab") as stream:
                stream.write(MINE)

    where, ended = _at(trial, chance, act, but=WINDOW)
    if not ended[0].hit:
        del trial.theirs[path]
    return f" {path}{' as a new file' if whole else ''}{where}", ended


def _removed(trial: Trial, chance: random.Random) -> Done:
    path = chance.choice(SOURCES)
    trial.theirs[path] = [None]
    where, ended = _at(trial, chance, lambda name, arguments: (trial.root / path).unlink(), but=WINDOW)
    if not ended[0].hit:
        del trial.theirs[path]
    return f" {path}{where}", ended


def _linked(trial: Trial, chance: random.Random) -> Done:
    path = chance.choice(SOURCES)
    target = trial.place / "outside/theirs.py"
    target.write_bytes(trial.before[path])
    trial.theirs[path] = [trial.before[path]]

    def act(name: str, arguments: tuple[Any, ...]) -> None:
        (trial.root / path).unlink()
        (trial.root / path).symlink_to(target)

    where, ended = _at(trial, chance, act, but=WINDOW)
    if not ended[0].hit:
        del trial.theirs[path]
    return f" {path}{where}", ended


def swapping(trial: Trial, name: str) -> Act:
    """Put a link to a copy outside of the repository in place of a directory; `trial.mend` puts it back."""
    real, away, outside = trial.root / name, trial.root / f"{name}.away", trial.place / "outside" / name
    shutil.copytree(real, outside)

    def act(event: str, arguments: tuple[Any, ...]) -> None:
        real.rename(away)
        real.symlink_to(outside, target_is_directory=True)

    def mend() -> None:
        if away.exists():
            real.unlink()
            away.rename(real)

    trial.mend.append(mend)
    return act


def _swapped(trial: Trial, chance: random.Random) -> Done:
    name = chance.choice(("src", "tied", "closure"))
    where, ended = _at(trial, chance, swapping(trial, name), but=WINDOW)
    return f" {name}{where}", ended


def _moved(trial: Trial, chance: random.Random) -> Done:
    away = trial.place / "moved"

    def mend() -> None:
        if away.exists():
            assert not trial.root.exists(), "something was written where the repository had been"
            away.rename(trial.root)

    trial.mend.append(mend)
    return _at(trial, chance, lambda name, arguments: trial.root.rename(away), but=WINDOW)


def _twice(trial: Trial, chance: random.Random) -> Done:
    second: list[Ended] = []
    seconds = chance.choice((0.0, chance.uniform(0, 0.2)))

    def meanwhile(pid: int) -> None:
        time.sleep(seconds)
        second.append(trial.run())

    first = trial.run(fault=Fault(meanwhile=meanwhile))
    return f" {seconds:.3f} s apart", [first, *second]


def _spoil(cache: Path, chance: random.Random) -> str:
    """Damage something in a cache."""
    how = chance.choice(("gone", "cut", "noise", "format", "columns", "directory", "rules"))
    database, rules = cache / "results.sqlite", cache / "rules.json"
    if how == "gone":
        shutil.rmtree(cache)
    elif how == "rules":
        rules.write_bytes(b"\0" * 100)
    elif how == "directory":
        database.unlink(missing_ok=True)
        (database / "below").mkdir(parents=True)
    elif database.is_file() and how in ("cut", "noise"):
        data = database.read_bytes()
        half = data[: len(data) // 2]
        database.write_bytes(half if how == "cut" else half + chance.randbytes(len(half)))
    elif database.is_file():
        statement = "PRAGMA user_version = 99" if how == "format" else "DROP TABLE results; CREATE TABLE results (a)"
        with suppress(sqlite3.Error), sqlite3.connect(database, timeout=0.1) as connection:
            connection.executescript(statement)
    return how


def _cache(trial: Trial, chance: random.Random) -> Done:
    trial.run(WAYS["check"])
    if chance.random() < 0.5:
        return f" {_spoil(trial.place / 'cache', chance)} before", [trial.run()]
    seed = chance.random()
    where, ended = _at(trial, chance, lambda name, _: void(_spoil(trial.place / "cache", random.Random(seed))))
    return f" {where}", ended


def void(value: object) -> None:
    """Nothing."""


def _worker(trial: Trial, chance: random.Random) -> Done:
    number = chance.choice((signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGSTOP))
    seconds = chance.uniform(0, 1.0)

    def prepare() -> None:
        from fixer.run import execute, pool

        execute.ENOUGH_LINES, execute.CHUNK_LINES = 1, 60
        pool.SILENCE, pool.FAREWELL = 3.0, 1.0

    def meanwhile(pid: int) -> None:
        end = time.monotonic() + seconds
        workers: list[int] = []
        while time.monotonic() < end or not workers:
            try:
                workers = [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
            except OSError:
                return
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return
            time.sleep(0.01)
        with suppress(ProcessLookupError, IndexError):
            os.kill(chance.choice(workers), number)

    words = tuple("2" if word == "1" else word for word in WAYS[trial.way])
    return f" {number.name} after {seconds:.2f} s", [trial.run(words, Fault(prepare=prepare, meanwhile=meanwhile))]


def _clock(trial: Trial, chance: random.Random) -> Done:
    for path in sorted(trial.before):
        if chance.random() < 0.5:
            moment = time.time() + chance.choice((-YEARS, -1.0, 0.0, 3.0, YEARS))
            os.utime(trial.root / path, (moment, moment))
    return _at(trial, chance, another_clock(chance.choice((-YEARS, -5.0, YEARS))))


def _own(ground: Ground, way: str) -> bool:
    return ground.mounted


KINDS = {
    "signal": Kind(_signal),
    "signal-after-a-while": Kind(_signal_after_a_while),
    "error": Kind(_error, tidy=False),
    "memory": Kind(_memory, tidy=False),
    "full-disk": Kind(_full, _own),
    "read-only-disk": Kind(_read_only, _own, tidy=False),
    "file-size": Kind(_file_size),
    "open-files": Kind(_open_files, tidy=False),
    "edited": Kind(_edited),
    "removed": Kind(_removed),
    "linked-outside": Kind(_linked),
    "directory-swapped": Kind(_swapped, tidy=False),
    "repository-moved": Kind(_moved, tidy=False),
    "two-runs": Kind(_twice),
    "cache": Kind(_cache, lambda ground, way: way != "undo"),  # which is what the cache holds
    "worker": Kind(_worker, lambda ground, way: way in ("check", "apply")),
    "clock": Kind(_clock),
}
