"""Several worker processes, each with a thread here that feeds it. A worker that dies takes no other file with it."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemods.edits import Skip, SkipReason
from codemods.plan import Plan

if TYPE_CHECKING:
    from fixer.runner import Task

SCRIPT = Path(__file__).with_name("worker.py").resolve()
PACKAGES = SCRIPT.parent.parent


def import_path() -> list[str]:
    """Where a worker may import from: our own packages and absolute places, not "wherever we were started"."""
    return list(dict.fromkeys([str(PACKAGES), *(place for place in sys.path if Path(place).is_absolute())]))


class _Worker:
    """A child process that plans lists of paths."""

    def __init__(self, task: Task) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is ours to handle; a worker ends when its standard input does
        )
        try:
            self._send(import_path())
            self._send(task)
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
        return pickle.load(self._process.stdout)

    def plan(self, paths: Sequence[str]) -> Plan:
        """The plan of `paths`.

        Raises:
            EOFError, OSError: if the process has died.
        """
        self._send(paths)
        plan = self._receive()
        assert isinstance(plan, Plan)
        return plan

    def kill(self) -> None:
        """End the process now."""
        self._process.kill()

    def stop(self) -> int:
        """End the process; how it ended."""
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.close()
        except OSError:
            self._process.kill()
        self._process.stdout.close()
        return self._process.wait()


def plan_chunks(task: Task, chunks: Sequence[Sequence[str]], processes: int, tick: Callable[[int], None]) -> list[Plan]:
    """The plan of each chunk, in order. A chunk that kills its worker is tried again file by file."""
    waiting = deque(enumerate(chunks))
    plans: dict[int, list[Plan]] = {number: [] for number in range(len(chunks))}
    failures: list[BaseException] = []
    stopping = threading.Event()
    working: list[_Worker] = []

    def started() -> _Worker:
        working.append(_Worker(task))
        return working[-1]

    def serve() -> None:
        worker: _Worker | None = None
        try:
            worker = started()
            while not stopping.is_set():
                try:
                    number, chunk = waiting.popleft()
                except IndexError:
                    return
                pending = deque([tuple(chunk)])
                while pending:
                    paths = pending.popleft()
                    try:
                        plans[number].append(worker.plan(paths))
                    except (EOFError, OSError, pickle.UnpicklingError):
                        status = worker.stop()
                        if len(paths) == 1:
                            plans[number].append(_lost(paths[0], status))
                        pending.extend((path,) for path in paths if len(paths) > 1)
                        worker = None
                        if stopping.is_set():
                            return
                        worker = started()
                tick(len(chunk))
        except BaseException as error:
            failures.append(error)
            stopping.set()
        finally:
            if worker is not None:
                worker.stop()

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(processes)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        stopping.set()
        for worker in working:
            worker.kill()
        raise
    if failures:
        raise failures[0]
    assert all(plans.values()), "every chunk is answered"
    return [plan for number in range(len(chunks)) for plan in plans[number]]


def _lost(path: str, status: int) -> Plan:
    how = f"signal {-status}" if status < 0 else f"exit code {status}"
    return Plan(skips=(Skip(path, SkipReason.RULE_FAILED, f"the process that read it ended with {how}"),))
