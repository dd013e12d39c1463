"""From a plan to a branch: commits built on the base commit, one per rule, without touching the person's checkout."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.edits import Finding
from codemods.transforms import load
from fixer.discover import attributed
from fixer.errors import Refusal
from fixer.git.message import BODY, SUBJECT, Wording, message
from fixer.git.repository import CommitFiles, Draft, Repository
from fixer.runner import Progress, steps
from fixer.work import Outcome, Request, configuration, plan_listing

if TYPE_CHECKING:
    from codemods.engine import Step
    from fixer.config import CommitSettings


@dataclass(frozen=True, slots=True)
class BranchRequest:
    """What the command line says about the branch and its commits."""

    name: str
    base: str | None = None
    on_conflict: str = "refuse"
    author: str | None = None
    signoff: bool = False
    trailers: tuple[str, ...] = ()
    subject: str | None = None
    body: str | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit that was made."""

    oid: str
    codes: tuple[str, ...]
    subject: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of the branch."""

    outcome: Outcome
    branch: str
    base: str
    """The commit that was planned on."""
    base_name: str
    commits: tuple[Commit, ...] = ()
    notes: tuple[str, ...] = ()


def deliver(request: Request, branch: BranchRequest, here: Path, *, dry_run: bool, progress: Progress) -> Delivery:
    """Plan on the base commit and, unless `dry_run`, put the fixes on the branch.

    Raises:
        Refusal: if there is no repository or no commit, if the branch cannot be made, or git does not know who commits.
    """
    repository = Repository.open(here)
    base, base_name, old = _base(repository, branch)
    files = CommitFiles(repository.directory, base)
    root = repository.root or repository.directory
    configured = configuration(request, files, root, here)
    settings = configured("").commit
    identity, wording = _identity(repository, branch, settings), _wording(repository, branch, settings)
    arguments, problems = _arguments(request.paths, repository, files, here, base_name)
    with tempfile.TemporaryDirectory(prefix="fixer-") as scratch:
        draft = Draft(repository, base, Path(scratch))

        def vendored(paths: Sequence[str]) -> frozenset[str]:
            return attributed(paths, at=repository.directory, index=draft.index)

        outcome = plan_listing(
            request,
            arguments,
            files,
            root=root,
            configuration=configured,
            is_file=lambda path: path in files.entries,
            vendored=vendored,
            why=lambda path: "its contents are not in this clone; fetch them first",
            fix=True,
            progress=progress,
        )
        outcome = replace(outcome, problems=(*problems, *outcome.problems))
        delivery = Delivery(outcome, branch.name, base, base_name)
        if dry_run or not outcome.plan.changed:
            return delivery
        commits = _commit_all(draft, outcome, wording, identity)
        reason = f"fixer: {len(commits)} commits on {base_name}"
        try:
            repository.move(branch.name, draft.tip, old, reason)
        except Refusal as refusal:
            raise Refusal(f"the branch {branch.name} could not be updated: {refusal}") from refusal
    return replace(delivery, commits=commits, notes=_dirty(repository, [file.path for file in outcome.plan.changed]))


def _base(repository: Repository, branch: BranchRequest) -> tuple[str, str, str | None]:
    """The commit to plan on, its name for people, and what the branch points at now."""
    name = branch.name
    ref = f"refs/heads/{name}"
    if name.startswith("-") or name == "HEAD" or repository.ask("check_ref_format", ref) is None:
        raise Refusal(f"--branch {name!r} is not a name that git allows; try one like fix/amp")
    old = repository.commit(ref)
    if old is None:
        _check_neighbours(repository, name)
    elif branch.on_conflict == "refuse":
        raise Refusal(
            f"the branch {name} exists: name another one, or choose --on-conflict append (add to it) "
            "or --on-conflict reset (start it again from the base)"
        )
    if ref in repository.checked_out():
        raise Refusal(
            f"the branch {name} is checked out in a work tree: switch that to another branch, or name another"
        )
    if old is not None and branch.on_conflict == "append":
        return old, name, old
    wanted = branch.base or "HEAD"
    base = repository.commit(wanted)
    if base is None and branch.base:
        raise Refusal(f"--base {branch.base!r}: there is no such commit")
    if base is None:
        raise Refusal("the repository has no commit yet: commit first, or name one with --base")
    return base, branch.base or repository.ask("rev_parse", "--abbrev-ref", "HEAD") or "HEAD", old


def _check_neighbours(repository: Repository, name: str) -> None:
    """Git cannot keep a branch `fix` and a branch `fix/amp`."""
    parts = name.split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts))]
    taken = [other for other in repository.branches(*above) if other in above] if above else []
    taken = taken or list(repository.branches(f"{name}/"))
    if taken:
        raise Refusal(f"git cannot hold a branch {name} beside the branch {taken[0]}: name it otherwise")


def _identity(repository: Repository, branch: BranchRequest, settings: CommitSettings) -> Mapping[str, str]:
    committer = repository.identity("COMMITTER")
    if committer is None:
        raise Refusal(
            "git does not know who you are: run `git config user.name 'Your Name'` and `git config user.email you@…`"
        )
    author = branch.author or settings.author
    if author is None:
        return {}
    match = re.fullmatch(r"\s*([^<>\n]*[^<>\s])\s*<([^<>\s]+)>\s*", author)
    if match is None:
        raise Refusal(f"--author {author!r}: write 'Name <address>'")
    return {"GIT_AUTHOR_NAME": match[1], "GIT_AUTHOR_EMAIL": match[2]}


def _wording(repository: Repository, branch: BranchRequest, settings: CommitSettings) -> Wording:
    signed = repository.identity("COMMITTER") if branch.signoff or settings.signoff else None
    return Wording(
        subject=branch.subject or settings.subject or SUBJECT,
        body=settings.body or BODY if branch.body is None else branch.body,
        trailers=(*settings.trailers, *branch.trailers),
        signed_off_by=signed,
    )


def _arguments(
    paths: Sequence[str], repository: Repository, files: CommitFiles, here: Path, base_name: str
) -> tuple[list[str], list[str]]:
    """The arguments as paths of the commit; in a bare repository they are read from its root."""
    inside: list[str] = []
    problems: list[str] = []
    root = repository.root
    for path in paths or (".",):
        place = Path(os.path.normpath(here.resolve() / path)) if root else Path(os.path.normpath(Path("/") / path))
        top = root.resolve() if root else Path("/")
        if not place.is_relative_to(top):
            problems.append(f"{path}: lies outside {top}; run fixer in the repository it belongs to")
            continue
        name = place.relative_to(top).as_posix()
        name = "" if name == "." else name
        if name and not files.exists(name):
            # A checkout may be empty below here, and a fresh directory need not be in the commit.
            problems.append(f"{name}: is not in {base_name}; commit it first, or apply without --branch")
        else:
            inside.append(name)
    return inside, problems


def _commit_all(draft: Draft, outcome: Outcome, wording: Wording, identity: Mapping[str, str]) -> tuple[Commit, ...]:
    rules = {rule.code: rule for rule in load()}
    commits = []
    for codes, files, findings in _in_order([series for order, plan in outcome.parts for series in steps(order, plan)]):
        text = message([rules[code] for code in codes], findings, sorted(files), wording)
        oid = draft.add(files, text, identity=identity)
        commits.append(Commit(oid, codes, text.partition("\n")[0], tuple(sorted(files))))
    return tuple(commits)


def _in_order(
    series: Sequence[Sequence[Step]],
) -> list[tuple[tuple[str, ...], dict[str, bytes], list[Finding]]]:
    """Several series as one: steps of equal rules share a commit, and the order of each series holds."""
    queues = [list(part) for part in series if part]
    merged = []
    while queues:
        codes = min(queue[0].codes for queue in queues)
        files: dict[str, bytes] = {}
        findings: list[Finding] = []
        for queue in queues:
            if queue[0].codes == codes:
                step = queue.pop(0)
                files.update(step.files)
                findings.extend(step.findings)
        if files:
            merged.append((codes, files, sorted(findings, key=lambda f: (f.path, f.reported.start, f.code))))
        queues = [queue for queue in queues if queue]
    return merged


def _dirty(repository: Repository, paths: Sequence[str]) -> tuple[str, ...]:
    """A note for each file of the branch that has uncommitted changes in the work tree."""
    root = repository.root
    head = repository.commit("HEAD")
    if root is None or head is None:
        return ()
    committed = CommitFiles(repository.directory, head)
    notes = []
    for path in paths:
        before = committed.read(path)
        try:
            now = (root / path).read_bytes()
        except OSError:
            continue
        if before is not None and now not in (before, before.replace(b"\n", b"\r\n")):
            notes.append(f"{path} has uncommitted changes; they are not part of the branch")
    return tuple(notes)
