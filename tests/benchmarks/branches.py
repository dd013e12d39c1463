"""`fixer apply --branch` beside the same commits made by hand with git, in a repository with 1,000 wrong files."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks import planted
from benchmarks.corpora import git, pack, write
from benchmarks.measure import GIT, Contestant, Failed

OURS = "fixes"
BY_HAND = "by-hand"


@dataclass(frozen=True)
class Branches:
    """Who makes the branch."""

    ours: Contestant
    planning: Contestant
    """The same command with `--dry-run`: what it takes to know the fixes."""
    by_hand: Contestant
    commits: int


def prepare(cache: Path, repository: Path, fixer: str) -> Branches:
    """Make the repository, and learn from one unmeasured run which files each commit holds.

    Raises:
        Failed: if not every planted bug was repaired, or git's branch is not the same.
    """
    place = cache / "branches"
    _plant(repository, place)
    apply = (fixer, "apply", "--isolated", "--no-cache", "--branch", OURS, planted.FOLDER)
    subprocess.run(apply, cwd=place, env={**os.environ, **GIT}, check=False, capture_output=True)
    commits = git("rev-list", "--reverse", f"HEAD..{OURS}", at=place).split()
    changed = git("diff", "--name-only", "HEAD", OURS, at=place).split()
    if len(changed) != planted.COUNT:
        raise Failed(f"`fixer apply --branch` changed {len(changed)} files of {planted.COUNT} in {place}")

    script, folder = _script(cache, place, commits)
    by_hand = Contestant("git by hand", ("/bin/sh", str(script)), place, (0,), lambda: _forget(place, folder))
    subprocess.run(by_hand.command, cwd=place, env={**os.environ, **GIT}, check=True)
    if git("rev-parse", f"{OURS}^{{tree}}", at=place) != git("rev-parse", f"{BY_HAND}^{{tree}}", at=place):
        raise Failed("the branch made by hand is not the one that `fixer apply --branch` makes")
    _forget(place, folder)
    return Branches(
        ours=Contestant("fixer apply --branch", apply, place, (0,), lambda: _forget(place, folder)),
        planning=Contestant("fixer apply --branch --dry-run", (*apply, "--dry-run"), place, (1,)),
        by_hand=by_hand,
        commits=len(commits),
    )


def _plant(repository: Path, place: Path) -> None:
    """A clone of the repository that also holds the generated files, committed; made anew."""
    shutil.rmtree(place, ignore_errors=True)
    git("clone", "-q", "--local", str(repository), str(place), at=repository)
    write(place, planted.files())
    git("config", "gc.auto", "0", at=place)
    git("add", planted.FOLDER, at=place)
    git("commit", "-q", "-m", "Bugs", at=place)
    pack(place)


def _script(cache: Path, place: Path, commits: list[str]) -> tuple[Path, Path]:
    """What a person who knows the new contents would type, and the work tree that it makes."""
    contents = cache / "branches-contents"
    shutil.rmtree(contents, ignore_errors=True)
    folder = cache / "branches-by-hand"
    lines = ["set -e", f"git worktree add -q -b {BY_HAND} {shlex.quote(str(folder))} HEAD"]
    for commit in commits:
        new = contents / commit
        names = git("diff-tree", "-r", "--name-only", "--no-commit-id", commit, at=place).split()
        for name in names:
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_text(f"{git('cat-file', 'blob', f'{commit}:{name}', at=place)}\n")
        at = f"git -C {shlex.quote(str(folder))}"
        lines += [
            f"cp -R {shlex.quote(str(new))}/. {shlex.quote(str(folder))}/",
            f"{at} add {planted.FOLDER}",
            f"{at} commit -q -m 'Repair {commit[:8]}'",
        ]
    script = cache / "branches-by-hand.sh"
    script.write_text("\n".join(lines) + "\n")
    return script, folder


def _forget(place: Path, folder: Path) -> None:
    """Leave nothing of a run: no branch, no work tree, no object that the next one could find."""
    if folder.exists():
        git("worktree", "remove", "--force", str(folder), at=place)
    for branch in git("for-each-ref", "--format=%(refname:short)", "refs/heads", at=place).split():
        if branch in (OURS, BY_HAND):
            git("branch", "-q", "-D", branch, at=place)
    git("reflog", "expire", "--expire=now", "--all", at=place)
    git("prune", "--expire=now", at=place)
