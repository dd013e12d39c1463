"""Tokens: from the environment or from git's credential helper; used, and never printed, logged or stored.

A token of the environment belongs to a host: to that of the vendor, to one that another variable names as it does for
the vendor's own command, or to one that the person names beside it. A repository's remote cannot call for it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import quote, quote_plus, urlsplit

from fixer.git import command
from fixer.git.remotes import Remote

Kind = Literal["github", "gitlab", "gitea"]

_VENDOR: Mapping[Kind, tuple[str, ...]] = {
    "github": ("github.com", "ghe.com"),
    "gitlab": ("gitlab.com",),
    "gitea": ("gitea.com", "codeberg.org"),
}
_TOKENS: Mapping[Kind, tuple[str, ...]] = {
    "github": ("GH_TOKEN", "GITHUB_TOKEN"),
    "gitlab": ("GITLAB_TOKEN",),
    "gitea": ("GITEA_TOKEN", "FORGEJO_TOKEN"),
}
_ELSEWHERE: Mapping[Kind, tuple[str, ...]] = {
    "github": ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"),
    "gitlab": _TOKENS["gitlab"],
    "gitea": _TOKENS["gitea"],
}
"""The variables for a server of one's own."""
_NAMED: Mapping[Kind, tuple[str, ...]] = {
    "github": ("GH_HOST",),
    "gitlab": ("GITLAB_HOST", "GL_HOST", "CI_SERVER_HOST"),
    "gitea": ("GITEA_SERVER_URL", "GITEA_HOST"),
}
"""The variables that say which server that is."""
_USERS: Mapping[Kind, str] = {"github": "x-access-token", "gitlab": "oauth2", "gitea": "oauth2"}
"""Who pushes with a token; every name will do, but not none."""
_HELPER = '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$FIXER_USER" "$FIXER_PASSWORD"; }; f'
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Token:
    """A secret, and where it is from."""

    value: str = field(repr=False)
    source: str
    from_git: bool = False
    """Git has it itself, and can push with it."""

    def masked(self, text: str) -> str:
        """A text of others without this secret, also where it stands as a part of an address."""
        for secret in (self.value, quote(self.value, safe=""), quote_plus(self.value)):
            text = text.replace(secret, "…") if secret else text
        return text


def is_vendors(host: str, kind: Kind) -> bool:
    """Whether a host is one of those that the makers of a forge run."""
    return any(host == known or (known == "ghe.com" and host.endswith(".ghe.com")) for known in _VENDOR[kind])


def named_hosts(kind: Kind, environment: Mapping[str, str]) -> frozenset[str]:
    """The hosts of one's own that the environment names."""
    values = (environment.get(name, "") for name in _NAMED[kind])
    return frozenset(_host(value) for value in values if value)


def _host(value: str) -> str:
    return (urlsplit(value if "://" in value else f"//{value}").hostname or "").lower()


def from_environment(kind: Kind, host: str, environment: Mapping[str, str], *, named: bool = False) -> Token | None:
    """The token that the environment holds for a host.

    Args:
        named: the person has named this host as a forge of that kind.
    """
    names: tuple[str, ...] = ()
    if is_vendors(host, kind):
        names = _TOKENS[kind]
    elif named or host in named_hosts(kind, environment):
        names = _ELSEWHERE[kind]
    if kind == "github" and host == _host(environment.get("GITHUB_SERVER_URL", "")):
        # In a workflow, the token is for the server that runs it.
        names += _TOKENS[kind]
    for name in names:
        if value := environment.get(name, "").strip():
            return Token(value, name)
    return None


def variables(kind: Kind, host: str) -> str:
    """Which variable a token for a host belongs into, for people."""
    if is_vendors(host, kind):
        return _TOKENS[kind][0]
    return f"{_ELSEWHERE[kind][0]} (and {_NAMED[kind][0]}={host})"


def forget() -> None:
    """Take every token out of this process's environment, before it runs what is not to know them."""
    for names in (*_TOKENS.values(), *_ELSEWHERE.values()):
        for name in names:
            os.environ.pop(name, None)


def from_git(remote: Remote, host: str, directory: Path) -> Token | None:
    """What git's credential helpers know about a host; nobody is asked, and nothing is stored."""
    question = f"protocol=https\nhost={host}\n" + (f"path={remote.path}.git\n" if remote.path else "")
    if remote.scheme in ("http", "https"):
        address = urlsplit(remote.address)
        if address.password:
            return Token(address.password, "the address of the remote", from_git=True)
        port = f":{remote.port}" if remote.port else ""
        name = f"username={address.username}\n" if address.username else ""
        question = f"protocol={remote.scheme}\nhost={host}{port}\npath={address.path.lstrip('/')}\n{name}"
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "", "GCM_INTERACTIVE": "never"}
    try:
        # Not through the project's other ways of calling git: those put what git says into errors.
        answer = subprocess.run(
            ["git", "-c", "core.askPass=", "credential", "fill"],
            cwd=directory,
            env={**os.environ, **command.environment(directory, quiet, connecting=True)},
            input=question.encode(),
            capture_output=True,
            timeout=60,
            check=False,
        )
    except (OSError, command.GitFailed, subprocess.TimeoutExpired):
        return None
    found = dict(line.partition("=")[::2] for line in answer.stdout.decode("utf-8", "replace").splitlines())
    if answer.returncode or not found.get("password"):
        return None
    return Token(found["password"], "git's credential helper", from_git=True)


def pushing_with(token: Token | None, kind: Kind | None) -> dict[str, str]:
    """Variables by which git pushes over https with a token of the environment, and forgets it.

    The person's own helpers are left out of it: git would have them store what worked.
    """
    if token is None or token.from_git or kind is None:
        return {}
    count = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
    settings = {
        "GIT_CONFIG_COUNT": str(count + 2),
        f"GIT_CONFIG_KEY_{count}": "credential.helper",
        f"GIT_CONFIG_VALUE_{count}": "",
        f"GIT_CONFIG_KEY_{count + 1}": "credential.helper",
        f"GIT_CONFIG_VALUE_{count + 1}": _HELPER,
    }
    return {**settings, "FIXER_USER": _USERS[kind], "FIXER_PASSWORD": token.value}
