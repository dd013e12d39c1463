"""A branch goes to a remote, and what somebody else put there stays."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fixer.errors import Refusal
from fixer.git.provenance import commits, series
from fixer.git.remotes import Remote, without_secrets
from fixer.git.repository import Repository

_ADVICE = (
    (
        r"terminal prompts disabled|Authentication failed|HTTP Basic: Access denied|returned error: 40[13]",
        "let git's credential helper know a token that may push, or set it in the environment",
    ),
    (r"Permission denied \(publickey|Host key verification failed", "`ssh` must get in without a question: check it"),
    (
        r"not found|does not (?:exist|appear)|returned error: 404",
        "there is no such repository, or it is hidden from you",
    ),
    (r"resolve host|onnection (?:refused|timed out|reset)|Network is unreachable", "check the address and the network"),
    (r"receive-pack.*not (?:enabled|exported)|access denied or repository not exported", "nobody may push there"),
)
_REJECTED = re.compile(r"! \[(?:remote )?rejected\] .*?-> \S+ \(([^()]*(?:\([^()]*\))?[^()]*)\)")
_SAID = re.compile(r"remote: (.*?)(?= remote: | To \S+ ! \[)")


@dataclass(frozen=True, slots=True)
class Destination:
    """A remote as it was when it was looked at."""

    repository: Repository
    remote: Remote
    target: str
    """The branch there that is to be merged into."""
    target_tip: str
    heads: Mapping[str, str]
    """The branches there that are, or may be, ours, with their tips."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """For git; they may hold a token."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of a branch on a remote."""

    outcome: Literal["created", "updated", "unchanged", "deleted", "left-alone"]
    why: str = ""


def look(
    repository: Repository, remote: Remote, branch: str, base: str | None, variables: Mapping[str, str]
) -> Destination:
    """Look at a remote: `branch` there, branches below it, and the branch to merge into.

    Args:
        base: what the person named to start from; None for HEAD.

    Raises:
        Refusal: if the remote cannot be reached or has nothing to merge into.
    """
    listed = call(repository, remote, variables, "ls_remote", "--symref", remote.name, "HEAD", "refs/heads/*")
    default, tips = "", {}
    for line in listed.decode("utf-8", "surrogateescape").splitlines():
        what, _, ref = line.partition("\t")
        if ref == "HEAD" and what.startswith("ref: "):
            default = what.removeprefix("ref: refs/heads/")
        elif ref.startswith("refs/heads/"):
            tips[ref.removeprefix("refs/heads/")] = what
    heads = {name: tip for name, tip in tips.items() if name == branch or name.startswith(f"{branch}/")}
    for target in (*_named(repository, remote, base), default):
        if target in tips and target not in heads:
            return Destination(repository, remote, target, tips[target], heads, variables)
    advice = f"push the branch that {branch} starts from first" if tips else "it is empty: push a first branch"
    raise Refusal(f"{remote.shown} has no branch to merge {branch} into: {advice}, or name one with --base")


def _named(repository: Repository, remote: Remote, base: str | None) -> tuple[str, ...]:
    """The names that the branch to merge into may have on the remote, most likely first."""
    head = repository.ask("symbolic_ref", "--quiet", "--short", "HEAD")
    name = base if base not in (None, "HEAD") else head
    if not name:
        return ()
    short = name.removeprefix("refs/heads/").removeprefix("refs/remotes/")
    upstream = (repository.setting(f"branch.{short}.merge") or "").removeprefix("refs/heads/")
    return (short.removeprefix(f"{remote.name}/"), upstream)


def check_base(destination: Destination, base: str, name: str) -> None:
    """Raise Refusal if commits of somebody would be pushed along, being not on the remote yet."""
    repository = destination.repository
    _fetch(destination, destination.target, destination.target_tip)
    if repository.ask("merge_base", "--is-ancestor", base, destination.target_tip) is not None:
        return
    where = f"{destination.target} of {destination.remote.shown}"
    count = repository.ask("rev_list", "--count", f"{destination.target_tip}..{base}", "--")
    if repository.ask("rev_parse", "--is-shallow-repository") == "true":
        raise Refusal(f"this clone is too shallow to say what {name} and the {where} share: `git fetch --unshallow`")
    raise Refusal(
        f"{name} has {count} commits that are not on the {where}, and they would be pushed along: "
        f"push them first, or start from {destination.remote.name}/{destination.target} with --base"
    )


