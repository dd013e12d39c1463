"""`check`, `apply` and `apply --branch` are interrupted at random moments, and nothing half done may be left behind.

    python tests/sweep_interrupt.py [TIMES]

A generated repository is copied, a command started in it with a cache that interrupted runs before it have used, and a
signal sent after a random time, counted from the start or from the moment when something is written: SIGINT to the
process, SIGINT to its whole group (as Ctrl-C does), SIGTERM or SIGKILL. Then what is left is looked at: the exit code,
what was said, the files (each old or new, those that a fix ties all of them the one or the other), the index and the
refs, temporary files, locks, processes, and the cache, with which the next check must say what a check without one
says. Prints one line for each interruption and what is wrong with it, and exits with 1 if anything is. After SIGKILL,
which nobody can answer, temporary files may lie about: they are counted, and the next run of the command must finish
and sweep them.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from world import CHECKOUT, SURROUNDINGS, checkout_state, git, in_the_foreground, repository

TIMES = 60
SEED = 16
FILES = 48
FILLING = 450
"""Lines of comments in each file; with them several processes pay."""
PLANTED = ("raw-backward", "deprecated-amp-api", "implicit-reentrant", "bare-closure-in-no-grad-step", "detached-loss")
TIED = "deprecated-amp-api/two_floors/before"
"""Files that are changed together or not at all."""
WAYS = {
    "check": ("check",),
    "apply": ("apply", "--unsafe-fixes"),
    "branch": ("apply", "--branch", "fix/all", "--unsafe-fixes"),
}
WRITING = 0.3
"""Seconds within which a signal follows upon the first thing that is written, in half of the runs."""
BRANCH = "refs/heads/fix/all"
GROUP = "SIGINT to the group"
SIGNALS = (signal.SIGINT.name, GROUP, signal.SIGTERM.name, signal.SIGKILL.name)
WEIGHTS = (4, 3, 2, 1)
ENDED = {
    signal.SIGINT.name: (130, -signal.SIGINT),
    GROUP: (130, -signal.SIGINT),
    signal.SIGTERM.name: (143, -signal.SIGTERM),
    signal.SIGKILL.name: (-signal.SIGKILL,),
}
"""Exit codes after each signal; the negative ones where it comes before the program does."""
HOME = f"fixer-{os.getuid()}"
"""The directory in which drafts of branches lie; it stays."""
KEPT = {"results.sqlite", "results.sqlite-wal", "results.sqlite-shm", "rules.json", "undo"}
"""All that a cache consists of."""
LINGER = 20.0
"""Seconds within which the last process of an interrupted run has ended."""


@dataclass
class Ground:
    """A repository, and what each command makes of it when nobody interrupts."""

    place: Path
    files: int = FILES
    filling: int = FILLING
    jobs: int = 2
    anew: dict[tuple[tuple[str, bytes], ...], bytes] = field(default_factory=dict)
    """What a check without a cache says, by the files that it is about."""

    def __post_init__(self) -> None:
        self.root = repository(self.place / "repository", dict(_sources(self.files, self.filling)))
        self.before = checkout_state(self.root)
        self.old = _files(self.root)
        (self.place / "tmp").mkdir()

    @cached_property
    def new(self) -> Mapping[str, bytes]:
        """The files as `apply` makes them."""
        return _files(self._finished("apply")[0])

    @cached_property
    def tree(self) -> str:
        """What the branch holds."""
        return git("rev-parse", f"{BRANCH}^{{tree}}", at=self._finished("branch")[0])

    def seconds(self) -> dict[tuple[str, bool], float]:
        """What each way takes, with an empty cache and with a full one."""
        return {(way, full): self._finished(way)[1] for way in WAYS for full in (False, True)}

    def _finished(self, way: str) -> tuple[Path, float]:
        """A copy in which a command has come to its end, and what it took."""
        copy, start = Path(tempfile.mkdtemp(dir=self.place)) / way, time.monotonic()
        shutil.copytree(self.root, copy, symlinks=True)
        done = self.start(WAYS[way], copy, self.place / f"cache of {way}")
        _, complaint = done.communicate()
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{way}: {complaint.decode()}")
        return copy, time.monotonic() - start

    def start(self, words: tuple[str, ...], at: Path, cache: Path) -> subprocess.Popen[bytes]:
        """A command on its way, in a process group of its own."""
        program = (
            f"import sys; sys.path[0] = {str(CHECKOUT)!r}; sys.argv[0] = 'fixer'; from fixer.cli import main; main()"
        )
        with in_the_foreground():
            return subprocess.Popen(
                [sys.executable, "-c", program, *words, "--jobs", str(self.jobs)],
                cwd=at,
                env={**os.environ, **SURROUNDINGS, "TMPDIR": str(self.place / "tmp"), "FIXER_CACHE_DIR": str(cache)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )

    def said(self, at: Path, cache: Path | None = None) -> bytes:
        """What a check of the files says, with a cache or without."""
        options = () if cache else ("--no-cache",)
        out, complaint = self.start(
            ("check", "--format", "json", *options), at, cache or self.place / "none"
        ).communicate()
        return out + complaint

    def said_anew(self, at: Path) -> bytes:
        """The same without a cache, once for each state of the files."""
        state = tuple(sorted(_files(at).items()))
        if state not in self.anew:
            self.anew[state] = self.said(at)
        return self.anew[state]

    @cached_property
    def refs(self) -> str:
        """The refs as they were."""
        return git("for-each-ref", at=self.root)


def interrupted(
    ground: Ground, way: str, how: str, after: float, cache: Path, *, writing: bool = False
) -> tuple[int, list[str]]:
    """Interrupt one command after so many seconds; how it ended, and what is wrong with what it leaves.

    Args:
        writing: the seconds begin when it writes the first file, object or result.
    """
    at = ground.place / "interrupted"
    shutil.copytree(ground.root, at, symlinks=True)
    try:
        places = {"check": [cache], "apply": sorted(at.glob("package*")), "branch": [at / ".git" / "objects"]}[way]
        before = _times(places)
        running = ground.start(WAYS[way], at, cache)
        while writing and running.poll() is None and _times(places) == before:
            time.sleep(0.001)
        try:
            running.wait(after)
        except subprocess.TimeoutExpired:
            if how == GROUP:
                os.killpg(running.pid, signal.SIGINT)
            else:
                running.send_signal(signal.Signals[how])
        _, complaint = running.communicate()
        return running.returncode, list(_wrong(ground, way, how, at, cache, running.returncode, complaint.decode()))
    finally:
        shutil.rmtree(at)
        for stray in (ground.place / "tmp").iterdir():
            shutil.rmtree(stray) if stray.is_dir() else stray.unlink()


def _wrong(ground: Ground, way: str, how: str, at: Path, cache: Path, code: int, complaint: str) -> Iterator[str]:
    if code not in (0, 1, *ENDED[how]):
        yield f"WRONG: exit code {code}: {complaint}"
    if "Traceback" in complaint and "/fixer/" in complaint and code >= 0:  # otherwise it is Python that was interrupted
        yield f"WRONG: {complaint}"
    if left := _left_running(ground.place):
        yield f"WRONG: still running: {left}"
    strays = _ours(ground, at)
    strays += [f"{path.relative_to(at)}" for path in sorted((at / ".git").rglob("*.lock"))]
    strays += [f"{path.relative_to(at)}" for path in sorted((at / ".git" / "objects").rglob("tmp_obj_*"))]
    now = _files(at)
    strays += [f"{path.name} in the cache" for path in cache.glob("*") if path.name not in KEPT]
    strays += [f"{path.name} in the cache" for path in (cache / "undo").glob("*") if path.suffix != ".json"]
    for path in cache.glob("*"):
        if path.name not in KEPT:
            path.unlink()
    if strays:
        yield f"{'left' if how == signal.SIGKILL.name else 'WRONG: left'} {', '.join(strays)}"
    state = checkout_state(at)
    if state["HEAD"] != ground.before["HEAD"] or state["index"] != ground.before["index"]:
        yield "WRONG: HEAD or the index is another one"
    if gone := sorted(ground.old.keys() - now.keys()):
        yield f"WRONG: gone: {gone}"
    if torn := [path for path in ground.old if now.get(path) not in (ground.old[path], ground.new[path])]:
        yield f"WRONG: neither old nor new: {torn}"
    if way != "apply" and any(now.get(path) != data for path, data in ground.old.items()):
        yield "WRONG: files were written"
    written = {path for path in ground.old if now.get(path) != ground.old[path]}
    for directory, count in Counter(path.rpartition("/")[0] for path in written if path.startswith("tied")).items():
        together = sum(path.startswith(f"{directory}/") for path in ground.old if ground.old[path] != ground.new[path])
        if count != together:
            yield f"WRONG: {count} of the {together} files of {directory} that belong together were written"
    if written and code not in (0, 1):
        yield f"{len(written)} files written"
    refs = git("for-each-ref", at=at)
    if refs != ground.refs:
        made = git("rev-parse", f"{BRANCH}^{{tree}}", at=at) if BRANCH in refs else ""
        if way != "branch" or made != ground.tree or len(refs.splitlines()) != len(ground.refs.splitlines()) + 1:
            yield f"WRONG: refs: {refs}"
    if ground.said(at, cache) != ground.said_anew(at):
        yield "WRONG: the next check with the cache says something else"
    if how == signal.SIGKILL.name and _ours(ground, at):
        again = ground.start((*WAYS[way], *(("--on-conflict", "reset") if way == "branch" else ())), at, cache)
        again.communicate()
        if left := _ours(ground, at):
            yield f"WRONG: the next run leaves {', '.join(left)}"
        elif way == "apply" and _files(at) != ground.new:
            yield "WRONG: the next run does not finish"
        else:
            yield "swept by the next run"


def _ours(ground: Ground, at: Path) -> list[str]:
    """What we have left beside the files, and among temporary files."""
    there = [path for path in (ground.place / "tmp").iterdir() if path.name != HOME]
    temporary = [*there, *(ground.place / "tmp" / HOME).glob("*")]
    return [*(f"a temporary file {path.name}" for path in temporary), *sorted(_files(at).keys() - ground.old.keys())]


def _sources(files: int, filling: int) -> Iterator[tuple[str, bytes]]:
    """Files with bugs, the same each time."""
    examples = CHECKOUT / "tests" / "before_after"
    texts = [(examples / name / "example" / "before.py").read_bytes() for name in PLANTED]
    for number in range(files):
        yield f"package{number % 7}/m{number:03}.py", texts[number % len(texts)] + b"# nothing\n" * filling
    for number in range(3):
        for file in sorted((examples / TIED).iterdir()):
            yield f"tied{number}/{file.name}", file.read_bytes()


def _files(root: Path) -> Mapping[str, bytes]:
    """The files of a checkout."""
    found = (file for file in root.rglob("*") if file.is_file() and file.relative_to(root).parts[0] != ".git")
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in found}


def _times(places: Sequence[Path]) -> list[int]:
    """When something was last made in these directories, or taken out of them."""
    return [place.stat().st_mtime_ns if place.exists() else 0 for place in places]


def _left_running(place: Path) -> list[str]:
    """The processes of a run that still go on after a while, by their command lines."""
    end = time.monotonic() + LINGER
    while (left := list(_processes(place))) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def _processes(place: Path) -> Iterator[str]:
    mark = f"TMPDIR={place / 'tmp'}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                words = (process / "cmdline").read_bytes()
                if words:  # a process that has ended and was not waited for has none
                    yield words.replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue


def main(arguments: list[str]) -> int:
    """Interrupt again and again; runs that end before their signal do not count."""
    times = int(arguments[0]) if arguments else TIMES
    chance = random.Random(SEED)
    wrong = left = 0
    with tempfile.TemporaryDirectory(prefix="sweep-") as place:
        ground = Ground(Path(place).resolve())
        seconds = ground.seconds()
        took = ", ".join(f"{way} {seconds[way, False]:.1f} s" for way in WAYS)
        changed = sum(ground.old[path] != ground.new[path] for path in ground.old)
        print(f"{len(ground.old)} files, of which apply changes {changed}; uninterrupted: {took}", flush=True)
        cache = ground.place / "cache"
        number = 0
        while number < times:
            way = chance.choice(list(WAYS))
            (how,) = chance.choices(SIGNALS, WEIGHTS)
            if chance.random() < 0.4:
                shutil.rmtree(cache, ignore_errors=True)
            writing = chance.random() < 0.5
            after = chance.uniform(0.0, WRITING if writing else seconds[way, cache.exists()])
            code, found = interrupted(ground, way, how, after, cache, writing=writing)
            number += code not in (0, 1)
            wrong += sum(each.startswith("WRONG") for each in found)
            left += sum(each.startswith("left") for each in found)
            moment = f"{after:.3f} s after {'the first writing' if writing else 'the start'}"
            print(f"{number:4} {way}, {how} {moment}: {code}; {'; '.join(found) or 'nothing'}", flush=True)
    print(f"{times} interruptions, {wrong} things wrong, {left} times something left by SIGKILL")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
