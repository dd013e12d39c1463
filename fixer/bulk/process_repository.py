"""What is done about a repository: a fresh clone, a plan, commits, perhaps a verification. Nothing else changes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.transforms import load
from fixer.bulk.access import variables
from fixer.bulk.job import BranchChange, Ending, FindingRow, Job, JobResult
from fixer.errors import Refusal
from fixer.git.command import GitFailed, git
from fixer.git.credentials import forget
from fixer.git.message import fill
from fixer.git.owners import Owners, find, lives_on_gitlab
from fixer.git.partial import promisor
from fixer.git.provenance import series
from fixer.git.repository import CommitFiles, Repository
from fixer.output.branches import BranchRequest, Delivery, deliver, deliver_parts
from fixer.output.commits import CommitRequest
from fixer.report.markdown import body, title
from fixer.report.patch import patch
from fixer.report.tally import in_other_versions
from fixer.run.request import FAILURES, configuration

if TYPE_CHECKING:
    from codemods.model.edits import Finding
    from fixer.bulk.campaign import Campaign
    from fixer.bulk.repositories import NamedRepository
    from fixer.run.request import Outcome, Request


NAMED = 3
"""Unreadable files that are named; the rest is counted."""


def prepare(job: Job, scratch: Path) -> JobResult:
    """Do the job in the directory `scratch`."""
    try:
        with _clone(job, scratch / "clone", variables(job.target.location, job.campaign)) as repository:
            # A campaign may run the repository's own code.
            forget()
            return _prepare(job, repository)
    except Refusal as refusal:
        return JobResult(Ending.REFUSED, str(refusal))
    except GitFailed as error:
        return JobResult(Ending.FAILED, f"git: {_one_line(str(error))}")


def _clone(job: Job, place: Path, access: Mapping[str, str]) -> Repository:
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
        git("clone", *options, "--", target.location, str(place), at=Path("/"), variables=access)
    except GitFailed as error:
        if "Remote branch" in str(error):
            raise Refusal(f"there is no branch {base}: name another `base`, or leave it out") from error
        raise
    repository = Repository.open(place)
    if repository.commit("HEAD") is None:
        head = (place / "HEAD").read_text().strip().removeprefix("ref: refs/heads/")
        branches = _branches(target, access)
        if head in branches:
            raise Refusal(f"the commit of its branch {head} cannot be read: `git fsck` says what is wrong")
        if branches:
            raise Refusal(f"its default branch {head} does not exist: name the branch to start from with `base`")
        raise Refusal("the repository has no commit yet")
    if target.local:
        _lean_on(Path(target.location), place)
    if repository.commit(f"refs/heads/{job.campaign.branch_name}") is not None:
        raise Refusal(f"it stands on {job.campaign.branch_name} itself: name the branch to start from with `base`")
    _sign(job, Repository.open(Path(target.location)) if target.local else None)
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


def _branches(target: NamedRepository, access: Mapping[str, str]) -> frozenset[str]:
    listed = git("ls-remote", "-q", "--heads", "--", target.location, at=Path("/"), variables=access)
    return frozenset(line.partition("\trefs/heads/")[2] for line in listed.decode("utf-8", "replace").splitlines())


def _lean_on(source: Path, clone: Path) -> None:
    """Let a clone fetch what its source, being a partial clone, would fetch."""
    whole = Repository.open(source)
    name = promisor(whole)
    if name and (url := whole.setting(f"remote.{name}.url")):
        for setting, value in (("url", url), ("promisor", "true"), ("partialclonefilter", "blob:none")):
            git("config", f"remote.{name}.{setting}", value, at=clone)


def _sign(job: Job, own: Repository | None) -> None:
    """Commit as whoever runs the campaign, or as the repository's own settings say, which a clone does not have."""
    hand = dict(job.hand)
    os.environ.update({name: value for name, value in hand.items() if name.startswith("GIT_")})
    for who in ("AUTHOR", "COMMITTER"):
        os.environ.setdefault(f"GIT_{who}_DATE", f"@{job.date} +0000")
        for what in ("name", "email"):
            settings = [own.setting(f"{place}.{what}") for place in (who.lower(), "user")] if own else []
            value = next((setting for setting in settings if setting), hand.get(f"user.{what}"))
            if value:
                os.environ.setdefault(f"GIT_{who}_{what.upper()}", value)


