"""The repositories of a campaign: paths, globs and URLs, each repository once however often and however it is named."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from fixer.errors import Refusal
from fixer.git.command import GitFailed, git
from fixer.git.remotes import parse, without_secrets

_TOKEN = re.compile(r"gh[a-z]_|github_pat_|glpat-|[0-9a-f]{40}$")
_PORTS = {"https": 443, "http": 80, "ssh": 22, "git": 9418}


@dataclass(frozen=True, slots=True)
class NamedRepository:
    """A repository as the campaign names it."""

    name: str
    """As it was written, or as a glob found it."""
    location: str
    """An absolute path, or a URL."""
    key: str
    """Equal for two names of one repository."""
    local: bool
    problem: str = ""
    """Why it cannot even be tried."""


def targets(entries: Iterable[str], directory: Path) -> tuple[tuple[NamedRepository, ...], tuple[str, ...]]:
    """Each repository once, in the order of the campaign, and a sentence for each entry that names one again."""
    found: dict[str, NamedRepository] = {}
    again: dict[str, None] = {}
    for entry in entries:
        for target in _expanded(entry, directory):
            first = found.setdefault(target.key, target)
            if first is not target:
                same = "" if first.name == target.name else f"the repository {first.name}, "
                again[f"{target.name} is {same}listed twice: it is worked on once"] = None
    return tuple(found.values()), tuple(again)


def _expanded(entry: str, directory: Path) -> Iterator[NamedRepository]:
    if entry.startswith("~/"):
        entry = str(Path(entry).expanduser())
    if not entry.strip() or any(ord(char) < 32 for char in entry):
        yield _bad(repr(entry), "is not the name of a repository: write a path, a glob or a URL")
        return
    try:
        remote = parse(entry)
    except Refusal as refusal:
        yield _bad(without_secrets(entry), str(refusal))
        return
    if "://" in entry or (remote.scheme != "file" and not (directory / entry).exists()):
        yield _url(entry)
    elif glob.has_magic(entry) and not (directory / entry).exists():
        paths = sorted(glob.glob(entry, root_dir=directory))  # noqa: PTH207  it may begin at the root of all files
        repositories = [path for path in paths if _is_repository(directory / path)]
        if not repositories:
            yield _bad(entry, f"matches {'no repository' if paths else 'nothing'} in {directory}")
        yield from (_path(path, directory) for path in repositories)
    else:
        yield _path(entry, directory)


def _url(entry: str) -> NamedRepository:
    parts, remote = urlsplit(entry), parse(entry)
    # Neither the state nor a report may ever hold one.
    if parts.password or (remote.scheme.startswith("http") and _TOKEN.match(parts.username or "")):
        advice = "take the password or token out of it: git's credential helper supplies it"
        return _bad(without_secrets(entry), advice)
    if remote.scheme == "file":
        return NamedRepository(entry, entry, _common(Path(os.path.realpath(remote.path))), local=False)
    port = f":{remote.port}" if remote.port not in (None, _PORTS[remote.scheme]) else ""
    # One spelling for https, ssh and the short form of a repository on a server.
    return NamedRepository(entry, entry, f"{remote.host.lower()}{port}/{remote.path}", local=False)


def _path(entry: str, directory: Path) -> NamedRepository:
    place = Path(os.path.realpath(directory / entry))
    if not place.is_dir():
        return NamedRepository(entry, str(place), str(place), local=True, problem="there is no such directory")
    return NamedRepository(entry, str(place), _common(place), local=True)


def _is_repository(place: Path) -> bool:
    return (place / ".git").exists() or ((place / "HEAD").is_file() and (place / "objects").is_dir())


def _common(place: Path) -> str:
    """What the work trees of one repository share."""
    if (place / ".git").is_dir():
        return str(place / ".git")
    if (place / ".git").is_file():
        try:
            answer = git("rev-parse", "--path-format=absolute", "--git-common-dir", at=place)
            return os.path.realpath(os.fsdecode(answer.removesuffix(b"\n")))
        except GitFailed:
            pass
    return str(place)


def _bad(entry: str, problem: str) -> NamedRepository:
    return NamedRepository(entry, entry, f"entry {entry}", local=False, problem=problem)
