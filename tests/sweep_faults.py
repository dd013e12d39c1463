"""Something goes wrong at a random moment of `check`, `apply`, `apply --branch` or `undo`, and nothing may be lost.

    python tests/sweep_faults.py [TIMES] [FIRST]

Each fault has a number, from which all about it follows; FIRST is the first of them. A small repository is copied, a
command runs in a fork, and at a random event (`faults.py`) something happens: a signal, an error of the operating
system once or from then on, a full disk or a read-only one (a file system in memory of our own, where we may mount
one), a limit of files or memory, a file or directory that somebody changes, removes, links elsewhere or moves, a second
run at the same time, a damaged cache, a worker that is killed, a clock that jumps.

Afterwards each file is the old or the new one, the index and the refs are as they were or the branch is whole, what was
said is no traceback, and what belongs to others is as they left it. Then the command runs undisturbed, and comes to the
same result as if nothing had happened, with nothing left behind.
"""

from __future__ import annotations

import errno
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import faults
from faults import UNHARMED, Ended, Event, Fault
from world import CHECKOUT, checkout_state, fixer, git, repository

TIMES = 500
FIXTURES = CHECKOUT / "tests/before_after"
COPIED = {
    "tied": "deprecated-amp-api/two_floors/before",
    "closure": "lightning-closure-floor/pyproject/before",
    "configs": "legacy-precision/splatted/before",
}
PLANTED = ("raw-backward", "implicit-reentrant", "detached-loss")
NOTEBOOK = b"""{
 "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null,
  "source": ["from torch.cuda.amp import autocast\\n", "with autocast():\\n", "    pass\\n"]}],
 "metadata": {}, "nbformat": 4, "nbformat_minor": 5
}
"""
BRANCH = "refs/heads/fix/all"
WAYS: Mapping[str, Sequence[str]] = {
    "check": ("check", "--format", "json", "--jobs", "1"),
    "apply": ("apply", "--unsafe-fixes", "--jobs", "1"),
    "branch": ("apply", "--branch", "fix/all", "--unsafe-fixes", "--jobs", "1"),
    "undo": ("undo",),
}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
ERRORS = (errno.ENOSPC, errno.EROFS, errno.EBUSY, errno.EIO, errno.EACCES, errno.EMFILE)
MINE = b"# mine\n"
Answer = tuple[int, bytes, str]
ROOM = 64 * 1024 * 1024
"""Bytes of the file system of our own."""


