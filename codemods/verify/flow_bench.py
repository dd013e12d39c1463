"""Runs a person's module in all modes and precisions, in a copy of their project, and collects what was seen."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from codemods.verify.bench import STARTUP
from codemods.verify.flow import Run, Side, run_of, survey_of
from codemods.verify.server import Server

CHILD = Path(__file__).resolve().with_name("flow_child.py")
PRECISIONS = ("32-true", "bf16-mixed", "16-mixed")
OTHERS = ("bf16-true", "16-true", "64-true")
INSTALL = "pip install 'ampfix[verify]'"


class NoTorch(Exception):
    """The interpreter has no torch; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Target:
    """A factory in a file of a project."""

    file: str
    """Relative to the root of the project."""
    factory: str
    original: Path
    """The root of the project itself."""
    here: str = ""
    """Where the person stands, relative to the root."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How the runs are done."""

    python: str = sys.executable
    precisions: tuple[str, ...] = PRECISIONS
    seconds: float = 120.0
    """That one run may take, the import of the project included."""
    memory: int = 0
    """Bytes that one run may hold; 0 means no limit."""


def observe_side(
    target: Target, copy: Path, scratch: Path, terms: Terms, tell: Callable[[str], None] = lambda sentence: None
) -> Side:
    """All runs of the code in `copy`; `scratch` is an empty directory for whatever else is needed.

    Raises:
        NoTorch: if the interpreter cannot import torch.
    """
    if not hasattr(os, "fork"):
        return Side(trouble="a module can only be watched on a system with fork()")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(scratch), "OMP_NUM_THREADS": "1"}
    try:
        server = Server([terms.python, "-B", str(CHILD)], scratch, environment)
    except OSError as error:
        return Side(trouble=f"cannot start {terms.python}: {error.strerror}")
    try:
        return _all_runs(server, target, copy, terms, tell)
    finally:
        server.close()


def _all_runs(server: Server, target: Target, copy: Path, terms: Terms, tell: Callable[[str], None]) -> Side:
    request = {
        "copy": str(copy),
        "original": str(target.original),
        "here": target.here,
        "file": target.file,
        "factory": target.factory,
        "paths": [str(place) for place in (copy, copy / "src") if place.is_dir()],
        "limit": terms.seconds,
        "memory": terms.memory,
    }

    def ask(run: Run | None) -> Mapping[str, Any]:
        wanted = {**request, "run": None if run is None else asdict(run)}
        answer = server.ask(wanted, terms.seconds + STARTUP)
        if answer is None:
            return {"trouble": f"{terms.python} ended: {server.last_words()}", "ended": True}
        if missing := answer.get("missing"):
            raise NoTorch(f"{terms.python}: {missing}; install torch there, or fixer with it: {INSTALL}")
        return answer

    first = ask(None)
    side = Side(versions=first.get("versions", {}), loaded=first.get("loaded", []), strays=first.get("strays", []))
    if trouble := first.get("trouble"):
        side.trouble, side.trace = trouble, first.get("trace", "") or _end(first.get("output", ""))
        return side
    side.survey = survey_of(first["survey"])
    for run in runs(side.survey.devices, terms.precisions, lightning=side.survey.lightning):
        tell(run.title)
        answer = ask(run)
        if "run" in answer:
            side.runs.append(run_of(answer["run"]))
            side.loaded = sorted({*side.loaded, *answer.get("loaded", ())})
        else:
            run.status, run.error = "trouble", answer.get("trouble", "")
            side.runs.append(run)
            if answer.get("ended"):
                break
    if side.runs and all(run.status == "trouble" for run in side.runs):
        side.trouble = side.runs[0].error
    return side


def runs(devices: Sequence[str], precisions: Sequence[str], *, lightning: bool) -> tuple[Run, ...]:
    """What is to be run; a Lightning module by its Trainer, on the CPU."""
    return tuple(
        Run(device=device, precision=precision, mode=mode)
        for device in (devices[:1] if lightning else devices)
        for precision in precisions
        for mode in ("train", "eval")
    )


def _end(output: str, lines: int = 5) -> str:
    return "\n".join(output.strip().splitlines()[-lines:])
