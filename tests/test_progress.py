"""What is shown while a command works: a bar on a terminal, gone when the work is over; nothing anywhere else."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from world import CHECKOUT, LONG, PLUGIN, SURROUNDINGS, in_the_foreground, repository

from fixer.output.branches import BranchRequest, deliver, deliver_parts
from fixer.output.files import write
from fixer.output.split import Split
from fixer.project.worktree import WorkTree
from fixer.run.execute import Order, Task
from fixer.run.pool import Crew
from fixer.run.request import Request, plan_directory

pty = pytest.importorskip("pty")
OLD = "import torch\n\n\ndef f(m, x):\n    with torch.cuda.amp.autocast():\n        return m(x)\n"
FILES = {f"part{number % 3}/m{number}.py": OLD for number in range(9)}

AT_ONCE = "from fixer.report import progress; progress.PATIENCE = progress.SHORT = 0; progress.EVERY = 0.01\n"
"""Lets a bar appear in a run that takes no second."""
HELD = """
import os
import time
from fixer.run import execute
plan_paths = execute.plan_paths
def held(task, paths, index, memory, tick):
    tick(2)
    while not os.path.exists("go on"):
        time.sleep(0.01)
    if os.path.exists("fail"):
        raise RuntimeError("broken")
    tick(len(paths) - 2)
    return plan_paths(task, paths, index, memory)
