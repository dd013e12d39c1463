"""One run of a command in one directory, with limits, through the supervisor."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SUPERVISOR = Path(__file__).with_name("supervisor.py").resolve()


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run of the command may use."""

    seconds: float = 600.0
    memory: int = 0
    """Bytes that its processes may hold together; 0 means no limit."""
    steps: int = 0
    """Steps after which an optimizer ends its process; 0 means no limit."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run came to its end."""

    how: str
    """`exit`, or the limit that ended it: `time`, `memory`, `processes`."""
    code: int | None
    seconds: float
    peak: int
    """Most bytes that its processes held together, as far as seen."""
    output: str


def run(
    command: str, directory: Path, environment: Mapping[str, str], limits: Limits, leftovers: Sequence[Path] = ()
) -> Ended:
    """Run a shell command to its end or to a limit. Nothing that it started lives on.

    Args:
        leftovers: directories to be removed should this process be killed in the middle of the run.
    """
    order = {
        "command": command,
        "directory": str(directory),
        "environment": dict(environment),
        "seconds": limits.seconds,
        "memory": limits.memory,
        "leftovers": [str(place) for place in leftovers],
    }
    supervisor = subprocess.Popen(
        [sys.executable, "-I", str(SUPERVISOR)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is ours to handle; the supervisor ends when its standard input does
    )
    assert supervisor.stdin is not None and supervisor.stdout is not None
    try:
        supervisor.stdin.write(json.dumps(order).encode() + b"\n")
        supervisor.stdin.flush()
        answer = supervisor.stdout.read()
    finally:
        supervisor.stdin.close()
        supervisor.wait()
        supervisor.stdout.close()
    if not answer:
        raise RuntimeError(f"the supervisor of the command ended with {supervisor.returncode}")
    told = json.loads(answer)
    return Ended(told["ended"], told["code"], told["seconds"], told["peak"], told["output"])
