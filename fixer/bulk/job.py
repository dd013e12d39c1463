"""What is done about one repository: a fresh clone, a plan, commits, perhaps a verification; nothing outside changes.

A job and its answer are plain data, so that they may cross to another process or another machine; the new objects
come along as a git pack.
"""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.transforms import load
from fixer.bulk.campaign import Campaign
from fixer.bulk.repositories import Target
from fixer.errors import Refusal
from fixer.git.command import GitFailed, git
from fixer.git.message import fill
from fixer.git.repository import CommitFiles, Repository

if TYPE_CHECKING:
    from codemods.edits import Finding
    from fixer.delivery import Delivery
    from fixer.work import Outcome, Request


class Ending(str, enum.Enum):
    """What became of a repository; there is nothing else."""

    CHANGED = "changed"
    NOTHING = "nothing-to-do"
    REFUSED = "refused"
    CONFLICT = "conflict"
    REFUTED = "verify-refuted"
    FAILED = "failed"
    LIMITED = "skipped-by-limit"

    def __str__(self) -> str:
        return self.value

    @property
    def bad(self) -> bool:
        """Whether somebody has to look at it."""
        return self not in (Ending.CHANGED, Ending.NOTHING, Ending.LIMITED)


@dataclass(frozen=True, slots=True)
class Job:
    """One repository of a campaign."""

    target: Target
    campaign: Campaign
    date: int
    """Seconds since 1970: of every commit, so that the same work gives the same commits."""
    known: str | None = None
    """The base commit that was planned on before; if it still is, nothing has to be done."""


@dataclass(frozen=True, slots=True)
class Place:
    """A finding, as a report tells it."""

    code: str
    path: str
    line: int
    message: str
    safety: str
    fixed: bool


@dataclass(frozen=True, slots=True)
class Change:
    """A branch that is ready to be delivered."""

    branch: str
    tip: str
    part: str
    owners: tuple[str, ...]
    title: str
    body: str
    patch: bytes
    pack: bytes
    """The objects that are not in the base."""
    commits: tuple[tuple[str, str], ...]
    """(id, subject), oldest first."""
    verdict: str = ""
    verification: str = ""
    """One word and one sentence, if there was a command to run."""
    ending: Ending | None = None
    """Why it is not to be delivered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a job came to."""

    ending: Ending | None = None
    """None: there are changes to deliver."""
    detail: str = ""
    base: str | None = None
    base_name: str = ""
    unchanged: bool = False
    """The base is the known one; everything else is as it was."""
    places: tuple[Place, ...] = ()
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: int = 0
    """Files that could not be handled."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Time by step."""


def prepare(job: Job, scratch: Path) -> Answer:
    """Do the job in the directory `scratch`."""
    try:
        base = current_base(job)
        if base is not None and base == job.known:
            return Answer(base=base, unchanged=True)
        return _prepare(job, _clone(job, scratch / "clone"))
    except Refusal as refusal:
        return Answer(Ending.REFUSED, str(refusal))
    except GitFailed as error:
        return Answer(Ending.FAILED, f"git: {_one_line(str(error))}")


def current_base(job: Job) -> str | None:
    """The commit that the base branch points at now; None if there is none."""
    if job.known is None:
        return None
    ref = f"refs/heads/{job.campaign.base}" if job.campaign.base else "HEAD"
    answer = git("ls-remote", "-q", "--", job.target.location, ref, at=Path("/")).decode("utf-8", "replace")
    found = [line.partition("\t") for line in answer.splitlines()]
    return next((oid for oid, _, name in found if name == ref), None)


def _clone(job: Job, place: Path) -> Repository:
    """A bare clone of the base branch alone; one of a local repository borrows its objects."""
    target, base = job.target, job.campaign.base
    if target.local:
        _check_root(Path(target.location))
        how = ["--shared"]
    else:
        how = ["--depth=1"]
    branch = [f"--branch={base}"] if base else []
    options = ["-q", "--bare", "--no-tags", "--single-branch", "--template=", *how, *branch]
    try:
        git("clone", *options, "--", target.location, str(place), at=Path("/"))
    except GitFailed as error:
        if "Remote branch" in str(error):
            raise Refusal(f"there is no branch {base}: name another `base`, or leave it out") from error
        raise
    repository = Repository.open(place)
    if repository.commit("HEAD") is None:
        head = (place / "HEAD").read_text().strip().removeprefix("ref: refs/heads/")
        if base is None and _has_branches(target):
            raise Refusal(f"its default branch {head} does not exist: name the branch to start from with `base`")
        raise Refusal("the repository has no commit yet")
    if target.local:
        _take_identity(Path(target.location))
    return repository


def _check_root(place: Path) -> None:
    """A directory inside of a repository is not what a campaign is about."""
    try:
        bare = git("rev-parse", "--is-bare-repository", at=place).strip() == b"true"
        prefix = b"" if bare else git("rev-parse", "--show-prefix", at=place).strip()
    except GitFailed as error:
        if "not a git repository" not in str(error):
            raise
        raise Refusal("is not a git repository") from error
    if prefix:
        raise Refusal("lies inside of a repository: name the root of that, and split by directory or project")


def _has_branches(target: Target) -> bool:
    return bool(git("ls-remote", "-q", "--heads", "--", target.location, at=Path("/")).strip())


def _take_identity(place: Path) -> None:
    """Commit as the repository's own settings say, which a clone does not have."""
    repository = Repository.open(place)
    for who in ("AUTHOR", "COMMITTER"):
        if match := re.fullmatch(r"(.*) <(.*)>", repository.identity(who) or ""):
            os.environ[f"GIT_{who}_NAME"], os.environ[f"GIT_{who}_EMAIL"] = match[1], match[2]