def _prepare(job: Job, repository: Repository) -> JobResult:
    campaign, own = job.campaign, job.campaign.commit
    base = repository.commit("HEAD")
    assert base is not None
    files = repository.files(base)
    request, notes = _with_own_ignores(campaign, files, repository.directory)
    commits = CommitRequest(
        own.author, own.signoff, own.trailers, own.subject, own.body, own.ticket, own.ignore_in_blame
    )
    wanted = BranchRequest(campaign.branch_name, commits=commits)

    at, problems = repository.directory, tuple[str, ...]()
    if campaign.split is None:
        deliveries = [deliver(request, wanted, at, dry_run=False)]
        outcome = deliveries[0].outcome
    else:
        parted = deliver_parts(request, wanted, campaign.split, at, dry_run=False)
        outcome, deliveries, problems = parted.outcome, list(parted.deliveries), parted.problems
        notes += parted.notes
    for delivery in deliveries:
        notes += delivery.notes
    notes += tuple(in_other_versions(outcome.plan))
    answer = JobResult(
        base=base,
        base_name=repository.ask("rev_parse", "--abbrev-ref", "HEAD") or "HEAD",
        places=tuple(_place(finding) for finding in outcome.plan.findings),
        notes=notes,
        skipped=len({skip.path for skip in outcome.plan.skips}),
    )
    # That there is nothing to do, or nothing more, is sure only where all was read.
    unread = [f"{skip.path}: {skip.detail}" for skip in outcome.plan.skips if skip.reason in FAILURES]
    if failures := (*problems, *outcome.problems, *unread[:NAMED]):
        more = f"; and {len(unread) - NAMED:,} more" if len(unread) > NAMED else ""
        return replace(answer, ending=Ending.FAILED, detail="; ".join(failures) + more)
    owners = find(files.read, gitlab=lives_on_gitlab(files.read, job.target.location))
    changes = tuple(_change(job, repository, one, owners) for one in deliveries if one.tip is not None)
    if not changes:
        return replace(answer, ending=Ending.NOTHING, detail=_why_nothing(outcome))
    return replace(answer, changes=changes)


def _with_own_ignores(campaign: Campaign, files: CommitFiles, root: Path) -> tuple[Request, tuple[str, ...]]:
    """The campaign's request with what the repository wants left alone, and a note that says so."""
    request = campaign.request
    own = configuration(request, files, root, root)("")
    parts = []
    if own.ignore:
        parts.append(f"ignores {', '.join(own.ignore)}")
    if own.exclude:
        parts.append(f"excludes {', '.join(own.exclude)}")
    if own.per_file_ignores:
        parts.append(f"has per-file-ignores for {', '.join(pattern for pattern, _ in own.per_file_ignores)}")
    note = (f"its own {own.sources[-1]} {' and '.join(parts)}",) if parts else ()
    return replace(request, ignore=tuple(dict.fromkeys((*request.ignore, *own.ignore)))), note


def _change(job: Job, repository: Repository, delivery: Delivery, owners: Owners | None) -> BranchChange:
    assert delivery.tip is not None
    campaign, outcome, part = job.campaign, delivery.outcome, delivery.part
    applied = [finding for finding in outcome.plan.findings if finding.applied]
    subjects = [commit.subject for commit in delivery.commits]
    usual = title(applied) if applied else subjects[0]
    words = {
        "title": f"{usual} in {part.name}" if part else usual,
        "campaign": campaign.name,
        "repository": job.target.name,
        "part": part.name if part else "",
        "codes": ", ".join(sorted({finding.code for finding in applied})),
        "count": str(len(applied)),
    }
    verdict, verification, section, ending = _verified(campaign, delivery) if applied else ("", "", "", None)
    text = body(
        outcome.plan,
        {rule.code: rule for rule in load()},
        unsafe=outcome.unsafe,
        # Without their ids, which change when nothing else does.
        commits=[("", subject) for subject in subjects],
        branch=delivery.branch,
        base=delivery.base_name,
        verification=section,
    )
    changed = [file.path for file in outcome.plan.changed]
    revisions = f"{delivery.tip}\n^{delivery.base}\n".encode()
    return BranchChange(
        branch=delivery.branch,
        tip=delivery.tip,
        part=part.name if part else "",
        owners=tuple(dict.fromkeys(owner for path in changed for owner in owners.of(path))) if owners else (),
        title=" ".join(fill(campaign.pull_requests.title, words, "title").split()),
        body=text,
        patch=patch(outcome.plan.files),
        pack=git("pack-objects", "-q", "--revs", "--stdout", at=repository.directory, data=revisions),
        commits=tuple((commit.oid, commit.subject) for commit in delivery.commits),
        series=series(repository, delivery.base, delivery.tip),
        verdict=verdict,
        verification=verification,
        ending=ending,
    )


def _verified(campaign: Campaign, delivery: Delivery) -> tuple[str, str, str, Ending | None]:
    """What came of running the campaign's command: a word, a sentence, a section, and what follows from it."""
    if campaign.verify is None:
        return "", "", "", None
    from fixer.report.verification import section
    from fixer.verify.verification import Limits, verify

    assert delivery.tip is not None
    most = campaign.verify_limits
    limits = Limits(most.timeout, (most.memory or 0) * 1_000_000, most.steps)
    commits = (delivery.base, delivery.tip)
    found = verify(delivery.outcome, campaign.verify, limits, commits=commits, linked=most.link)
    endings = {"refuted": Ending.REFUTED, "could-not-run": Ending.FAILED}
    return found.verdict, found.summary, section(found), endings.get(found.verdict)


def _place(finding: Finding) -> FindingRow:
    return FindingRow(
        finding.code, finding.path, finding.reported.line, finding.message, str(finding.safety), finding.applied
    )


def _why_nothing(outcome: Outcome) -> str:
    left = len(outcome.plan.findings)
    if not left:
        return "nothing found" if outcome.plan.files_seen else "no file of a kind that is read"
    return f"{left:,} found, none with a fix of the chosen safety"


def _one_line(text: str) -> str:
    return " ".join(text.split())
