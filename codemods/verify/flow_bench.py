"""Runs a person's module in all modes and precisions, in a copy of their project, and collects what was seen."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from codemods.verify.bench import STARTUP
from codemods.verify.flow import FlowRun, FlowSide, run_of, survey_of
from codemods.verify.server import Server

CHILD = Path(__file__).resolve().with_name("flow_child.py")
PRECISIONS = ("32-true", "bf16-mixed", "16-mixed")
OTHERS = ("bf16-true", "16-true", "64-true")
INSTALL = "pip install 'ampfix[verify]'"


class NoTorch(Exception):
    """The interpreter has no torch; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Factory:
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


class FlowBench:
    """A context manager that watches sides: `with FlowBench(terms, scratch) as bench: side = bench.observe(…)`.

    Args:
        scratch: an empty directory for whatever is needed beside the copies.
        leftovers: commands that clear away what is temporary, should this process be killed.
        environment: variables for the runs, where the person has not set them.
    """

    def __init__(
        self,
        terms: Terms,
        scratch: Path,
        leftovers: Sequence[Sequence[str]] = (),
        tell: Callable[[str], None] = lambda sentence: None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.terms, self.scratch, self.leftovers, self.tell = terms, scratch, leftovers, tell
        self.environment = dict(environment or {})
        self._server: Server | None = None

    def __enter__(self) -> FlowBench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def observe(self, target: Factory, copy: Path, title: str = "") -> FlowSide:
        """All runs of the code in `copy`, which `title` names to those who wait.

        Raises:
            NoTorch: if the interpreter cannot import torch.
        """
        if not hasattr(os, "fork"):
            return FlowSide(trouble="a module can only be watched on a system with fork()")
        request = {
            "copy": str(copy),
            "original": str(target.original),
            "here": target.here,
            "file": target.file,
            "factory": target.factory,
            "paths": [str(place) for place in (copy, copy / "src") if place.is_dir()],
            "limit": self.terms.seconds,
            "leftovers": [list(words) for words in self.leftovers],
            "memory": self.terms.memory,
        }
        first = self._ask({**request, "run": None, "repeat": False})
        side = FlowSide(
            versions=first.get("versions", {}), loaded=first.get("loaded", []), strays=first.get("strays", [])
        )
        if trouble := first.get("trouble"):
            side.trouble, side.trace = trouble, first.get("trace", "") or _end(first.get("output", ""))
            return side
        side.survey = survey_of(first["survey"])
        for run in runs(side.survey.devices, self.terms.precisions, lightning=side.survey.lightning):
            self.tell(f"{title}: {run.title}")
            plan = asdict(run)
            answer = self._ask({**request, "run": plan, "repeat": False})
            if "run" in answer:
                run = run_of(answer["run"])
                if run.unexplained and "run" in (again := self._ask({**request, "run": plan, "repeat": True})):
                    why = run_of(again["run"])
                    run.ends, run.unread, run.copies = why.ends, why.unread, why.copies
                    run.backward, run.forward_place, run.changed_places = (
                        why.backward,
                        why.forward_place,
                        why.changed_places,
                    )
                side.loaded = sorted({*side.loaded, *answer.get("loaded", ())})
            else:
                run.status, run.error = "trouble", answer.get("trouble", "")
            side.runs.append(run)
        if all(run.status == "trouble" for run in side.runs):
            side.trouble = side.runs[0].error
        return side

    def _ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        python = self.terms.python
        try:
            server = self._start()
        except OSError as error:
            return {"trouble": f"cannot start {python}: {error.strerror}"}
        answer = server.ask(request, self.terms.seconds + STARTUP)
        if answer is None:
            self._stop()  # the next run starts another
            return {"trouble": f"{python} ended: {server.last_words()}"}
        if missing := answer.get("missing"):
            raise NoTorch(f"{python}: {missing}; install torch there, or name another with --python: {INSTALL}")
        return answer

    def _start(self) -> Server:
        if self._server is None:
            own = {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(self.scratch), "OMP_NUM_THREADS": "1"}
            self._server = Server(
                [self.terms.python, "-B", str(CHILD)], self.scratch, {**self.environment, **os.environ, **own}
            )
        return self._server

    def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None


def runs(devices: Sequence[str], precisions: Sequence[str], *, lightning: bool) -> tuple[FlowRun, ...]:
    """What is to be run; a Lightning module by its Trainer, on the CPU."""
    return tuple(
        FlowRun(device=device, precision=precision, mode=mode)
        for device in (devices[:1] if lightning else devices)
        for precision in precisions
        for mode in ("train", "eval")
    )


def _end(output: str, lines: int = 5) -> str:
    return "\n".join(output.strip().splitlines()[-lines:])
