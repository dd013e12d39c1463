"""Recordings: what the probe saw of a command that a person started where it has to run, on a cluster or in Docker."""

from __future__ import annotations

import json
import os
import platform
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from codemods.verify.comparison import judge
from codemods.verify.symptoms import Run
from codemods.verify.trace import paired, read
from fixer.errors import Refusal
from fixer.verify.verification import RIDING, Verification, messages_of, widest_effect

_RUNS = "*.run"
"""One file for each command that was started, beside the traces."""


def environment(place: Path, steps: int) -> Mapping[str, str]:
    """The variables that load the probe into every Python that is started with them."""
    path = os.pathsep.join([str(RIDING), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {"FIXER_PROBE": str(place), "FIXER_STEPS": str(steps), "PYTHONPATH": path, "PYTHONHASHSEED": "0"}


def record(command: Sequence[str], place: Path, steps: int) -> int:
    """Run a command with the probe, and keep below `place` what it saw. Returns the command's exit code.

    Several may be started for one recording: one for each host or rank.

    Raises:
        Refusal: if the command cannot be started, or nothing can be written there.
    """
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"--to {place}: {error.strerror}") from error
    start = time.monotonic()
    try:
        code = subprocess.run(
            command, env={**os.environ, **environment(place.resolve(), steps)}, check=False
        ).returncode
    except OSError as error:
        raise Refusal(
            f"{command[0]}: {error.strerror}; write the command after --, as in `fixer probe -- python x.py`"
        ) from error
    told = {"command": shlex.join(command), "code": code, "seconds": time.monotonic() - start}
    (place / f"{platform.node()}-{os.getpid()}.run").write_text(json.dumps(told), encoding="utf-8")
    return code


def recorded(place: Path) -> tuple[str, Run]:
    """The command of a recording, and what was seen of it.

    Raises:
        Refusal: if there is none.
    """
    if not place.is_dir():
        raise Refusal(f"{place}: there is no such directory; `fixer probe --to {place} -- CMD` makes a recording")
    told = []
    for file in sorted(place.glob(_RUNS)):
        try:
            said = json.loads(file.read_text(encoding="utf-8"))
            told.append((str(said["command"]), int(said["code"]), float(said["seconds"])))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Refusal(f"{file}: is damaged ({error}); record the run again") from error
    traces = read(place)
    if not told and not traces:
        raise Refusal(f"{place}: holds no recording; `fixer probe --to {place} -- CMD` makes one")
    # Without `fixer probe` (--print-environment), only the traces tell how it ended.
    ended = [code for _, code, _ in told] or [1 if trace.error else 0 for trace in traces]
    code = next((each for each in ended if each), 0)
    output = "\n".join(trace.error for trace in traces if trace.error)
    return next((command for command, *_ in told), ""), Run(
        "exit", code, max((t[2] for t in told), default=0.0), output, traces
    )


def compare(before: Path, after: Path, codes: Sequence[str]) -> Verification:
    """The verdict on two recordings, of the code as it is and with the fixes of some rules.

    Raises:
        Refusal: if one of them cannot be read.
    """
    (command, first), (_, second) = recorded(before), recorded(after)
    second = replace(second, traces=paired(first.traces, second.traces))
    rules = [(code, "") for code in codes]
    effect = widest_effect(rules)
    judged = judge(first, second, messages_of(codes), effect=effect)
    return Verification(command, judged, first, second, tuple(sorted(codes)), effect=effect, repeats=(0, 0))
