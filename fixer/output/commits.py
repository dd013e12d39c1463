"""The commits of a plan: who makes them, how they read, in which order they come, and which of them exist already."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codemods.model.edits import Finding
from codemods.transforms import load
from fixer.errors import Refusal
from fixer.git.message import BODY, SUBJECT, Wording, ignore_message, message
from fixer.git.repository import CommitFiles, CommitSeries, Repository
from fixer.run.execute import Tick, steps
from fixer.run.request import Outcome

if TYPE_CHECKING:
    from codemods.engine.steps import Step
    from fixer.project.configuration import CommitSettings

IGNORED = ".git-blame-ignore-revs"
"""The name that forges look for; git is told with `blame.ignoreRevsFile`."""


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """What the command line says about the commits; the settings of the root show through."""

    author: str | None = None
    signoff: bool = False
    trailers: tuple[str, ...] = ()
    subject: str | None = None
    body: str | None = None
    ticket: str | None = None
    ignore_in_blame: bool = False


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit."""

    oid: str
    codes: tuple[str, ...]
    subject: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hand:
    """Who commits, and in which words."""

    identity: Mapping[str, str]
    """Variables for git."""
    wording: Wording
    ignore_in_blame: bool = False


def hand(repository: Repository, request: CommitRequest, settings: CommitSettings) -> Hand:
    """What request and settings come to.

    Raises:
        Refusal: if git does not know who commits, or something is not written as it must be.
    """
    committer = repository.identity("COMMITTER")
    if committer is None:
        raise Refusal(
            "git does not know who you are: run `git config user.name 'Your Name'` and `git config user.email you@…`"
        )
    author = request.author or settings.author
    identity = {}
    if author is not None:
        match = re.fullmatch(r"\s*([^<>\n]*[^<>\s])\s*<([^<>\s]+)>\s*", author)
        if match is None:
            raise Refusal(f"--author {author!r}: write 'Name <address>'")
        identity = {"GIT_AUTHOR_NAME": match[1], "GIT_AUTHOR_EMAIL": match[2]}
    wording = Wording(
        subject=request.subject or settings.subject or SUBJECT,
        body=settings.body or BODY if request.body is None else request.body,
        trailers=(*settings.trailers, *request.trailers),
        signed_off_by=committer if request.signoff or settings.signoff else None,
        ticket=settings.ticket if request.ticket is None else request.ticket,
    )
    return Hand(identity, wording, request.ignore_in_blame or settings.ignore_in_blame)


def commit_all(draft: CommitSeries, outcome: Outcome, hand: Hand, tick: Tick) -> tuple[Commit, ...]:
    """Put a plan on a draft: one commit per rule, or for rules that cannot be told apart.

    Args:
        tick: told of files that are committed for the first time.
    """
    rules = {rule.code: rule for rule in load()}
    commits = []
    seen: set[str] = set()
    for codes, files, findings in _in_order([series for order, plan in outcome.parts for series in steps(order, plan)]):
        text = message([rules[code] for code in codes], findings, sorted(files), hand.wording)
        oid = draft.add(files, text, identity=hand.identity)
        commits.append(Commit(oid, codes, text.partition("\n")[0], tuple(sorted(files))))
        tick(len(files.keys() - seen))
        seen.update(files)
    return tuple(commits)


def ignore_all(draft: CommitSeries, commits: Sequence[Commit], files: CommitFiles, hand: Hand) -> Commit:
    """One more commit, which names others in `.git-blame-ignore-revs`."""
    before = files.read(IGNORED) or b""
    if before and not before.endswith(b"\n"):
        before += b"\n"
    named = "".join(f"# {commit.subject}\n{commit.oid}\n" for commit in commits).encode("utf-8", "replace")
    text = ignore_message(len(commits), hand.wording)
    oid = draft.add({IGNORED: before + named}, text, identity=hand.identity)
    return Commit(oid, (), text.partition("\n")[0], (IGNORED,))


def kept(
    repository: Repository, draft: CommitSeries, base: str, old: str | None, commits: Sequence[Commit]
) -> tuple[Commit, ...]:
    """The commits, with those of `old` in place of new ones that differ from them in their date alone."""
    if old is None:
        return tuple(commits)
    before, now = repository.history(base, old), repository.history(base, draft.tip)
    alike = [what for _, what in before[: len(now)]] == [what for _, what in now]
    if not now or not alike or repository.commit(f"{before[0][0]}^") != base:
        return tuple(commits)
    # A branch that stays where it is wakes nobody up.
    draft.tip = before[len(now) - 1][0]
    return tuple(replace(commit, oid=oid) for commit, (oid, _) in zip(commits, before[: len(now)], strict=True))


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