@dataclass
class Ground:
    """A repository, and what each command makes of it when nothing goes wrong."""

    place: Path
    mounted: bool = False
    """Whether `place` is a file system of its own."""
    events: dict[str, Sequence[Event]] = field(default_factory=dict)
    anew: dict[tuple[tuple[str, bytes], ...], Answer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        fixer("apply", at=_made(self.place / "warm", {"a.py": b"x\n"}), real=True)  # imports, before forks
        from codemods.transforms import load
        from fixer.cli import apply, check, undo  # noqa: F401
        from fixer.output import branches  # noqa: F401

        load()
        self.first = repository(self.place / "first", _sources())
        self.old = contents(self.first)
        self.state = checkout_state(self.first)
        self.refs = git("for-each-ref", at=self.first)
        self.new, self.tree = self.old, ""
        for way in ("check", "apply", "branch", "undo"):
            with self.trial(way) as trial:
                done = trial.run()
                assert done.code in (0, 1), done.err
                self.events[way] = done.events
                if way == "apply":
                    self.new = contents(trial.root)
                if way == "branch":
                    self.tree = git("rev-parse", f"{BRANCH}^{{tree}}", at=trial.root)
                if way == "undo":
                    assert contents(trial.root) == self.old

    def said_anew(self, trial: Trial) -> Answer:
        """What a check without a cache says of the files as they are now."""
        links = {str(path.relative_to(trial.root)): b"a link" for path in trial.root.rglob("*") if path.is_symlink()}
        state = tuple(sorted({**contents(trial.root), **links}.items()))
        if state not in self.anew:
            self.anew[state] = _answer(trial, trial.run((*WAYS["check"], "--no-cache")))
        return self.anew[state]

    @contextmanager
    def trial(self, way: str) -> Iterator[Trial]:
        """A copy of the repository, for one fault."""
        place = Path(tempfile.mkdtemp(dir=self.place))
        try:
            for name in ("tmp", "cache", "outside"):
                (place / name).mkdir()
            shutil.copytree(self.first, place / "root", symlinks=True)
            trial = Trial(self, way, place)
            if way == "undo":
                assert trial.run(WAYS["apply"]).code in (0, 1)
            yield trial
        finally:
            shutil.rmtree(place)


@dataclass
class Trial:
    """One copy, in which a command runs and something goes wrong."""

    ground: Ground
    way: str
    place: Path
    theirs: dict[str, Sequence[bytes | None]] = field(default_factory=dict)
    """What files may hold that somebody else has changed; None: there is none."""
    mend: list[Callable[[], None]] = field(default_factory=list)
    """What ends the fault, before the next run."""

    @property
    def root(self) -> Path:
        return self.place / "root"

    @property
    def environment(self) -> Mapping[str, str]:
        return {"TMPDIR": str(self.place / "tmp"), "FIXER_CACHE_DIR": str(self.place / "cache")}

    def run(self, words: Sequence[str] = (), fault: Fault = UNHARMED) -> Ended:
        return faults.run(words or WAYS[self.way], self.root, self.environment, self.place, fault)

    @property
    def before(self) -> Mapping[str, bytes]:
        """The files as they were before the command."""
        return self.ground.new if self.way == "undo" else self.ground.old

    @property
    def after(self) -> Mapping[str, bytes]:
        """The files as the command makes them."""
        return {"apply": self.ground.new, "undo": self.ground.old}.get(self.way, self.before)


def tried(ground: Ground, number: int) -> tuple[str, list[str]]:
    """The fault of that number: what it is, and what is wrong with what it leaves."""
    from fault_kinds import KINDS

    chance = random.Random(number)
    way = chance.choice(("check", "apply", "apply", "apply", "branch", "branch", "undo"))
    kind = chance.choice([name for name, each in KINDS.items() if each.fits(ground, way)])
    with ground.trial(way) as trial:
        if chance.random() < 0.4:  # a cache that knows everything
            trial.run(WAYS["check"])
        what, ended = KINDS[kind].do(trial, chance)
        for end in reversed(trial.mend):
            end()
        wrong = [problem for each in ended for problem in said_wrong(trial, each)]
        told = [int(count) for each in ended for count in re.findall(r"findings fixed, in (\d+) file", each.err)]
        now = contents(trial.root)
        count = sum(now.get(path) != data for path, data in trial.before.items() if path not in trial.theirs)
        if way == "apply" and len(told) == len(ended) == 1 and not trial.theirs and told != [count]:
            wrong.append(f"{count} files are written: {ended[0].err}")
        wrong += left_wrong(trial, tidy=KINDS[kind].tidy and all(each.code != -signal.SIGKILL for each in ended))
        wrong += next_wrong(trial)
    codes = ", ".join(str(each.code) for each in ended)
    return f"{number}: {way}, {kind}{what}: {codes}", wrong


def said_wrong(trial: Trial, ended: Ended) -> Iterator[str]:
    """What is wrong with what a command answered."""
    if ended.code not in (0, 1, 2, 130, 143, -signal.SIGINT, -signal.SIGTERM, -signal.SIGKILL):
        yield f"exit code {ended.code}: {ended.err[-300:]}"
    if "Traceback" in ended.err:
        yield "".join(line for line in ended.err.splitlines(True) if "/fixer/" in line or line[0] != " ")
    if ended.code == 2 and not ended.err.strip():
        yield "exit code 2 without a word"
    if trial.way == "apply" and ended.code == 0 and not trial.theirs:
        now = contents(trial.root)
        named = (path for path in trial.after if f"  {path}: " in ended.err)  # files that were skipped
        if missing := {path for path, data in trial.after.items() if now.get(path) != data}.difference(named):
            yield f"exit code 0, and {', '.join(sorted(missing))} not written: {ended.err}"


def left_wrong(trial: Trial, *, tidy: bool) -> Iterator[str]:
    """What is wrong with the files, index and refs that a disturbed command leaves."""
    yield from files_wrong(trial, contents(trial.root), [trial.before, trial.after])
    yield from repository_wrong(trial)
    for file in (each for each in (trial.place / "outside").rglob("*") if each.is_file()):
        if file.read_bytes() not in trial.before.values():
            yield f"written outside of the repository: {file}"
    if tidy and (left := strays(trial)):
        yield f"left behind: {', '.join(left)}"


def next_wrong(trial: Trial) -> Iterator[str]:
    """What is wrong after a second run, which nothing disturbs."""
    settled(trial)
    more = ("--on-conflict", "reset") if trial.way == "branch" else ()
    again = trial.run((*WAYS[trial.way], *more))
    nothing = trial.way == "undo" and "there is nothing to undo" in again.err
    if again.code not in (0, 1) and not nothing and not trial.theirs:
        yield f"the next run: exit code {again.code}: {again.err}"
    yield from said_wrong(trial, again)
    if trial.way == "undo" and trial.run(WAYS["check"]).code == 2:
        yield "check after the next run ends with 2"
    yield from (f"after the next run: {each}" for each in files_wrong(trial, contents(trial.root), [trial.after]))
    yield from (f"after the next run: {each}" for each in repository_wrong(trial))
    if trial.way == "branch" and not trial.theirs:
        if git("rev-parse", f"{BRANCH}^{{tree}}", at=trial.root) != trial.ground.tree:
            yield "the branch of the next run is another one"
    if left := strays(trial):
        yield f"the next run leaves: {', '.join(left)}"
    if _answer(trial, trial.run(WAYS["check"])) != trial.ground.said_anew(trial):
        yield "the next check with the cache says something else than one without"


def settled(trial: Trial) -> None:
    """Wait until no process that the command has started is at work, such as git after its caller was killed."""
    mark = f"TMPDIR={trial.place / 'tmp'}".encode()
    for _ in range(1000):
        left = False
        for process in Path("/proc").glob("[0-9]*"):
            try:
                left |= mark in (process / "environ").read_bytes().split(b"\0") and bool(
                    (process / "cmdline").read_bytes()
                )
            except OSError:
                continue
        if not left:
            return
        time.sleep(0.02)
    raise AssertionError("a process goes on")


def files_wrong(trial: Trial, now: Mapping[str, bytes], allowed: Sequence[Mapping[str, bytes]]) -> Iterator[str]:
    """Files that hold what they must not."""
    for path in sorted(trial.before):
        if path in trial.theirs:
            if now.get(path) not in trial.theirs[path]:
                yield f"{path}: what somebody wrote is lost"
        elif path not in now:
            yield f"{path}: is gone"
        elif now[path] not in [each[path] for each in allowed]:
            yield f"{path}: neither old nor new" if len(allowed) > 1 else f"{path}: not as it should be"


def repository_wrong(trial: Trial) -> Iterator[str]:
    """What is wrong with HEAD, the index, the objects and the refs."""
    directory = trial.root / ".git"
    state = ((directory / "HEAD").read_bytes(), (directory / "index").read_bytes())
    if state != (trial.ground.state["HEAD"], trial.ground.state["index"]):
        yield "HEAD or the index is another one"
    refs = git("for-each-ref", at=trial.root)
    if refs != trial.ground.refs:
        made = git("rev-parse", f"{BRANCH}^{{tree}}", at=trial.root) if BRANCH in refs else ""
        count = len(refs.splitlines()) - len(trial.ground.refs.splitlines())
        if trial.way != "branch" or count != 1 or (made != trial.ground.tree and not trial.theirs):
            yield f"refs: {refs}"
    if trial.way == "branch":
        git("fsck", "--no-dangling", "--connectivity-only", at=trial.root)
    if (directory / "worktrees").exists():
        yield "a work tree is left"


def strays(trial: Trial) -> list[str]:
    """What lies about that is not theirs."""
    found = sorted(contents(trial.root).keys() - trial.before.keys() - trial.theirs.keys())
    found += [f"{each.relative_to(trial.place)}" for each in sorted((trial.root / ".git").rglob("*.lock"))]
    found += [f"{each.relative_to(trial.place)}" for each in (trial.place / "tmp").rglob("*")]
    found += [f"cache/{each.name}" for each in (trial.place / "cache").glob("rules.json.*")]
    found += [f"cache/undo/{each.name}" for each in (trial.place / "cache/undo").glob("*") if each.suffix != ".json"]
    return found


def contents(root: Path) -> dict[str, bytes]:
    """The files of a checkout."""
    found = (file for file in root.rglob("*") if file.is_file() and file.relative_to(root).parts[0] != ".git")
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in found}


