"""How a finished branch gets to where it belongs: into a repository on this machine, or pushed to a URL.

Both can be repeated: what has arrived is left as it is. A branch is replaced only if it points at what we made.
"""

from __future__ import annotations

from pathlib import Path

from fixer.bulk.scratch import scratch
from fixer.bulk.state import Branch, Row
from fixer.errors import Refusal
from fixer.git.branches import places
from fixer.git.command import GitFailed, git
from fixer.git.repository import Repository


class Conflict(Refusal):
    """The branch is there, and is not ours to replace."""


def arrive(row: Row, branch: Branch, ours: frozenset[str]) -> None:
    """Bring a branch to its repository.

    Args:
        ours: what the branch may point at before; anything else is a person's work.

    Raises:
        Conflict: if a person has worked on the branch, or stands on it.
        Refusal: if git cannot do it, in git's own words.
    """
    try:
        if row.local:
            _arrive_here(row, branch, ours)
        else:
            _push(row, branch, ours)
    except GitFailed as error:
        raise Refusal(f"git: {' '.join(str(error).split())}") from error


def _arrive_here(row: Row, branch: Branch, ours: frozenset[str]) -> None:
    repository = Repository.open(Path(row.location))
    current = repository.commit(f"refs/heads/{branch.name}")
    if current == branch.tip:
        return
    _check(branch, current, ours)
    try:
        places(repository, [branch.name], "reset")
    except Refusal as refusal:
        raise Conflict(str(refusal)) from refusal
    assert branch.pack is not None
    git("unpack-objects", "-q", at=repository.directory, data=branch.pack)
    reason = f"fixer: {len(branch.commits)} commits on {row.base_name}"
    repository.move(branch.name, branch.tip, current, reason)


def _check(branch: Branch, current: str | None, ours: frozenset[str]) -> None:
    if current is not None and current not in ours:
        raise Conflict(
            f"the branch {branch.name} is there and holds what this campaign did not make: it is left alone; "
            "rename or delete it, or choose another `branch`"
        )


def _push(row: Row, branch: Branch, ours: frozenset[str]) -> None:
    ref = f"refs/heads/{branch.name}"
    current = _remote_tip(row.location, ref)
    if current == branch.tip:
        return
    _check(branch, current, ours)
    assert branch.pack is not None
    with scratch() as directory:
        place = directory / "push"
        algorithm = "sha256" if len(branch.tip) == 64 else "sha1"
        git("init", "-q", "--bare", "--template=", f"--object-format={algorithm}", str(place), at=directory)
        options = ["-q", "--no-tags", "--depth=1", "--no-write-fetch-head", "--filter=blob:none"]
        git("fetch", *options, "--", row.location, _base_ref(row), at=place)
        git("unpack-objects", "-q", at=place, data=branch.pack)
        lease = f"--force-with-lease={ref}:{current or ''}"
        git("push", "-q", lease, "--", row.location, f"{branch.tip}:{ref}", at=place)


def _base_ref(row: Row) -> str:
    return "HEAD" if row.base_name == "HEAD" else f"refs/heads/{row.base_name}"


def _remote_tip(location: str, ref: str) -> str | None:
    answer = git("ls-remote", "-q", "--", location, ref, at=Path("/")).decode("utf-8", "replace")
    return next((line.split("\t")[0] for line in answer.splitlines() if line.endswith(f"\t{ref}")), None)
