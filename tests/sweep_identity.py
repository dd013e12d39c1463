"""One project says the same however it is looked at: cold, with several processes, with a cache, watched, after edits.

    python tests/sweep_identity.py [--edits N] DIRECTORY...

Each directory is copied, made a repository, and checked in every way. Then it is edited (N of EDITS; by default all)
while a `check --watch` looks on; after each edit a check with the cache, and what the watch has printed, are compared
with a check without a cache. Prints one line for each project, and exits with 1 if anything differed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

EDITS = ("comment", "blank line", "function", "function gone", "class", "gone", "renamed", "directory", "moved")
FIXER = (sys.executable, "-c", "from fixer.cli import main; main()")
CHECKED = "; checked in "
"""In the line with which a watch ends each check."""
NOTICED = 600.0
"""Seconds within which a watch answers an edit."""
QUIET = 0.5
"""Seconds after which an edit is over: the system may tell of it in parts."""


def said(root: Path, cache: Path, *options: str) -> object:
    """What a check says, without what it says of itself."""
    command = [*FIXER, "check", "--format", "json", "--isolated", *options, "."]
    done = subprocess.run(command, cwd=root, env=_environment(cache), capture_output=True, check=False)
    if done.returncode not in (0, 1):
        return done.stderr.decode()
    return json.loads(done.stdout)


def printed(root: Path, cache: Path) -> str:
    """What a cold check prints for a person."""
    command = [*FIXER, "check", "--isolated", "--no-cache", "--jobs", "1", "."]
    environment = _environment(cache)
    done = subprocess.run(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return done.stdout.decode()


def _environment(cache: Path) -> dict[str, str]:
    return {**os.environ, "FIXER_CACHE_DIR": str(cache)}


class Watch:
    """A `check --watch`, and what each of its checks has printed."""

    def __init__(self, root: Path, cache: Path) -> None:
        self.answers: list[str] = []
        self._running = subprocess.Popen(
            [*FIXER, "check", "--watch", "--isolated", "."],
            cwd=root,
            env=_environment(cache),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self._running.stdout is not None
        lines: list[str] = []
        for line in self._running.stdout:
            lines.append(line.decode())
            if CHECKED in lines[-1]:
                self.answers.append("".join(lines[:-1]))
                lines = []

    def end(self) -> None:
        """End it."""
        self._running.kill()
        self._reading.join()
        self._running.wait()

    def wait(self, more_than: int, seconds: float) -> bool:
        """Wait until it has answered more often than that, and a little longer; whether it has."""
        end = time.monotonic() + seconds
        while len(self.answers) <= more_than:
            if time.monotonic() > end or self._running.poll() is not None:
                return False
            time.sleep(0.02)
        while (count := len(self.answers)) and not time.sleep(QUIET) and len(self.answers) > count:
            pass
        return True

    def agrees(self, before: int, cold: str) -> str:
        """How what it has printed since it had answered so often differs from a cold check; "" if it does not."""
        if not self.wait(before, NOTICED):
            return "not noticed by the watch"
        while self.answers[-1] != cold:
            if not self.wait(len(self.answers), 10 * QUIET):
                return "the watch"
        return ""


@contextmanager
def watching(root: Path, cache: Path) -> Iterator[Watch]:
    """A watch that has checked for the first time, for a while."""
    watch = Watch(root, cache)
    try:
        if not watch.wait(0, NOTICED):
            raise RuntimeError(f"no watch in {root}: {watch.answers}")
        yield watch
    finally:
        watch.end()


def edits(root: Path, chance: random.Random, number: int) -> Iterator[str]:
    """Change one file after the other; each yields what was done."""
    for kind in chance.sample(EDITS, number):
        python = sorted(path for path in root.rglob("*.py") if path.is_file() and ".git" not in path.parts)
        if not python:
            return
        file = chance.choice(python)
        name, text = file.relative_to(root), file.read_bytes()
        yield from (f"{step} {name}" for step in _edit(kind, root, file, text, chance))


def _edit(kind: str, root: Path, file: Path, text: bytes, chance: random.Random) -> Iterator[str]:
    beside = file.with_name("an_added_module.py")
    if kind == "comment":
        file.write_bytes(b"# a comment\n" + text)
        yield kind
    elif kind == "blank line":
        lines = text.splitlines(keepends=True)
        at = chance.randrange(len(lines) + 1)
        file.write_bytes(b"".join((*lines[:at], b"\n", *lines[at:])))
        yield kind
    elif kind == "function":
        file.write_bytes(text.rstrip() + b"\n\n\ndef an_added_function(x):\n    return x\n")
        yield kind
    elif kind == "function gone":
        file.write_bytes(_without_function(text, chance))
        yield kind
    elif kind == "class":
        file.write_bytes(re.sub(rb"(?m)^(class \w+)\(.*\):$", rb"\1:", text))
        yield kind
    elif kind == "gone":
        file.unlink()
        yield kind
        file.write_bytes(text)
        yield "back"
    elif kind == "renamed":
        file.rename(beside)
        yield kind
    elif kind == "directory":
        new = root / "an_added_directory" / "inside" / file.name
        new.parent.mkdir(parents=True)
        new.write_bytes(text)
        yield kind
        shutil.rmtree(root / "an_added_directory")
        yield "directory gone"
    elif kind == "moved" and file.parent != root:
        top = root / file.relative_to(root).parts[0]
        top.rename(root / "a_moved_directory")
        yield kind


def _without_function(text: bytes, chance: random.Random) -> bytes:
    """A module without one of its functions; what is left need not be a program."""
    try:
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    except (SyntaxError, ValueError):
        return b""
    if not functions:
        return text + b"\n"
    gone = chance.choice(functions)
    lines = text.splitlines(keepends=True)
    return b"".join((*lines[: gone.lineno - 1], *lines[gone.end_lineno :]))


def differences(source: Path, place: Path, number: int) -> Iterator[str]:
    """What differed for one project, which is copied to `place`."""
    root, cache = place / source.name, place / "cache"
    shutil.copytree(source, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True, capture_output=True)
    cold = said(root, cache, "--no-cache", "--jobs", "1")
    for name, options in (
        ("two processes", ("--no-cache", "--jobs", "2")),
        ("an empty cache", ("--jobs", "2")),
        ("the cache", ()),
    ):
        if said(root, cache, *options) != cold:
            yield name
    with watching(root, place / "cache of the watch") as watch:
        if watch.answers[-1] != printed(root, cache):
            yield "the watch"
        before = len(watch.answers)
        for edit in edits(root, random.Random(source.name), number):
            if said(root, cache) != said(root, cache, "--no-cache", "--jobs", "1"):
                yield edit
            if differs := watch.agrees(before, printed(root, cache)):
                yield f"{edit}: {differs}"
            before = len(watch.answers)


def main(arguments: Sequence[str] | None = None) -> int:
    """Look at all of them."""
    command = argparse.ArgumentParser(prog="python tests/sweep_identity.py")
    command.add_argument("sources", nargs="+", type=Path, metavar="DIRECTORY")
    command.add_argument("--edits", type=int, default=len(EDITS), help="how many of the edits (all)")
    asked = command.parse_args(arguments)
    sources: list[Path] = asked.sources
    wrong = 0
    for number, source in enumerate(sources, 1):
        with tempfile.TemporaryDirectory() as place:
            found = list(differences(source.resolve(), Path(place), asked.edits))
        wrong += len(found)
        print(f"{number:4} {source.name}: {'; '.join(found) or 'the same'}", flush=True)
    print(f"{len(sources)} projects, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
