"""Commands that are ready to paste: what applies a fix, what watches a run, and what a log says was run."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemods.model.edits import Safety
from fixer.diagnose.places import Places
from fixer.diagnose.scan import LogRecord
from fixer.diagnose.tracebacks import TraceFrame
from fixer.run.request import Outcome

_PLACEHOLDER = "python YOUR_SCRIPT.py"
_PYTHON = re.compile(r"(?:\S*/)?python[\d.]*(?:\.exe)?")


@dataclass(frozen=True, slots=True)
class NextStep:
    """One thing to do next."""

    command: str
    """Ready to paste."""
    why: str
    """What it does."""


@dataclass(frozen=True, slots=True)
class RunCommand:
    """The command that runs a program."""

    command: str
    is_logged: bool = True
    """Whether the log shows it, or the file; else it is a guess or a placeholder."""
    path: str | None = None
    """The file in the repository."""


def apply(outcome: Outcome, repeated: Sequence[str], strategies: Sequence[str] = ()) -> NextStep:
    """What applies exactly the fixes of a plan, which was made with these strategies (`CODE=NAME`)."""
    applied = [finding for finding in outcome.plan.findings if finding.applied]
    codes = sorted({finding.code for finding in applied})
    words = ["fixer", "apply", "--select", ",".join(codes)]
    unsafe = any(finding.safety is Safety.UNSAFE for finding in applied)
    if unsafe:
        words.append("--unsafe-fixes")
    for strategy in strategies:
        if strategy.partition("=")[0] in codes:
            words += ["--strategy", strategy]
    more = "; unsafe: they change more than the bug, see the diff" if unsafe else ""
    return NextStep(_joined([*words, *repeated]), f"applies the fixes of {', '.join(codes)}{more}")


def watch(program: RunCommand, repeated: Sequence[str]) -> NextStep:
    """What runs a program once, as it is, and says what is wrong with the run."""
    run = program.command
    quoted = shlex.quote(run) if re.search(r"[\"$`\\!]", run) else f'"{run}"'
    words = ["fixer", "verify", "--no-fixes", *repeated]
    why = "runs your program once, in a temporary copy, and says what is wrong and where"
    unsure = "" if program.is_logged else "; the log does not show the command: put yours there"
    return NextStep(f"{_joined(words)} --run {quoted}", f"{why}{unsure}")


def again(program: RunCommand, environment: str) -> NextStep:
    """What runs a program again so that it says more itself."""
    return NextStep(f"{environment} {program.command}", "runs your program again; it then says more")


def program(record: LogRecord, frames: Iterable[TraceFrame], places: Places, root: Path, here: Path) -> RunCommand:
    """The command that the log is of: as it shows it, else the file that the outermost frame of a module lies in.

    Where the log shows neither, the only script of the repository, or the only `train.py` or `main.py`, is a guess.
    """
    for command in record.commands:
        words = command.split()
        for number, word in enumerate(words):
            if word.endswith(".py") and (path := places.path_of(word)) is not None:
                named = _PYTHON.sub("python", " ".join(words[:number]), count=1)
                return RunCommand(" ".join([named, _seen(root, path, here), *words[number + 1 :]]), path=path)
    frames = list(frames)
    for frame in frames:
        if frame.function == "<module>" and (path := places.path_of(frame.path)) is not None:
            if any("runpy" in each.path for each in frames[: frames.index(frame)]):
                module = path.removesuffix(".py").removesuffix("/__main__").replace("/", ".")
                return RunCommand(f"python -m {module}", path=path)
            return RunCommand(f"python {shlex.quote(_seen(root, path, here))}", path=path)
    path = places.only_script()
    return RunCommand(
        f"python {shlex.quote(_seen(root, path, here))}" if path else _PLACEHOLDER, is_logged=False, path=path
    )


def _seen(root: Path, path: str, here: Path) -> str:
    return Path(os.path.relpath(root / path, here)).as_posix()


def _joined(words: Sequence[str]) -> str:
    return " ".join(map(shlex.quote, words))
