"""Where the jobs of a campaign are done: in processes of this machine, or of all machines of a Ray cluster.

Both do a job in the same way, in a process of its own with limits of its own, and both hand back answers as they come,
never more than somebody takes.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from codemods import __version__
from fixer.bulk.access import variables
from fixer.bulk.campaign import CampaignLimits
from fixer.bulk.job import Ending, Job, JobResult
from fixer.bulk.worker import ANSWER
from fixer.errors import Refusal
from fixer.git.command import GitFailed, git
from fixer.output.scratch import scratch
from fixer.run.execute import available
from fixer.run.pool import import_path

SCRIPT = Path(__file__).with_name("worker.py").resolve()
MEGABYTE = 1_000_000
ANSWERING = 60.0
"""Seconds within which a remote says where its branches are."""
RETRIES = 5
"""How often Ray tries a job again whose machine died."""

Engine = Callable[[Iterable[Job], CampaignLimits], Iterator[tuple[Job, JobResult]]]


def engine(name: str) -> Engine:
    """The engine of that name, as campaigns call them."""
    return {"local": local, "ray": on_ray}[name]


def local(jobs: Iterable[Job], limits: CampaignLimits) -> Iterator[tuple[Job, JobResult]]:
    """Each job with its answer, as they are done; whoever stops asking stops the work."""
    running = _Running()
    waiting: dict[Future[JobResult], Job] = {}
    pool = ThreadPoolExecutor(limits.concurrent or available())
    todo = iter(jobs)
    try:
        while True:
            while len(waiting) < (limits.concurrent or available()) and (job := next(todo, None)) is not None:
                waiting[pool.submit(attempt, job, limits, running)] = job
            if not waiting:
                return
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield waiting.pop(future), future.result()
    finally:
        running.stop()
        pool.shutdown(cancel_futures=True)


def on_ray(jobs: Iterable[Job], limits: CampaignLimits) -> Iterator[tuple[Job, JobResult]]:
    """The same on the cluster that RAY_ADDRESS names, or on one that is started here for the while.

    Raises:
        Refusal: if Ray is not installed, or there is no such cluster.
    """
    try:
        import ray
    except ImportError as error:
        raise Refusal("engine \"ray\" needs Ray: pip install 'ampfix[ray]', here and on every node") from error
    if not ray.is_initialized():
        try:
            ray.init(log_to_driver=False, include_dashboard=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise Refusal(f"the Ray cluster cannot be reached: {error}") from error
    remote = ray.remote(
        num_cpus=1, max_retries=RETRIES, memory=limits.memory * MEGABYTE if limits.memory else None, max_calls=0
    )(_on_a_node)
    waiting: dict[Any, Job] = {}
    todo = iter(jobs)
    try:
        while True:
            # A few more than there are processors: a node that is done has its next job at once.
            most = limits.concurrent or 2 * int(ray.cluster_resources().get("CPU", 1))
            while len(waiting) < most and (job := next(todo, None)) is not None:
                waiting[remote.remote(job, limits, __version__)] = job
            if not waiting:
                return
            for reference in ray.wait(list(waiting), num_returns=1)[0]:
                job = waiting.pop(reference)
                try:
                    yield job, ray.get(reference)
                except ray.exceptions.RayError as error:
                    yield job, JobResult(Ending.FAILED, f"Ray: {' '.join(str(error).split())[:300]}")
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)


def _on_a_node(job: Job, limits: CampaignLimits, version: str) -> JobResult:
    if version != __version__:
        return JobResult(
            Ending.FAILED, f"the node has fixer {__version__}, the campaign {version}: install one of them"
        )
    return attempt(job, limits, _Running())


class _Running:
    """The processes that are at work, so that all of them can be ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def start(self, command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._stopped:
                raise Refusal("the campaign was stopped")
            # A session of its own: Ctrl-C is ours to handle, and what git starts ends with the process.
            process = subprocess.Popen(command, start_new_session=True, **options)
            self._processes.add(process)
            return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            if process.poll() is None:
                _kill(process)
                process.wait()
            self._processes.discard(process)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            for process in self._processes:
                if process.poll() is None:
                    _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()


def attempt(job: Job, limits: CampaignLimits, running: _Running) -> JobResult:
    """Do a job in a process of its own. Whatever happens to that, there is an answer."""
    try:
        if job.known is not None and _stands(job, *job.known):
            return JobResult(base=job.known[0], unchanged=True)
        with scratch() as directory:
            return _attempt(job, limits, running, directory)
    except (Refusal, OSError) as error:
        return JobResult(Ending.FAILED, str(error))
    except GitFailed as error:
        return JobResult(Ending.FAILED, f"git: {' '.join(str(error).split())}")


def _stands(job: Job, commit: str, name: str) -> bool:
    """Whether the base is where and what it was, which is quicker to ask for than to start a process."""
    ref = f"refs/heads/{job.campaign.base}" if job.campaign.base else "HEAD"
    access = variables(job.target.location, job.campaign)
    question = ("ls-remote", "-q", "--symref", "--", job.target.location, ref)
    answer = git(*question, at=Path(os.sep), seconds=ANSWERING, variables=access)
    lines = answer.decode("utf-8", "replace").splitlines()
    # A detached HEAD is no branch, and an old server does not say which one it is.
    called = next((line for line in lines if line.startswith("ref: ") and line.endswith(f"\t{ref}")), None)
    return f"{commit}\t{ref}" in lines and called in (None, f"ref: refs/heads/{name}\t{ref}")


def _attempt(job: Job, limits: CampaignLimits, running: _Running, directory: Path) -> JobResult:
    with (directory / "said").open("wb") as said:
        process = running.start(
            [sys.executable, "-I", str(SCRIPT), str(directory)],
            cwd=directory,
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
        )
        try:
            assert process.stdin
            memory = (limits.memory or 0) * MEGABYTE
            try:
                for value in (import_path(), job, memory):
                    pickle.dump(value, process.stdin)
                process.stdin.flush()
                status = process.wait(limits.minutes * 60)
            except subprocess.TimeoutExpired:
                return JobResult(Ending.FAILED, f"took longer than the {limits.minutes} minutes that `limits` allows")
            except BrokenPipeError:
                status = process.wait()
            if status == 0:
                answer = pickle.loads((directory / ANSWER).read_bytes())
                assert isinstance(answer, JobResult)
                return answer
            return JobResult(Ending.FAILED, _why(status, (directory / "said").read_bytes(), limits))
        finally:
            running.end(process)
            if process.stdin:
                process.stdin.close()


_TOO_LARGE = (
    "MemoryError",
    "returned NULL without setting an exception",
    "failed to map segment from shared object",
    "Cannot allocate memory",
)
"""How Python, its imports, the loader of libraries and the system say that a limit of memory is reached."""


def _why(status: int, said: bytes, limits: CampaignLimits) -> str:
    """Why a process ended badly, in a sentence."""
    text = said.decode("utf-8", "replace").strip()
    if limits.memory and any(sign in text for sign in _TOO_LARGE):
        return f"needs more than the {limits.memory:,} megabytes that `limits` allows"
    how = f"was ended by signal {-status}" if status < 0 else f"ended with {status}"
    return f"its process {how}{': ' + text.splitlines()[-1] if text else ''}"
