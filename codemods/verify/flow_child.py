"""The child process that watches a person's module: a server that imports torch once and forks for every run.

Started by `codemods.verify.flow_bench` as a script: `python -B flow_child.py FD`. Requests and answers are lines of
JSON, as `codemods.verify.server` has them. The person's code is imported, and runs, in the forks only.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import importlib
import importlib.util
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

SUBREAPER, DEATH_SIGNAL = 36, 1
"""PR_SET_CHILD_SUBREAPER and PR_SET_PDEATHSIG of Linux's <sys/prctl.h>."""
SHOWN = 2_000
"""Characters of an exception's text that are kept."""


def _control(option: int, value: int) -> None:
    """Linux's prctl; elsewhere nothing."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _sweep() -> None:
    """End what runs left behind: whoever leaves its session becomes this process's child when its parent ends."""
    me = os.getpid()
    for _ in range(100):
        mine = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                state, parent = stat.read_text(errors="replace").rpartition(")")[2].split()[:2]
                if int(parent) == me:
                    mine.append((int(stat.parent.name), state))
        for pid, state in mine:
            with contextlib.suppress(OSError):
                if state != "Z":
                    os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        if not mine:
            return


def _leave(*_: Any) -> None:
    _sweep()
    os._exit(0)


class ProjectCopy:
    """The copy of the person's project in which a run takes place."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.copy, self.original = request["copy"], request["original"]
        self.file, self.factory = request["file"], request["factory"]
        self.here, self.paths = request["here"], request["paths"]

    def place(self, path: str) -> str | None:
        """A file of the project, relative to its root; None for any other."""
        inside = path.startswith(self.copy + os.sep) and "site-packages" not in path
        return path[len(self.copy) + 1 :] if inside else None

    def enter(self) -> ModuleType:
        """Import the file that holds the factory, as a script of that directory would be."""
        from codemods.verify.probe import redirect

        os.chdir(os.path.join(self.copy, self.here))  # noqa: PTH118
        file = Path(self.copy, self.file)
        redirect(self.original, self.copy)
        first = [str(file.parent), *self.paths]
        sys.path[:] = list(dict.fromkeys([*first, *sys.path]))
        sys.argv = [str(file)]
        name = (
            "__case__" if file.stem in sys.modules else file.stem
        )  # a case.py that is called random.py is no `random`
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None and spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def loaded(self) -> tuple[list[str], list[str]]:
        """The project's files that were imported, and those that came from the original instead of the copy."""
        files = [str(getattr(module, "__file__", None) or "") for module in list(sys.modules.values())]
        inside = sorted({place for file in files if (place := self.place(file)) is not None})
        elsewhere = self.original + os.sep
        strays = {f[len(elsewhere) :] for f in files if f.startswith(elsewhere) and "site-packages" not in f}
        return inside, sorted(stray for stray in strays if Path(self.copy, stray).is_file())

    def trace(self, error: BaseException) -> str:
        """The traceback of an exception, from where it enters the project, with the project's own names of files."""
        step = error.__traceback__
        while step is not None and self.place(step.tb_frame.f_code.co_filename) is None:
            step = step.tb_next
        lines = traceback.format_exception(type(error), error, step or error.__traceback__, chain=False)
        return self.named("".join(lines))[-SHOWN:]

    def named(self, text: str) -> str:
        """A text with the files of the copy as the person knows them."""
        return text.replace(self.copy + os.sep, "")

    def lines(self, error: BaseException) -> list[str]:
        """The lines of the project in an exception's traceback, outermost first."""
        frames = traceback.extract_tb(error.__traceback__)
        return [f"{place}:{frame.lineno}" for frame in frames if (place := self.place(frame.filename)) is not None]


