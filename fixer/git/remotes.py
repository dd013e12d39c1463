"""Where a push goes: the remotes of a repository, and what an address says."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fixer.errors import Refusal

if TYPE_CHECKING:
    from fixer.git.repository import Repository

SCHEMES = {"https": "https", "http": "http", "ssh": "ssh", "git+ssh": "ssh", "ssh+git": "ssh", "git": "git"}
SSH_DOORS = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}
"""Hosts that take ssh on port 443 for another."""
_SECRET = re.compile(r"(?<=://)[^\s'\"]*@")


@dataclass(frozen=True, slots=True)
class Remote:
    """One place to push to."""

    name: str = field(repr=False)
    """As git is told: the name of a remote, or the address itself with its secrets."""
    scheme: str
    """`https`, `http`, `ssh`, `git` or `file`."""
    host: str = ""
    port: int | None = None
    path: str = ""
    """Without slashes at its ends and without `.git`; `owner/name` on a forge."""
    address: str = field(default="", repr=False)
    """May hold a password: never to be shown."""

    @property
    def shown(self) -> str:
        """The name, for people."""
        return without_secrets(self.name)


def without_secrets(text: str) -> str:
    """`text` without the user names and passwords of addresses in it."""
    return _SECRET.sub("", text)


def parse(address: str, name: str | None = None) -> Remote:
    """What an address says, in one of git's spellings.

    Raises:
        Refusal: if it is none, or asks for a program to be run.
    """
    name = name or address
    if not address or address.startswith("-") or re.match(r"[A-Za-z0-9+.-]*::", address):
        raise Refusal(f"{without_secrets(address)!r} is not an address that fixer pushes to: use https, ssh or a path")
    if "://" in address:
        try:
            parts = urlsplit(address)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            # The error would quote what may be a part of the password.
            raise Refusal(f"{without_secrets(address)!r} is not an address that git understands") from None
        if parts.scheme == "file":
            return Remote(name, "file", path=parts.path, address=address)
        if "@" in parts.path + parts.query + parts.fragment:
            # A password that is not escaped would be taken for a host, and shown.
            raise Refusal(f"{without_secrets(address)!r}: characters in a name or password must be escaped, as in %40")
        if parts.scheme not in SCHEMES or not host:
            raise Refusal(f"{without_secrets(address)!r}: fixer pushes over https, ssh, git and to paths, nothing else")
        return Remote(name, SCHEMES[parts.scheme], _door(host), port, _path(parts.path), address)
    scp = re.match(r"(?:[^/@:\s]+@)?(\[[^\]/]+\]|[^/:\s]+):(?!//)(.*)", address)
    if scp and not re.match(r"[A-Za-z]:[\\/]", address):
        return Remote(name, "ssh", _door(scp[1].strip("[]").lower()), None, _path(scp[2]), address)
    return Remote(name, "file", path=address, address=address)


def _door(host: str) -> str:
    return SSH_DOORS.get(host, host)


def _path(path: str) -> str:
    return path.strip("/").removesuffix(".git").rstrip("/")


def remote(repository: Repository, wanted: str | None) -> Remote:
    """The remote that `wanted` names, or, without one, the remote that `git push` would take.

    Raises:
        Refusal: if there is none, or its address is none.
    """
    names = (repository.ask("remote") or "").split("\n")
    names = [name for name in names if name]
    name = wanted or _usual(repository, names)
    if name in names:
        return parse(repository.ask("remote", "get-url", "--push", "--", name) or "", name)
    if re.search(r"[/:\\]", name) and not (repository.root and (repository.root / name).exists() and wanted):
        return parse(name)
    known = f"there are {', '.join(names)}" if names else "there is none; `git remote add origin ADDRESS` makes one"
    raise Refusal(f"--push {without_secrets(name)!r}: there is no such remote ({known}); write --push=REMOTE PATHS")


def _usual(repository: Repository, names: list[str]) -> str:
    branch = repository.ask("symbolic_ref", "--quiet", "--short", "HEAD")
    keys = ([f"branch.{branch}.pushRemote"] if branch else []) + ["remote.pushDefault"]
    keys += [f"branch.{branch}.remote"] if branch else []
    for key in keys:
        if (value := repository.setting(key)) and value != ".":
            return value
    return names[0] if len(names) == 1 else "origin"
