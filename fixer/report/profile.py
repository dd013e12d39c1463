"""Where the time of a run went, as text for a person or a bug report and as JSON values."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from codemods import __version__
from codemods.model.profile import Profile

_STAGES = ("seen", "prefiltered", "cached", "facts", "parsed", "found")
"""In the order in which files meet them; others come after."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a whole run took."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds of processor time, those of child processes included."""
    peak: float
    """MiB of the largest process."""


def text(profile: Profile, cost: Cost, command: Sequence[str]) -> str:
    """The profile as tables of plain text."""
    where = f"{platform.system()} {platform.machine()}"
    lines = [
        f"fixer {__version__}, libcst {version('libcst')}, Python {platform.python_version()}, {where}",
        f"$ {' '.join(command)}",
        f"{cost.wall:.3f} s; {cost.cpu:.3f} s of processor time; at most {cost.peak:,.0f} MiB in one process",
    ]
    for kind in ("phase", "rule"):
        if any(each == kind for each, _ in profile.seconds):
            lines += ["", *_times(profile, kind)]
    lines += ["", *_stages(profile)]
    return "".join(f"{line}\n" for line in lines)


def values(profile: Profile, cost: Cost) -> dict[str, object]:
    """The same as plain JSON values."""
    return {
        "wall": round(cost.wall, 6),
        "cpu": round(cost.cpu, 6),
        "peak_mib": round(cost.peak, 1),
        "phases": _seconds(profile, "phase"),
        "rules": _seconds(profile, "rule"),
        "stages": _ordered(profile.stages),
    }


def _seconds(profile: Profile, kind: str) -> dict[str, float]:
    found = {name: seconds for (each, name), seconds in profile.seconds.items() if each == kind}
    return {name: round(found[name], 6) for name in sorted(found, key=lambda name: (-found[name], name))}


def _times(profile: Profile, kind: str) -> Iterator[str]:
    """What took how long, the longest first, in share of all that was timed."""
    total = sum(profile.seconds.values()) or 1.0
    yield f"{kind:<16}{'seconds':>10}{'%':>7}{'times':>10}"
    for name, seconds in _seconds(profile, kind).items():
        yield f"{name:<16}{seconds:>10.3f}{100 * seconds / total:>7.1f}{profile.calls[kind, name]:>10,}"


def _stages(profile: Profile) -> Iterator[str]:
    """How many files got how far."""
    stages = _ordered(profile.stages)
    most = max(stages.values(), default=0) or 1
    yield f"{'files left':<16}{'files':>10}{'%':>7}"
    for name, files in stages.items():
        yield f"{name:<16}{files:>10,}{100 * files / most:>7.1f}"


def _ordered(stages: Mapping[str, int]) -> dict[str, int]:
    order = {name: number for number, name in enumerate(_STAGES)}
    return {name: stages[name] for name in sorted(stages, key=lambda name: order.get(name, len(order)))}