def work(request: dict[str, Any]) -> dict[str, Any]:
    """One survey, or one run, in this (forked) process."""
    from codemods.verify import flow_case, flow_runs
    from codemods.verify.flow import FlowRun

    _control(DEATH_SIGNAL, signal.SIGKILL)
    if request["memory"]:
        resource.setrlimit(resource.RLIMIT_DATA, (request["memory"], request["memory"]))
    me = os.getpid()
    project = ProjectCopy(request)
    answer: dict[str, Any] = {}
    flow_runs.seed(0)
    try:
        made = _make(project)
        if request["run"] is None:
            answer["survey"] = dataclasses.asdict(flow_case.survey(made))
        else:
            run = FlowRun(**request["run"])
            flow_runs.seed(0)
            if request["repeat"]:
                flow_runs.repeat(made, run, project.place)
            elif error := flow_runs.perform(made, run, project.place):
                run.error = project.named(run.error)[:SHOWN]
                run.lines = project.lines(error)
                run.place = run.lines[-1] if run.lines else ""
            answer["run"] = dataclasses.asdict(run)
    except flow_case.Misuse as error:
        answer["trouble"] = str(error)
    except _Failed as error:
        answer |= {"trouble": error.args[0], "trace": error.args[1]}
    finally:
        if os.getpid() != me:
            os._exit(0)  # a fork that the person's code made and that came back here
    answer["loaded"], answer["strays"] = project.loaded()
    answer["warm"] = [name for name in list(sys.modules) if name.partition(".")[0] in _packages()]
    return answer


class _Failed(Exception):
    """The factory cannot be run: a sentence, and the traceback."""


def _make(project: ProjectCopy) -> Any:
    from codemods.verify import flow_case

    name = project.factory
    try:
        module = project.enter()
    except BaseException as error:
        where = f" at {project.lines(error)[-1]}" if project.lines(error) else ""
        raise _Failed(
            project.named(f"{project.file} cannot be imported: {_text(error)}{where}"), project.trace(error)
        ) from error
    factory = getattr(module, name, None)
    if not callable(factory):
        there = [n for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", "") == module.__name__]
        names = f"; it has {', '.join(there)}" if there else ""
        raise _Failed(f"{project.file} has no function {name}{names}", "")
    try:
        return flow_case.case(factory(), name)
    except flow_case.Misuse:
        raise
    except BaseException as error:
        where = f" at {project.lines(error)[-1]}" if project.lines(error) else ""
        raise _Failed(
            project.named(f"{name}() of {project.file} raised {_text(error)}{where}"), project.trace(error)
        ) from error


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:SHOWN].rstrip(": ")


def _packages() -> tuple[str, ...]:
    from codemods.verify.child import PACKAGES

    return PACKAGES


def serve(request: dict[str, Any]) -> dict[str, Any]:
    """Answer one request in a fork; what it imported of torch and friends is imported here, for the next."""
    from codemods.verify.child import forked, versions

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        answer = forked(Path(name), request["limit"], lambda: work(request))
    _sweep()
    for module in answer.pop("warm", ()):
        if module not in sys.modules:
            with contextlib.suppress(Exception):
                importlib.import_module(module)
    return {**answer, "versions": dict(versions())}


def _adopt() -> Callable[[], None]:
    """Make `codemods` importable, and this script's own directory not."""
    here = Path(__file__).resolve().parent
    sys.path[:] = [place for place in sys.path if Path(place).resolve() != here]
    spec = importlib.util.spec_from_file_location("_child", here / "child.py")
    assert spec is not None and spec.loader is not None
    child = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(child)
    adopt: Callable[[], None] = child.adopt
    return adopt


def main() -> None:
    """Serve until standard input ends."""
    _adopt()()
    _control(SUBREAPER, 1)
    signal.signal(signal.SIGTERM, _leave)
    answers = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8")
    os.set_inheritable(answers.fileno(), False)
    missing = ""
    try:
        importlib.import_module("codemods.verify.flow_runs")
    except ImportError as error:
        missing = str(error)
    request: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"missing": missing} if missing else serve(request)
        try:
            print(json.dumps(answer), file=answers, flush=True)
        except BrokenPipeError:
            break
    # Who is done with this server says so by a signal. Standard input ends by itself where the parent was killed.
    for words in request.get("leftovers", ()):
        with contextlib.suppress(OSError):
            subprocess.run(words, check=False)
    os._exit(0)


if __name__ == "__main__":
    main()
