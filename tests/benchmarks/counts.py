"""How much there is to do, and how much of it each stage keeps away: counts beside the times."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.corpora import python_files
from benchmarks.measure import Failed
from benchmarks.setting import Setting


@dataclass(frozen=True)
class Count:
    """What is in a corpus, and what the contestants make of it."""

    corpus: str
    python: int
    """Python files."""
    by_ruff: int
    """Files that ruff looks at."""
    seen: int
    """Files that `fixer` looks at: Python, notebooks, configuration."""
    read: int
    """Files left by the prefilter."""
    findings: int
    fixable: int
    skipped: int
    stages: Mapping[str, int] = field(default_factory=dict)
    """Files left by each later stage, where `fixer check --profile` tells."""


def count(setting: Setting, used: Collection[Path]) -> list[Count]:
    """The counts of the corpora that were checked as a whole, each from a run of its own."""
    corpora = setting.corpora
    places = {
        "torch-free": corpora.torch_free,
        "torch-heavy": corpora.torch_heavy,
        "Accelerate and Lightning": corpora.pair,
        "the whole repository": corpora.repository,
    }
    return [_count(setting, name, place) for name, place in places.items() if place in used]


def rules(setting: Setting) -> int:
    """How many rules there are; all of them take part."""
    return len(json.loads(_said(setting, setting.corpora.empty, setting.tools.fixer, "rules", "--format", "json")))


def _count(setting: Setting, name: str, place: Path) -> Count:
    profile = ("--profile",) if "--profile" in setting.options else ()
    report = json.loads(_said(setting, place, *setting.check(place).command, *profile, "--format", "json"))
    shown = _said(setting, place, setting.tools.ruff, "check", "--isolated", "--show-files", ".")
    return Count(
        corpus=name,
        python=python_files(place),
        by_ruff=len(shown.splitlines()),
        seen=report["files_seen"],
        read=report["files_read"],
        findings=report["summary"]["findings"],
        fixable=report["summary"]["fixable"],
        skipped=report["summary"]["skipped"],
        stages=_stages(report),
    )


def _stages(report: Mapping[str, Any]) -> dict[str, int]:
    """Files left by each stage, in order, by the stage's name: the one place that knows what `--profile` says."""
    stages = report.get("profile", {}).get("stages", {})
    return {str(stage): int(left) for stage, left in stages.items()}


def _said(setting: Setting, at: Path, *command: str) -> bytes:
    done = subprocess.run(command, cwd=at, env=setting.environment, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise Failed(f"{' '.join(command)}: {done.stderr.decode(errors='replace').strip()[-2000:]}")
    return done.stdout
