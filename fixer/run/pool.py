"""Several worker processes, each with a thread here that feeds it. A worker that dies takes no other file with it."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemods.model.edits import Skip, SkipReason
from codemods.model.plan import Plan

if TYPE_CHECKING:
    from fixer.run.execute import Planned, Prefiltered, Task, Tick

SCRIPT = Path(__file__).with_name("worker.py").resolve()
PACKAGES = SCRIPT.parents[2]
SILENCE = 1800.0
"""Seconds after which a worker of which nothing is heard is ended: no file takes as long."""
FAREWELL = 10.0
"""Seconds that a worker has for its end."""
STUCK = -1000
"""How a worker ended that was ended for its silence."""


def import_path() -> list[str]:
    """Where a worker may import from: our own packages and absolute places, not "wherever we were started"."""
    return list(dict.fromkeys([str(PACKAGES), *(place for place in sys.path if Path(place).is_absolute())]))


class _Worker:
    """A child process that works on lists of paths."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is ours to handle; a worker ends when its standard input does
        )
        self._known: set[int] = set()
        self._stuck = self._awaited = False
        self._heard = time.monotonic()
        self._stopped = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self._send(import_path())
            self._receive()
        except (EOFError, OSError):
            self.kill()
            raise RuntimeError("a worker process could not start; what it said stands above") from None

    def _send(self, value: Any) -> None:
        assert self._process.stdin
        pickle.dump(value, self._process.stdin)
        self._process.stdin.flush()

    def _receive(self) -> Any:
        assert self._process.stdout
        self._heard, self._awaited = time.monotonic(), True
        try:
            return pickle.load(self._process.stdout)
        finally:
            self._awaited = False

    def _listen(self) -> None:
        """End the process when nothing is heard of it for too long while somebody waits."""
        left = SILENCE
        while not self._stopped.wait(left):
            left = self._heard + SILENCE - time.monotonic() if self._awaited else SILENCE
            if left <= 0:
                self._stuck = True
                self.kill()
                return

    def do(self, job: _Job, paths: Sequence[str], tick: Tick) -> Any:
        """What a job gives for some paths; they count as done one by one, or, if it gives nothing, not at all.

        Raises:
            EOFError, OSError: if the process has died.
        """
        told = 0
        try:
            self._send((job.number, None if job.number in self._known else job.task, job.doing, paths))
            self._known.add(job.number)
            while isinstance(answer := self._receive(), int):
                told += answer
                tick(answer)
        except BaseException:
            tick(-told)
            raise
        tick(len(paths) - told)
        return answer

    def kill(self) -> None:
        """End the process now."""
        self._stopped.set()
        self._process.kill()

    def stop(self) -> int:
        """End the process; how it ended, or STUCK."""
        assert self._process.stdin and self._process.stdout
        self._stopped.set()
        try:
            self._process.stdin.close()
        except OSError:
            self._process.kill()
        self._process.stdout.close()
        try:
            status = self._process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            self.kill()
            status = self._process.wait()
        return STUCK if self._stuck else status


@dataclass(frozen=True, slots=True)
class _Job:
    """What is to be done with the paths of a task."""

    number: int
    """Of the task."""
    task: bytes
    """Pickled before anybody works on it: readers remember what they have seen."""
    doing: str


class Crew:
    """Some worker processes, each with a thread here that feeds it while there is work. They start when needed."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._idle: list[_Worker] = []
        self._all: list[_Worker] = []
        self._tasks: list[Task] = []
        self._pickled: list[bytes] = []

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        for worker in self._all:
            if error is not None:
                worker.kill()
            worker.stop()

    def prefilter(self, task: Task, chunks: Sequence[Sequence[str]], tick: Tick) -> list[Prefiltered]:
        """What the prefilter leaves of each chunk, in no order. This process takes part while others are starting."""
        from fixer.run.execute import Prefiltered, prefilter_paths

        def lost(path: str, status: int) -> Prefiltered:
            return Prefiltered((), (path,))

        here = partial(prefilter_paths, task)
        found = self._share(self._job(task, "prefilter"), chunks, self.processes - 1, lost, tick, here)
        return [each for chunk in found for each in chunk]

    def plan(self, task: Task, chunks: Sequence[Sequence[str]], tick: Tick) -> list[Planned]:
        """The plan of each chunk. One that kills its worker is tried file by file."""
        from fixer.run.execute import Planned

        def lost(path: str, status: int) -> Planned:
            how = f"signal {-status}" if status < 0 else f"exit code {status}"
            why = f"the process that read it ended with {how}"
            if status == STUCK:
                why = f"the process that read it said nothing for {SILENCE / 60:.0f} minutes, and was ended"
            return Planned(Plan(skips=(Skip(path, SkipReason.RULE_FAILED, why),)))

        found = self._share(self._job(task, "plan"), chunks, self.processes, lost, tick)
        assert all(found), "every chunk is answered"
        return [each for chunk in found for each in chunk]

    def _job(self, task: Task, doing: str) -> _Job:
        if task not in self._tasks:
            self._tasks.append(task)
            self._pickled.append(pickle.dumps(task))
        number = self._tasks.index(task)
        return _Job(number, self._pickled[number], doing)

    def _share(
        self,
        job: _Job,
        chunks: Sequence[Sequence[str]],
        workers: int,
        lost: Callable[[str, int], Any],
        tick: Tick,
        here: Callable[[Sequence[str]], Any] | None = None,
    ) -> list[list[Any]]:
        """What becomes of each chunk.

        Args:
            lost: what to say of a path that kills its worker.
            here: do the same in this process, beside the workers.
        """
        waiting = deque(enumerate(chunks))
        done: list[list[Any]] = [[] for _ in chunks]
        failures: list[BaseException] = []
        stopping = threading.Event()

        def serve() -> None:
            worker: _Worker | None = None
            try:
                while not stopping.is_set():
                    worker = worker or self._worker()
                    try:
                        number, chunk = waiting.popleft()
                    except IndexError:
                        break
                    pending = deque([tuple(chunk)])
                    while pending:
                        paths = pending.popleft()
                        worker = worker or self._worker()
                        try:
                            done[number].append(worker.do(job, paths, tick))
                        except (EOFError, OSError, pickle.UnpicklingError):
                            status = worker.stop()
                            self._all.remove(worker)
                            worker = None
                            if len(paths) == 1:
                                done[number].append(lost(paths[0], status))
                                tick(1)
                            pending.extend((path,) for path in paths if len(paths) > 1)
                            if stopping.is_set():
                                return
                if worker is not None:
                    self._idle.append(worker)
            except BaseException as error:
                failures.append(error)
                stopping.set()

        threads = [threading.Thread(target=serve, daemon=True) for _ in range(min(workers, len(chunks)))]
        for thread in threads:
            thread.start()
        try:
            while here is not None and not stopping.is_set():
                try:
                    number, chunk = waiting.popleft()
                except IndexError:
                    break
                done[number].append(here(chunk))
                tick(len(chunk))
            for thread in threads:
                thread.join()
        except BaseException:
            stopping.set()
            for worker in self._all:
                worker.kill()
            raise
        if failures:
            raise failures[0]
        return done

    def _worker(self) -> _Worker:
        try:
            return self._idle.pop()
        except IndexError:
            worker = _Worker()
            self._all.append(worker)
            return worker
