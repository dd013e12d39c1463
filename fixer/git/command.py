"""How git is called: in an environment that points nowhere else, with settings that run nothing of the repository's.

What a repository's own configuration names as a program (`filter.*.clean`, `gpg.program`, `core.sshCommand`, …) is
overruled by what the person's own configuration says, or else by git's default; every call of git goes through
`environment`, or through `git` and `begin`, which do.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

LOCATION = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)
"""Variables that a hook or an alias sets for its own repository; we look at the one we were pointed at."""

HARMLESS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    "core.ignoreCase=false",
    "core.precomposeUnicode=false",
    "index.sparse=false",
    "core.quotePath=true",
    "protocol.ext.allow=never",
    "i18n.commitEncoding=utf-8",
    "user.useConfigOnly=true",
    "gc.auto=0",
    "log.showSignature=false",
)
"""Settings that keep a repository's own configuration from running programs or bending what is read and written."""
OPTIONS = ("--no-pager", *(part for setting in HARMLESS for part in ("-c", setting)))
"""With which every git command is begun."""
FILTER = re.compile(r"filter\..+\.(clean|smudge|process|required)")
"""Filters are switched off, whoever set them: what one of them runs may in turn obey the repository's configuration."""
PROGRAMS = (
    (re.compile(r"gpg(\.openpgp)?\.program"), "gpg"),
    (re.compile(r"gpg\.x509\.program"), "gpgsm"),
    (re.compile(r"gpg\.ssh\.program"), "ssh-keygen"),
    (re.compile(r"gpg\.ssh\.defaultkeycommand"), "false"),
    (re.compile(r"core\.alternaterefscommand"), ":"),
    (re.compile(r"hook\..+\.command"), "true"),
)
"""Settings by which a repository names a program, and what stands for it where the person has said nothing."""
PACKERS = re.compile(r"remote\..+\.(uploadpack|receivepack)")
"""Of these the first setting counts, so that none of ours overrules it; on this machine they run for local paths."""
CONNECTING = (
    (re.compile(r"core\.sshcommand"), "ssh"),
    (re.compile(r"core\.askpass"), ""),
    (re.compile(r"core\.gitproxy"), ""),
    (re.compile(r"credential\.(.+\.)?helper"), ""),
)
"""The same of those by which git gets to a remote. A push that the person asks for uses the repository's own."""
OWN = frozenset({"system", "global", "command"})
"""Where settings stand that are the person's own."""


class GitFailed(Exception):
    """A git command that ended badly; the text is git's own last line."""


def forget_location() -> None:
    """Drop the variables of LOCATION from this process, so that GitPython and every child inherit a clean state."""
    for name in LOCATION:
        os.environ.pop(name, None)
    os.environ["GIT_OPTIONAL_LOCKS"] = "0"
    os.environ["GIT_TERMINAL_PROMPT"] = "0"
    os.environ["LC_ALL"] = "C.UTF-8"
    _settings.cache_clear()


class GitSetting(NamedTuple):
    """One setting that git knows of."""

    scope: str
    key: str
    value: str


def environment(
    at: Path, variables: Mapping[str, str] | None = None, *, connecting: bool = False, filters: bool = False
) -> dict[str, str]:
    """Variables by which git, run in the directory `at`, runs no program that the repository's configuration names.

    Args:
        variables: of the environment, on top of ours.
        connecting: but get to a remote as the repository's configuration says.
        filters: but let filters run.
    """
    given = {**os.environ, **(variables or {})}
    settings = overruling(_settings(at), connecting=connecting, filters=filters)
    count = int(given.get("GIT_CONFIG_COUNT") or 0)
    found = {**(variables or {}), "GIT_CONFIG_COUNT": str(count + len(settings))}
    for number, (key, value) in enumerate(settings, count):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    if ("core.gitproxy", "") in settings:
        found["GIT_PROXY_COMMAND"] = ""  # here too the first setting counts
    if ("protocol.file.allow", "never") in settings and "GIT_ALLOW_PROTOCOL" in given:
        protocols = given["GIT_ALLOW_PROTOCOL"].split(":")
        found["GIT_ALLOW_PROTOCOL"] = ":".join(name for name in protocols if name != "file")
    return found


