"""Which findings and fixes two commits of the tool differ in, over projects that somebody else wrote, as Markdown.

    python tests/ecosystem.py BASE HEAD DIRECTORY... [--most N]

BASE and HEAD are commits of this repository; both run with this interpreter and what is installed for it. Without a
DIRECTORY the fixtures under `tests/before_after` are compared, which takes a minute. Prints, for each project, the
findings that came and went, those that changed (safety, with a fix or without, message), patches that differ, and files
that are skipped now; exits with 1 if the two differ, with 2 if one of them crashes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent
PROGRAM = "import sys; sys.path[:0] = [{place!r}]; sys.argv[0] = 'fixer'; from fixer.cli import main; main()"
Place = tuple[str, int, str]
"""Path, line, code."""


@dataclass(frozen=True)
class Said:
    """What one version says of one project."""

    findings: dict[Place, dict[str, Any]]
    skips: frozenset[tuple[str, str]]
    patch: str
    crash: str = ""


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """A commit of this repository in a directory of its own, while the block lasts."""
    with tempfile.TemporaryDirectory(prefix="ecosystem-") as place:
        at = Path(place) / "checkout"
        subprocess.run(["git", "-C", HERE, "worktree", "add", "-q", "--detach", at, commit], check=True)
        try:
            yield at
        finally:
            subprocess.run(["git", "-C", HERE, "worktree", "remove", "--force", at], check=True)


def said(version: Path, project: Path) -> Said:
    """What a version says of a project, and the patch that it offers."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        program = PROGRAM.format(place=str(version))
        command = [sys.executable, "-P", "-c", program, *words, "--isolated", "--no-cache", "."]
        if sys.version_info < (3, 11):
            command.remove("-P")
        return subprocess.run(command, cwd=project, capture_output=True, text=True, errors="replace", check=False)

    checked = run("check", "--format", "json")
    try:
        document = json.loads(checked.stdout)
    except ValueError:
        return Said({}, frozenset(), "", checked.stderr.strip()[-500:] or f"exit code {checked.returncode}")
    findings = {(f["path"], f["line"], f["code"]): f for f in document["findings"]}
    skips = frozenset((skip["path"], skip["reason"]) for skip in document["skips"])
    patch = run("apply", "--dry-run", "--unsafe-fixes").stdout if findings else ""
    return Said(findings, skips, patch)


def differences(base: Said, head: Said, most: int) -> list[str]:
    """The lines of a Markdown list; none where the two say the same."""
    if head.crash or base.crash:
        crashes = (("HEAD", head.crash), ("BASE", base.crash))
        return [f"- {name} **crashes**: `{crash}`" for name, crash in crashes if crash]
    lines: list[str] = []
    gone, new = base.findings.keys() - head.findings.keys(), head.findings.keys() - base.findings.keys()
    for sign, title, places, of in (("-", "gone", gone, base), ("+", "new", new, head)):
        for place in sorted(places)[:most]:
            path, line, code = place
            lines.append(f"- {title}: `{sign} {path}:{line}` {code} {of.findings[place]['message']}")
        if len(places) > most:
            lines.append(f"- {title}: … and {len(places) - most} more")
    changed = []
    for place in sorted(base.findings.keys() & head.findings.keys()):
        before, after = (_weighed(each.findings[place]) for each in (base, head))
        if before != after:
            path, line, code = place
            now = "; ".join(f"{key}: {before[key]} → {after[key]}" for key in before if before[key] != after[key])
            changed.append(f"- changed: `{path}:{line}` {code}: {now}")
    lines += changed[:most]
    if len(changed) > most:
        lines.append(f"- changed: … and {len(changed) - most} more")
    lines += [f"- skipped now: `{path}`: {reason}" for path, reason in sorted(head.skips - base.skips)[:most]]
    lines += [f"- no longer skipped: `{path}`: {reason}" for path, reason in sorted(base.skips - head.skips)[:most]]
    if base.patch != head.patch and not lines:
        lines.append("- the same findings with another patch")
    return lines


def _weighed(finding: dict[str, Any]) -> dict[str, str]:
    fix = finding.get("fix")
    return {"safety": str(finding["safety"]), "fix": "yes" if fix else "no", "message": str(finding["message"])}


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the two over all projects."""
    command = argparse.ArgumentParser(prog="python tests/ecosystem.py", description="What two commits differ in.")
    command.add_argument("base")
    command.add_argument("head")
    command.add_argument("projects", nargs="*", type=Path, default=[HERE / "tests" / "before_after"])
    command.add_argument("--most", type=int, default=10, help="lines of each kind for a project (10)")
    asked = command.parse_args(arguments)
    differing = crashed = findings = 0
    with checkout(asked.base) as base, checkout(asked.head) as head:
        print(f"## `{asked.base}` and `{asked.head}` over {len(asked.projects)} projects\n")
        for project in asked.projects:
            before, after = said(base, project.resolve()), said(head, project.resolve())
            lines = differences(before, after, asked.most)
            findings += len(after.findings)
            crashed += bool(after.crash)
            if lines:
                differing += 1
                print(f"### {project.name}: {len(before.findings)} → {len(after.findings)} findings\n")
                print("\n".join(lines), end="\n\n", flush=True)
    print(f"{findings:,} findings; {differing} of {len(asked.projects)} projects differ.")
    return 2 if crashed else 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