def _answer(trial: Trial, ended: Ended) -> Answer:
    place = str(trial.root)
    return ended.code, ended.out.replace(place.encode(), b"ROOT"), ended.err.replace(place, "ROOT")


def _sources() -> dict[str, str | bytes]:
    texts = {f"src/{name.replace('-', '_')}.py": FIXTURES / name / "example/before.py" for name in PLANTED}
    found: dict[str, str | bytes] = {path: file.read_bytes() for path, file in texts.items()}
    for name, fixture in COPIED.items():
        for file in sorted((FIXTURES / fixture).rglob("*")):
            if file.is_file():
                found[f"{name}/{file.relative_to(FIXTURES / fixture)}"] = file.read_bytes()
    return {**found, "notes.ipynb": NOTEBOOK}


def _made(root: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True)
        (root / name).write_bytes(data)
    return root


@contextmanager
def memory(place: Path) -> Iterator[bool]:
    """A file system of our own there; False if we may not mount one."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(place)]
    mounted = shutil.which("mount") is not None and subprocess.run(command, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(place)], check=True)


def main(arguments: list[str]) -> int:
    """One fault after the other; those that go wrong are printed with their numbers."""
    times, first = (*map(int, arguments), *(TIMES, 0)[len(arguments) :])
    kinds: Counter[str] = Counter()
    failures, start = 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sweep-faults-") as place, memory(Path(place)) as mounted:
        ground = Ground(Path(place).resolve(), mounted)
        for number in range(first, first + times):
            what, wrong = tried(ground, number)
            kinds[what.split(", ")[1].split(" ")[0].rstrip(":")] += 1
            failures += bool(wrong)
            print(f"{'WRONG ' if wrong else ''}{what}", *(f"    {each}" for each in wrong), sep="\n", flush=True)
    print(f"{times} faults in {time.monotonic() - start:.0f} s: {dict(kinds.most_common())}; {failures} went wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