execute.plan_paths = held
"""
"""Holds a check after two files, until it may go on."""
IMPORTED = "import atexit\natexit.register(lambda: print('rich.progress' in sys.modules, file=open('imported', 'w')))\n"


class Terminal:
    """What a person sees who has sent these bytes to a terminal of 80 columns."""

    def __init__(self, sent: bytes) -> None:
        self.lines = [""]
        self.column = 0
        self.cursor = True
        for control, code, text in re.findall(r"(?s)(\x1b\[([?\d;]*[A-Za-z]))|([\r\n]|[^\x1b])", sent.decode()):
            if control:
                self._obey(code)
            elif text == "\r":
                self.column = 0
            elif text == "\n":
                self.lines.append("")
            else:
                line = self.lines[-1].ljust(self.column)
                self.lines[-1] = line[: self.column] + text + line[self.column + 1 :]
                self.column += 1

    def _obey(self, code: str) -> None:
        if code in ("?25l", "?25h"):
            self.cursor = code.endswith("h")
        elif code == "2K":
            self.lines[-1] = ""
        else:
            assert code == "1A" or code.endswith("m"), f"an unexpected control sequence: {code}"
            self.lines = self.lines[:-1] if code == "1A" else self.lines


class Running:
    """A command whose standard error is a terminal."""

    def __init__(self, before: str, *words: str, at: Path, environment: Mapping[str, str] | None = None) -> None:
        ours, theirs = pty.openpty()
        program = f"import sys; sys.path.pop(0); sys.argv[0] = 'fixer'\n{before}\nfrom fixer.cli import main; main()"
        surroundings = {name: value for name, value in SURROUNDINGS.items() if name != "NO_COLOR"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", program, *words],
            cwd=at,
            env={
                **{name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")},
                **surroundings,
                "PYTHONPATH": os.pathsep.join([str(PLUGIN), str(CHECKOUT)]),
                "COLUMNS": "80",
                **(environment or {}),
            },
            stdout=subprocess.PIPE,
            stderr=theirs,
        )
        os.close(theirs)
        self._terminal = ours
        self.sent = b""

    def wait_for(self, pattern: str) -> None:
        """Read until it has shown what a pattern describes."""
        while not re.search(pattern, re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", self.sent.decode(errors="replace"))):
            assert self.read(), self.sent

    def read(self) -> bool:
        """Wait for more bytes; whether there were any."""
        try:
            new = os.read(self._terminal, 65536)
        except OSError:  # nobody holds the other end
            new = b""
        self.sent += new
        return bool(new)

    def end(self, number: signal.Signals | None = None) -> int:
        """Wait for the end, after a signal if there is to be one; the exit code."""
        if number is not None:
            self._process.send_signal(number)
        while self.read():
            pass
        os.close(self._terminal)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return self._process.wait(timeout=LONG)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", FILES)


class TestBar:
    def test_it_tells_how_far_each_phase_is_and_goes(self, root: Path) -> None:
        running = Running(AT_ONCE + HELD, "check", "--no-cache", "--jobs", "1", at=root)
        running.wait_for(r"checking ━.* 2/9 files \d.* files/s")
        (root / "go on").touch()
        assert running.end() == 1
        seen = Terminal(running.sent)
        assert seen.cursor and not any("checking" in line or "━" in line for line in seen.lines)
        assert any("9 findings" in line or "AMP002" in line for line in seen.lines), seen.lines
        assert max(len(line) for line in seen.lines) <= 80

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_nothing_stays_of_it_after_an_interruption(self, root: Path, number: signal.Signals) -> None:
        with in_the_foreground():
            running = Running(AT_ONCE + HELD, "check", "--no-cache", "--jobs", "1", at=root)
        running.wait_for("2/9 files")
        assert running.end(number) == 128 + number
        seen = Terminal(running.sent)
        assert seen.cursor and "".join(seen.lines) == ""

    def test_nothing_stays_of_it_after_an_error(self, root: Path) -> None:
        running = Running(AT_ONCE + HELD, "check", "--no-cache", "--jobs", "1", at=root)
        running.wait_for("2/9 files")
        (root / "fail").touch()
        (root / "go on").touch()
        assert running.end() == 1
        seen = Terminal(running.sent)
        assert seen.cursor and not any("━" in line for line in seen.lines)
        assert seen.lines[0].startswith("Traceback") and "broken" in "".join(seen.lines)

    def test_without_colours(self, root: Path) -> None:
        for without, coloured in (({"NO_COLOR": "1"}, False), ({}, True)):
            running = Running(AT_ONCE + HELD, "check", "--no-cache", "--jobs", "1", at=root, environment=without)
            running.wait_for("2/9 files")
            running.end(signal.SIGTERM)
            assert bool(re.search(rb"\x1b\[[\d;]*[39]\d", running.sent)) is coloured

    @pytest.mark.parametrize(
        ("before", "words", "environment"),
        [
            pytest.param(AT_ONCE, (), {"TERM": "dumb"}, id="a terminal that cannot move its cursor"),
            pytest.param(AT_ONCE, ("--quiet",), {}, id="quiet"),
            pytest.param("from fixer.report import progress; progress.PATIENCE = 600", (), {}, id="a short run"),
        ],
    )
    def test_there_is_none(self, root: Path, before: str, words: tuple[str, ...], environment: dict[str, str]) -> None:
        running = Running(IMPORTED + before, "check", "--no-cache", *words, at=root, environment=environment)
        assert running.end() == 1
        assert b"files/s" not in running.sent and b"\x1b[?25" not in running.sent
        assert (root / "imported").read_text() == "False\n"

    def test_there_is_none_in_a_pipe(self, root: Path) -> None:
        program = f"import sys\n{IMPORTED}{AT_ONCE}from fixer.cli import main; main()"
        done = subprocess.run([sys.executable, "-c", program, "check"], cwd=root, capture_output=True, check=False)
        assert done.returncode == 1 and b"\x1b" not in done.stderr and b"files/s" not in done.stderr
        assert (root / "imported").read_text() == "False\n"


class Phases:
    """The phases of a run, each with how many files it was about and of how many it was told."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int, int]] = []

    def __call__(self, phase: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        return self._shown(phase, total)

    @contextmanager
    def _shown(self, phase: str, total: int) -> Iterator[Callable[[int], None]]:
        counts: list[int] = []
        yield counts.append
        self.seen.append((phase, total, sum(counts)))


class TestPhases:
    @pytest.mark.parametrize("jobs", [1, 2])
    @pytest.mark.parametrize("cache", [False, True])
    def test_of_a_plan(self, root: Path, jobs: int, cache: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("fixer.run.execute.ENOUGH_FILES", 4)
        monkeypatch.setattr("fixer.run.execute.ENOUGH_LINES", 20)
        monkeypatch.setattr("fixer.run.execute.CHUNK_LINES", 10)
        monkeypatch.setattr("fixer.run.execute.AT_ONCE", 2)
        monkeypatch.setattr("fixer.run.execute.FEW_FILES", 1)
        (root / "innocent.py").write_text("x = 1\n")
        monkeypatch.setenv("FIXER_CACHE_DIR", str(root.parent / "cache"))
        for checked in (9, 0 if cache else 9):
            phases = Phases()
            plan_directory(Request(jobs=jobs, cache=cache), root, fix=False, progress=phases)
            assert phases.seen == [("prefilter", 10, 10 if checked else 0), ("checking", checked, checked)]
        (root / "part0" / "m0.py").write_text(f"{OLD}# a comment\n")
        phases = Phases()
        plan_directory(Request(jobs=jobs, cache=cache), root, fix=False, progress=phases)
        ((_, total, told),) = phases.seen[1:]
        assert phases.seen[0] == ("prefilter", 10, 10) and 0 < total == told

    def test_of_files_in_other_processes_one_by_one(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Also where a worker dies of a file: then those of its chunk are tried, and count, once more."""
        task = Task(Order(WorkTree(root), ()), tuple(FILES))
        counts: list[int] = []
        with Crew(1) as crew:
            crew.plan(task, [tuple(FILES)], counts.append)
            assert sum(counts) == 9
            worker = crew._all[0]
            answers = iter((2, 3))

            def dying() -> int:
                for answer in answers:
                    return answer
                worker.kill()
                raise EOFError

            monkeypatch.setattr(worker, "_receive", dying)
            counts.clear()
            planned = crew.plan(task, [tuple(FILES)], counts.append)
        assert counts[:3] == [2, 3, -5] and sum(counts) == 9
        assert len(planned) == 9 and not any(each.plan.skips for each in planned)

    def test_of_writing(self, root: Path) -> None:
        outcome = plan_directory(Request(cache=False), root, fix=True, progress=Phases())
        counts: list[int] = []
        write(outcome.plan, root, counts.append)
        assert sum(counts) == len(outcome.plan.changed) == 9

    def test_of_branches(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in SURROUNDINGS.items():
            monkeypatch.setenv(name, value)
        one, several = Phases(), Phases()
        deliver(Request(cache=False), BranchRequest("one"), root, dry_run=False, progress=one)
        split = Split.parse("directory:1")
        deliver_parts(Request(cache=False), BranchRequest("parts"), split, root, dry_run=False, progress=several)
        expected = [("prefilter", 9, 9), ("checking", 9, 9), ("committing", 9, 9)]
        assert (one.seen, several.seen) == (expected, expected)