def push(
    destination: Destination, branch: str, tip: str, *, ours: frozenset[str] = frozenset(), exact: bool = False
) -> Pushed:
    """Bring `branch` on the remote to `tip`, unless a person has pushed there or it changes the same already.

    Args:
        ours: what the branch may point at there without a look into its history.
        exact: its commits are named somewhere, so others that change the same will not do.

    Raises:
        Refusal: if the remote does not take it.
    """
    repository, target = destination.repository, destination.target_tip
    head = destination.heads.get(branch)
    if head == tip:
        return Pushed("unchanged")
    if head is not None and head not in ours:
        _fetch(destination, branch, head)
        if repository.ask("merge_base", "--is-ancestor", head, tip) is None:
            if why := _foreign(destination, head):
                return Pushed("left-alone", f"{branch} on {destination.remote.shown} {why}")
            if not exact and series(repository, target, head) == series(repository, target, tip):
                return Pushed("unchanged")
    return _send(destination, branch, head, tip)


def delete(destination: Destination, branch: str) -> Pushed:
    """Take `branch` off the remote, unless a person has pushed there.

    Raises:
        Refusal: if the remote does not let it go.
    """
    head = destination.heads.get(branch)
    if head is None:
        return Pushed("unchanged")
    if why := untouchable(destination, branch):
        return Pushed("left-alone", why)
    return _send(destination, branch, head, None)


def untouchable(destination: Destination, branch: str) -> str:
    """Why a branch that is on the remote is not ours to renew or delete; empty if it is."""
    head = destination.heads[branch]
    _fetch(destination, branch, head)
    why = _foreign(destination, head)
    return f"{branch} on {destination.remote.shown} {why}" if why else ""


def _foreign(destination: Destination, head: str) -> str:
    for made in commits(destination.repository, destination.target_tip, head):
        if not made.sealed:
            return f"holds {made.oid[:10]} ({made.subject}), which fixer did not make; it is left alone"
    return ""


def _fetch(destination: Destination, branch: str, tip: str) -> None:
    """Get a commit of the remote, if it is not here; no ref and no FETCH_HEAD is written."""
    if destination.repository.ask("cat_file", "-e", f"{tip}^{{commit}}") is None:
        quiet = ("--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-recurse-submodules")
        ref = f"refs/heads/{branch}"
        call(
            destination.repository,
            destination.remote,
            destination.variables,
            "fetch",
            *quiet,
            destination.remote.name,
            ref,
        )


def _send(destination: Destination, branch: str, head: str | None, tip: str | None) -> Pushed:
    ref = f"refs/heads/{branch}"
    remote = destination.remote
    # The lease: only what was looked at is replaced, whoever pushes in between.
    lease = f"--force-with-lease={ref}:{head or ''}"
    options = ("--no-progress", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", lease)
    try:
        call(destination.repository, remote, destination.variables, "push", *options, remote.name, f"{tip or ''}:{ref}")
    except Refusal as refusal:
        if "stale info" in str(refusal):
            return Pushed("left-alone", f"somebody pushed to {branch} on {remote.shown} just now; it is left alone")
        raise
    return Pushed("deleted" if tip is None else "updated" if head else "created")


def call(repository: Repository, remote: Remote, variables: Mapping[str, str], command: str, *arguments: str) -> bytes:
    """Run a git command that speaks to a remote; it asks nobody anything.

    Raises:
        Refusal: with what the remote said, and without the secrets of its address.
    """
    environment = {"GIT_ASKPASS": "", "SSH_ASKPASS": "", "GCM_INTERACTIVE": "never", **variables}
    own = any(name in os.environ for name in ("GIT_SSH", "GIT_SSH_COMMAND")) or repository.setting("core.sshCommand")
    if remote.scheme == "ssh" and not own:
        environment["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes -o ConnectTimeout=30"
    try:
        return repository.call(command, *arguments, env=environment, connecting=True)
    except Refusal as refusal:
        words = without_secrets(str(refusal))
        for name in ("FIXER_PASSWORD",):
            if secret := variables.get(name):
                words = words.replace(secret, "…")
        raise Refusal(_explained(remote, words)) from None


def _explained(remote: Remote, words: str) -> str:
    said = " ".join(_SAID.findall(words)).strip()
    if rejected := _REJECTED.search(words):
        return f"{remote.shown} does not take the branch ({rejected[1]})" + (f": {said}" if said else "")
    for pattern, advice in _ADVICE:
        if re.search(pattern, words):
            return f"{remote.shown}: {words[:300]}: {advice}"
    return f"{remote.shown}: {words[:300]}"
