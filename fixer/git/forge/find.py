"""Which forge a remote is on, where its API is, and with which token it is spoken to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args
from urllib.parse import urlsplit

from fixer.errors import Refusal
from fixer.git.credentials import (
    LOOPBACK,
    Kind,
    Token,
    from_environment,
    from_git,
    is_vendors,
    named_hosts,
    variables,
)
from fixer.git.forge.forge import Forge
from fixer.git.forge.patience import PATIENT, Patience
from fixer.git.forge.pull_request import Host
from fixer.git.remotes import Remote, parse

NAMES: Mapping[Kind, str] = {"github": "GitHub", "gitlab": "GitLab", "gitea": "Gitea"}


@dataclass(frozen=True, slots=True)
class ForgeRepository:
    """A repository on a forge."""

    kind: Kind
    host: str
    url: str
    """Of the forge, without a slash at its end."""
    path: str
    named: bool = False
    """The person has said that this is a forge, and of which kind."""

    @property
    def api(self) -> str:
        """Where GitHub's API, or Gitea's, is."""
        if self.kind == "gitea":
            return f"{self.url}/api/v1"
        if self.host == "github.com":
            return "https://api.github.com"
        return f"https://api.{self.host}" if self.host.endswith(".ghe.com") else f"{self.url}/api/v3"


def place_of(remote: Remote, wanted: str | None, environment: Mapping[str, str]) -> ForgeRepository | None:
    """The forge that a remote is on; None if it is on none that can be told.

    Args:
        wanted: `--forge`: a kind, or `KIND=URL`.

    Raises:
        Refusal: if `wanted` means nothing, or does not go with the remote.
    """
    kind, url = _wanted(wanted)
    if url is None and (not remote.host or remote.scheme == "git"):
        if kind is not None:
            raise Refusal(f"--forge {kind}: {remote.shown} is no place on a host; add its address: {kind}=https://…")
        return None
    if url is None:
        kind_found = kind or _guess(remote.host, environment)
        if kind_found is None:
            return None
        over_http = remote.scheme in ("http", "https")
        port = f":{remote.port}" if over_http and remote.port else ""
        scheme = remote.scheme if over_http else "https"
        host = f"[{remote.host}]" if ":" in remote.host else remote.host
        return _checked(
            ForgeRepository(kind_found, remote.host, f"{scheme}://{host}{port}", remote.path, named=kind is not None)
        )
    assert kind is not None
    parts = urlsplit(url)
    prefix = parts.path.strip("/")
    path = remote.path.removeprefix(f"{prefix}/") if prefix else remote.path
    return _checked(ForgeRepository(kind, (parts.hostname or "").lower(), url.rstrip("/"), path, named=True))


def _wanted(wanted: str | None) -> tuple[Kind | None, str | None]:
    if wanted is None:
        return None, None
    name, _, url = wanted.partition("=")
    kind: Kind | None = next((kind for kind in get_args(Kind) if kind == name.lower()), None)
    if kind is None:
        raise Refusal(
            f"--forge {wanted!r}: write github, gitlab or gitea, with =https://… where it is a server of yours"
        )
    if "=" in wanted and (urlsplit(url).scheme not in ("https", "http") or not urlsplit(url).hostname):
        raise Refusal(f"--forge {wanted!r}: what follows the `=` must be the address of a server, https://…")
    return kind, url or None


def _guess(host: str, environment: Mapping[str, str]) -> Kind | None:
    """By the vendor's own name, by what the environment names, or by what people call their servers."""
    for kind in get_args(Kind):
        found: Kind = kind
        if is_vendors(host, found) or host in named_hosts(found, environment):
            return found
    first = host.partition(".")[0]
    guesses: Mapping[str, Kind] = {"github": "github", "ghe": "github", "gitlab": "gitlab", "gitea": "gitea"}
    return next((kind for name, kind in guesses.items() if first == name or first.startswith(f"{name}-")), None)


def _checked(place: ForgeRepository) -> ForgeRepository:
    if place.url.startswith("http:") and place.host not in LOOPBACK:
        raise Refusal(f"{place.url}: fixer sends a token over https only; use --forge {place.kind}=https://…")
    parts = place.path.split("/")
    if len(parts) < 2 or not all(parts) or (place.kind != "gitlab" and len(parts) != 2) or ".." in parts:
        raise Refusal(f"{place.path or 'the remote'!r} is no repository on {NAMES[place.kind]}: expected owner/name")
    return place


def token_for(place: ForgeRepository, remote: Remote, environment: Mapping[str, str], directory: Path) -> Token:
    """The token for a place.

    Raises:
        Refusal: if there is none; the text says where to put it.
    """
    token = from_environment(place.kind, place.host, environment, named=place.named)
    token = token or from_git(remote, place.host, directory)
    if token is None:
        raise Refusal(
            f"there is no token for {place.host}: set {variables(place.kind, place.host)}, "
            "or let git's credential helper know one"
        )
    return token


def forge_at(place: ForgeRepository, token: Token, patience: Patience = PATIENT) -> Forge:
    """The forge of a place; it is not spoken to yet.

    Raises:
        Refusal: if the package that speaks to it is not installed.
    """
    host: Host
    if place.kind == "gitlab":
        from fixer.git.forge.gitlab import GitLab

        host = GitLab(place.url, place.path, token, patience)
    elif place.kind == "gitea":
        from fixer.git.forge.gitea import Gitea

        host = Gitea(place.api, place.path, token, patience)
    else:
        from fixer.git.forge.github import GitHub

        # What GitHub asks of those who write; a server of one's own has no such limit unless it says so.
        pause = 1.0 if is_vendors(place.host, "github") else 0.0
        host = GitHub(place.api, place.path, token, patience, pause=pause)
    return Forge(host)


def forge_for(
    remote_url: str,
    *,
    wanted: str | None = None,
    environment: Mapping[str, str] = os.environ,
    directory: Path = Path(),
    patience: Patience = PATIENT,
) -> Forge | None:
    """The forge that an address leads to; None if it leads to none that can be told.

    Args:
        wanted: what kind it is, or `KIND=URL`, where the address does not say.
        directory: where git's credential helper is asked.

    Raises:
        Refusal: if there is no token for it, or it cannot be spoken to.
    """
    remote = parse(remote_url)
    place = place_of(remote, wanted, environment)
    return forge_at(place, token_for(place, remote, environment, directory), patience) if place else None
