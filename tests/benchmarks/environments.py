"""The virtual environments of the contestants, each with nothing but its tool."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Failed
from benchmarks.pins import RUFF, TORCHFIX


@dataclass(frozen=True)
class Tools:
    """Where the commands are."""

    ruff: str
    torchfix: str
    fixer: str
    python: str
    """The interpreter that runs `fixer`."""


def install(cache: Path, checkout: Path, tell: Callable[[str], None]) -> Tools:
    """Make the environments that are missing, and the one of `fixer` anew.

    Raises:
        Failed: if the environment of a competitor holds torch.
    """
    ruff = _environment(cache / "environments" / "ruff", RUFF, tell)
    torchfix = _environment(cache / "environments" / "torchfix", TORCHFIX, tell)
    fixer = cache / "environments" / "fixer"
    shutil.rmtree(fixer, ignore_errors=True)
    _environment(fixer, (f"{checkout}[watch]", "-c", str(checkout / "constraints.txt")), tell)
    for environment in (ruff, torchfix, fixer):
        if any(environment.glob("lib/python*/site-packages/torch/__init__.py")):
            raise Failed(f"torch was installed in {environment}; nothing here needs it")
    return Tools(
        ruff=str(ruff / "bin" / "ruff"),
        torchfix=str(torchfix / "bin" / "torchfix"),
        fixer=str(fixer / "bin" / "fixer"),
        python=str(fixer / "bin" / "python"),
    )


def pip(cache: Path, tell: Callable[[str], None]) -> list[str]:
    """A pip that is there whatever Python runs the benchmark."""
    return [str(_environment(cache / "environments" / "ruff", RUFF, tell) / "bin" / "python"), "-m", "pip", "-qq"]


def _environment(place: Path, requirements: Sequence[str], tell: Callable[[str], None]) -> Path:
    """A virtual environment that holds what `requirements` ask for."""
    wanted = "\n".join((sys.version, *requirements))
    made = place / "made-for.txt"
    if not made.exists() or made.read_text() != wanted:
        tell(f"installing {' '.join(requirements)}")
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([place / "bin" / "python", "-m", "pip", "-qq", "install", *requirements], check=True)
        made.write_text(wanted)
    return place