def _prepare(job: Job, repository: Repository) -> Answer:
    from fixer.commits import CommitRequest
    from fixer.delivery import BranchRequest, deliver, deliver_parts

    campaign, own = job.campaign, job.campaign.commit
    for who in ("AUTHOR", "COMMITTER"):
        os.environ.setdefault(f"GIT_{who}_DATE", f"{job.date} +0000")
    request, notes = _with_own_ignores(campaign, repository)
    commits = CommitRequest(
        own.author, own.signoff, own.trailers, own.subject, own.body, own.ticket, own.ignore_in_blame
    )
    wanted = BranchRequest(campaign.branch_name, None, "refuse", commits)

    def quietly(done: int, total: int) -> None:
        pass

    at, problems = repository.directory, tuple[str, ...]()
    if campaign.split is None:
        deliveries = [deliver(request, wanted, at, dry_run=False, progress=quietly)]
        outcome = deliveries[0].outcome
        notes += deliveries[0].notes
    else:
        parted = deliver_parts(request, wanted, campaign.split, at, dry_run=False, progress=quietly)
        outcome, deliveries, problems = parted.outcome, list(parted.deliveries), parted.problems
        notes += parted.notes
    made = [delivery for delivery in deliveries if delivery.tip is not None]
    changes = tuple(_change(job, repository, delivery) for delivery in made)
    base = repository.commit("HEAD")
    answer = Answer(
        base=base,
        base_name=repository.ask("rev_parse", "--abbrev-ref", "HEAD") or "HEAD",
        places=tuple(_place(finding) for finding in outcome.plan.findings),
        changes=changes,
        notes=notes,
        skipped=len({skip.path for skip in outcome.plan.skips}),
    )
    failures = (*problems, *outcome.problems)
    if failures:
        return replace(answer, ending=Ending.FAILED, detail="; ".join(failures), changes=())
    return answer if changes else replace(answer, ending=Ending.NOTHING, detail=_why_nothing(outcome))


def _with_own_ignores(campaign: Campaign, repository: Repository) -> tuple[Request, tuple[str, ...]]:
    """The campaign's request with what the repository wants left alone, and a note that says so."""
    from fixer.work import configuration

    request = campaign.request
    commit = repository.commit("HEAD")
    assert commit is not None
    files = CommitFiles(repository.directory, commit)
    own = configuration(request, files, repository.directory, repository.directory)("")
    parts = []
    if own.ignore:
        parts.append(f"ignores {', '.join(own.ignore)}")
    if own.exclude:
        parts.append(f"excludes {', '.join(own.exclude)}")
    if own.per_file_ignores:
        parts.append(f"has per-file-ignores for {', '.join(pattern for pattern, _ in own.per_file_ignores)}")
    note = (f"its own {own.sources[-1]} {' and '.join(parts)}",) if parts else ()
    return replace(request, ignore=tuple(dict.fromkeys((*request.ignore, *own.ignore)))), note


def _change(job: Job, repository: Repository, delivery: Delivery) -> Change:
    from fixer.report.markdown import pull_request, title
    from fixer.report.patch import patch
    from fixer.report.tally import plural

    assert delivery.tip is not None
    campaign, outcome = job.campaign, delivery.outcome
    applied = [finding for finding in outcome.plan.findings if finding.applied]
    part = delivery.part
    commits = tuple((commit.oid, commit.subject) for commit in delivery.commits)
    words = {
        "title": title(applied) if applied else plural(len(commits), "commit"),
        "campaign": campaign.name,
        "repository": job.target.name,
        "part": part.name if part else "",
        "codes": ", ".join(sorted({finding.code for finding in applied})),
        "count": str(len(applied)),
    }
    body = pull_request(
        outcome.plan,
        {rule.code: rule for rule in load()},
        unsafe=outcome.unsafe,
        commits=commits,
        branch=delivery.branch,
        base=delivery.base_name,
    )
    revisions = f"{delivery.tip}\n^{delivery.base}\n".encode()
    change = Change(
        branch=delivery.branch,
        tip=delivery.tip,
        part=part.name if part else "",
        owners=part.owners if part else (),
        title=" ".join(fill(campaign.pull_requests.title, words, "title").split()),
        body=body,
        patch=patch(outcome.plan.files),
        pack=git("pack-objects", "-q", "--revs", "--stdout", at=repository.directory, data=revisions),
        commits=commits,
    )
    return _verified(change, campaign, delivery) if campaign.verify and applied else change


def _verified(change: Change, campaign: Campaign, delivery: Delivery) -> Change:
    from fixer.verification import verify

    assert campaign.verify is not None
    found = verify(delivery.outcome, campaign.verify, commits=(delivery.base, change.tip))
    endings = {"refuted": Ending.REFUTED, "could-not-run": Ending.FAILED}
    return replace(change, verdict=found.verdict, verification=found.summary, ending=endings.get(found.verdict))


def _place(finding: Finding) -> Place:
    return Place(
        finding.code, finding.path, finding.reported.line, finding.message, str(finding.safety), finding.applied
    )


def _why_nothing(outcome: Outcome) -> str:
    left = len(outcome.plan.findings)
    if not left:
        return "nothing found" if outcome.plan.files_seen else "no file of a kind that is read"
    return f"{left:,} found, none with a fix of the chosen safety"


def _one_line(text: str) -> str:
    return " ".join(text.split())
