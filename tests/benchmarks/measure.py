"""Running the contestants: in turn, each in a clean environment, every process accounted for."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.arithmetic import Sample

METER = Path(__file__).with_name("meter.py")
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


class Failed(Exception):
    """A command did not do what it is measured for."""


def nothing() -> None:
    """What most contestants need before and after a run."""


@dataclass(frozen=True)
class Contestant:
    """A command to be measured."""

    name: str
    command: tuple[str, ...]
    at: Path
    exit_codes: tuple[int, ...] = (0, 1)
    """Of a run that did its work: checkers say 1 where they found something."""
    before: Callable[[], None] = nothing
    """What has happened since the last run; not measured."""
    after: Callable[[], None] = nothing
    """Makes the next run meet what this one met; not measured."""


def surroundings(tool_cache: Path) -> dict[str, str]:
    """The environment of every contestant: nobody's configuration, and caches of our own."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, **GIT, "XDG_CACHE_HOME": str(tool_cache), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}


def once(contestant: Contestant, environment: dict[str, str]) -> Sample:
    """Run a contestant once.

    Raises:
        Failed: if it ends otherwise than a run that did its work.
    """
    contestant.before()
    with tempfile.TemporaryDirectory(prefix="fixer-benchmark-") as scratch:
        result, errors = Path(scratch, "result"), Path(scratch, "errors")
        subprocess.run(
            [sys.executable, "-I", "-S", METER, result, errors, *contestant.command],
            cwd=contestant.at,
            env=environment,
            check=True,
        )
        wall, cpu, peak, code = result.read_text().split()
        if int(code) not in contestant.exit_codes:
            said = errors.read_text(errors="replace").strip()[-2000:]
            raise Failed(f"{' '.join(contestant.command)} ended with {code} in {contestant.at}\n{said}")
    contestant.after()
    return Sample(float(wall), float(cpu), float(peak))


def alternately(
    groups: Sequence[Sequence[Contestant]],
    rounds: int,
    environment: dict[str, str],
    tell: Callable[[str], None],
) -> list[list[list[Sample]]]:
    """For each group, for each of its contestants, the samples of all rounds.

    Each round runs every group once, and those who are compared one right after the other: A B, A B, …
    """
    samples: list[list[list[Sample]]] = [[[] for _ in group] for group in groups]
    for number in range(1, rounds + 1):
        for group, gathered in zip(groups, samples, strict=True):
            for contestant, mine in zip(group, gathered, strict=True):
                mine.append(sample := once(contestant, environment))
                tell(f"round {number}/{rounds}  {sample.wall:8.2f} s  {contestant.name}")
    return samples


def read_through(directory: Path) -> None:
    """Read every file once, so that whoever comes first does not pay for the disk."""
    for path in directory.rglob("*"):
        if path.is_file():
            path.read_bytes()