def overruling(known: tuple[GitSetting, ...], *, connecting: bool, filters: bool) -> list[tuple[str, str]]:
    """The settings that overrule those of a repository which name programs."""
    programs = PROGRAMS if connecting else (*PROGRAMS, *CONNECTING)
    own = [setting for setting in known if setting.scope in OWN]
    found: dict[str, str] = {}
    helpers: list[tuple[str, str]] = []
    for scope, key, _ in known:
        if FILTER.fullmatch(key) and not filters:
            found[key] = "false" if key.endswith(".required") else ""
        if PACKERS.fullmatch(key) and scope not in OWN:
            found["protocol.file.allow"] = "never"
        harmless = next((value for pattern, value in programs if pattern.fullmatch(key)), None)
        if harmless is None or scope in OWN:
            continue
        if key.startswith("credential."):
            # All that are set count, up to an empty one.
            theirs = ((k, value) for _, k, value in own if k.startswith("credential.") and k.endswith(".helper"))
            helpers = [("credential.helper", ""), *theirs]
        else:
            found[key] = next((value for _, k, value in reversed(own) if k == key), harmless)
    return [*found.items(), *helpers]


@functools.lru_cache(maxsize=64)
def _settings(at: Path) -> tuple[GitSetting, ...]:
    """All settings that hold in a directory, read once for each command.

    Raises:
        GitFailed: if git cannot read them.
    """
    fields = os.fsdecode(_start("config", "--list", "--show-scope", "-z", at=at)()).split("\0")
    pairs = zip(fields[::2], (field.partition("\n") for field in fields[1::2]), strict=False)
    return tuple(GitSetting(scope, key, value) for scope, (key, _, value) in pairs)


def git(
    *arguments: str,
    at: Path,
    data: bytes | None = None,
    index: Path | None = None,
    seconds: float | None = None,
    variables: Mapping[str, str] | None = None,
    filters: bool = False,
) -> bytes:
    """Run git in the directory `at`, on its own index or another; its standard output.

    Args:
        variables: of the environment, on top of ours.
        filters: let the filters run that attributes ask for.

    Raises:
        GitFailed: if git is not there, ends with an error, or takes longer than `seconds`.
    """
    return begin(*arguments, at=at, data=data, index=index, seconds=seconds, variables=variables, filters=filters)()


def begin(
    *arguments: str,
    at: Path,
    data: bytes | None = None,
    index: Path | None = None,
    seconds: float | None = None,
    variables: Mapping[str, str] | None = None,
    filters: bool = False,
) -> Callable[[], bytes]:
    """The same, started now and waited for when the result is called."""
    overrules = environment(at, variables, filters=filters)
    if index is not None:
        overrules["GIT_INDEX_FILE"] = str(index)
    return _start(*arguments, at=at, data=data, seconds=seconds, variables=overrules)


def _start(
    *arguments: str,
    at: Path,
    data: bytes | None = None,
    seconds: float | None = None,
    variables: Mapping[str, str] | None = None,
) -> Callable[[], bytes]:
    try:
        started = subprocess.Popen(
            ["git", *OPTIONS, *arguments],
            cwd=at,
            env={**os.environ, **(variables or {})},
            stdin=subprocess.DEVNULL if data is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise GitFailed(f"git cannot be run: {error.strerror}") from error

    def answer() -> bytes:
        with started:
            try:
                said, complaint = started.communicate(data, timeout=seconds)
            except subprocess.TimeoutExpired as error:
                started.kill()
                raise GitFailed(f"git {arguments[0]} was not answered within {seconds:g} seconds") from error
            except BaseException:
                started.kill()
                raise
        if started.returncode:
            message = complaint.decode("utf-8", "replace").strip()
            if secret := (variables or {}).get("FIXER_PASSWORD"):
                message = message.replace(secret, "…")  # a server may say it back
            message = message.removeprefix("fatal: ").removeprefix("error: ")
            raise GitFailed(message or f"git ended with {started.returncode}")
        return said

    return answer


def top(directory: Path) -> Path | None:
    """The root of the work tree that `directory` lies in; None outside of one (or where git will not say).

    A repository may claim a work tree elsewhere (`core.worktree`); that is not where we were asked to work.
    """
    try:
        answer = _start("rev-parse", "--show-toplevel", at=directory)()
    except GitFailed:
        return None
    root = Path(os.fsdecode(answer.removesuffix(b"\n")))
    return root if directory.resolve().is_relative_to(root) else None
