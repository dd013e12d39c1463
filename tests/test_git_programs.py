"""No program that a repository's own configuration names is run: not by `check`, not by `apply`, not by `--branch`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from world import CHECKOUT, SURROUNDINGS, fixer, git, repository

from fixer.git import command
from fixer.git.command import GitSetting, overruling

OLD = b"x = old_one(1)\n"
COMMANDS = (
    ("check",),
    ("check", "--since", "HEAD"),
    ("apply", "--dry-run"),
    ("apply", "--branch", "fix"),
    ("apply", "--branch", "fix", "--on-conflict", "append"),
    ("apply", "--branch", "parts", "--split", "directory:1"),
    ("apply",),
)


@dataclass(frozen=True)
class Trap:
    """A repository whose configuration names a program."""

    root: Path
    program: Path
    """It writes `ran`, and fails."""

    @property
    def ran(self) -> bool:
        return self.program.with_name("ran").exists()

    def reset(self) -> None:
        self.program.with_name("ran").unlink(missing_ok=True)
        for file in self.root.rglob("*.py"):
            os.utime(file)  # so that git has to look at what is in it

    def set(self, key: str, value: str | None = None) -> None:
        git("config", key, value or str(self.program), at=self.root)

    def bites(self, *words: str) -> None:
        """Git itself runs the program."""
        self.reset()
        subprocess.run(
            ["git", *words],
            cwd=self.root,
            env={**os.environ, **SURROUNDINGS, "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert self.ran, "the trap is none"


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return made(tmp_path, repository(tmp_path / "r", {"a.py": OLD, "sub/b.py": OLD}))


def made(tmp_path: Path, root: Path) -> Trap:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\nexit 1\n")
    program.chmod(0o755)
    return Trap(root, program)


def springs_nowhere(trap: Trap) -> None:
    """None of the commands runs it."""
    for arguments in COMMANDS:
        trap.reset()
        fixer(*arguments, at=trap.root)
        assert not trap.ran, arguments


@pytest.mark.parametrize("name", ["x", "X", "a=b", "a.b"])
@pytest.mark.parametrize("what", ["clean", "smudge", "process"])
@pytest.mark.parametrize("required", [False, True])
@pytest.mark.few(6)
def test_filters(trap: Trap, name: str, what: str, required: bool) -> None:
    (trap.root / ".git/info/attributes").write_text(f"*.py filter={name}\n")
    trap.set(f"filter.{name}.{what}")
    trap.set(f"filter.{name}.required", str(required).lower())
    trap.bites(*(("cat-file", "--filters", "HEAD:a.py") if what == "smudge" else ("diff",)))
    springs_nowhere(trap)
    assert (trap.root / "a.py").read_bytes() == b"x = new_one(1)\n"


def test_a_filter_of_an_included_file_and_of_a_work_tree(trap: Trap) -> None:
    (trap.root / ".git/info/attributes").write_text("a.py filter=one\nsub/b.py filter=two\n")
    (trap.root / ".git/more").write_text(f'[filter "one"]\n\tclean = {trap.program}\n')
    trap.set("include.path", "more")
    trap.set("extensions.worktreeConfig", "true")
    git("config", "--worktree", "filter.two.clean", str(trap.program), at=trap.root)
    trap.bites("diff", "--", "a.py")
    trap.bites("diff", "--", "sub")
    springs_nowhere(trap)


def test_a_filter_of_a_submodule(trap: Trap, tmp_path: Path) -> None:
    repository(tmp_path / "library", {"c.py": OLD})
    git("submodule", "-q", "add", str(tmp_path / "library"), "lib", at=trap.root)
    git("commit", "-qm", "lib", at=trap.root)
    (trap.root / ".git/modules/lib/info/attributes").write_text("*.py filter=x\n")
    git("config", "filter.x.clean", str(trap.program), at=trap.root / "lib")
    trap.bites("status")
    springs_nowhere(trap)


def test_hooks_and_monitors(trap: Trap, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for place in (hooks, trap.root / ".git/hooks"):
        for name in ("pre-commit", "post-commit", "reference-transaction", "post-index-change", "post-checkout"):
            (place / name).unlink(missing_ok=True)
            (place / name).symlink_to(trap.program)
    trap.bites("commit", "--allow-empty", "-qm", "x")
    trap.set("core.hooksPath", str(hooks))
    trap.bites("commit", "--allow-empty", "-qm", "x")
    trap.set("core.fsmonitor")
    trap.bites("status")
    trap.set("hook.x.command")
    trap.set("hook.x.event", "reference-transaction")
    springs_nowhere(trap)


@pytest.mark.parametrize(
    "key", ["gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.x509.program", "gpg.ssh.defaultKeyCommand"]
)
def test_signing(trap: Trap, key: str) -> None:
    trap.set("commit.gpgSign", "true")
    trap.set(key)
    if key != "gpg.program":
        trap.set("gpg.format", key.split(".")[1])
    if "Key" not in key:
        trap.set("user.signingKey", str(trap.program))
    trap.bites("commit", "--allow-empty", "-qm", "x")
    springs_nowhere(trap)


def test_looking_at_signatures(trap: Trap) -> None:
    commit = git("cat-file", "commit", "HEAD", at=trap.root)
    head, _, message = commit.partition("\n\n")
    signed = f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n{message}\n"
    oid = git("hash-object", "-w", "-t", "commit", "--stdin", at=trap.root, data=signed.encode())
    git("update-ref", "refs/heads/main", oid, at=trap.root)
    git("branch", "fix", at=trap.root)
    git("commit", "-q", "--allow-empty", "-m", "more", at=trap.root)
    trap.set("gpg.program")
    trap.set("log.showSignature", "true")
    trap.bites("log")
    springs_nowhere(trap)


@pytest.mark.parametrize("key", ["diff.external", "diff.x.command", "diff.x.textconv"])
def test_diffs(trap: Trap, key: str) -> None:
    (trap.root / ".git/info/attributes").write_text("*.py diff=x\n")
    (trap.root / "a.py").write_bytes(b"y = 1\n" + OLD)
    trap.set(key)
    trap.bites("diff")
    springs_nowhere(trap)


@contextmanager
def asking_who_is_there() -> Iterator[str]:
    """A server that lets nobody in."""

    class Asking(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Asking)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def absent(tmp_path: Path, address: Callable[[Path], str]) -> Trap:
    """A clone whose contents are to be fetched, from an address."""
    origin = repository(tmp_path / "origin", {"a.py": OLD, "sub/b.py": OLD})
    git("config", "uploadpack.allowFilter", "true", at=origin)
    git("clone", "-q", "--filter=blob:none", "--no-checkout", origin.as_uri(), "r", at=tmp_path)
    git("remote", "set-url", "origin", address(origin), at=tmp_path / "r")
    return made(tmp_path, tmp_path / "r")


@pytest.mark.parametrize(
    ("key", "address"),
    [
        ("core.sshCommand", lambda origin: "ssh://git@127.0.0.1:1/x"),
        ("remote.origin.uploadpack", str),
        ("core.gitProxy", lambda origin: "git://127.0.0.1:1/x"),
    ],
)
def test_what_fetches_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, address: Callable[[Path], str]
) -> None:
    trap = absent(tmp_path, address)
    trap.set(key)
    trap.bites("fetch", "origin")
    springs_nowhere(trap)
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file:git:ssh")
    springs_nowhere(trap)


def test_who_receives_a_push_on_this_machine(trap: Trap, tmp_path: Path) -> None:
    git("clone", "-q", "--bare", str(trap.root), "origin.git", at=tmp_path)
    git("remote", "add", "origin", str(tmp_path / "origin.git"), at=trap.root)
    for what in ("receivepack", "uploadpack"):
        trap.set(f"remote.origin.{what}")
    trap.bites("push", "origin", "main")
    trap.reset()
    refused = fixer("apply", "--branch", "fix", "--push", at=trap.root)
    assert (refused.code, trap.ran) == (2, False)
    assert "transport 'file' not allowed" in refused.err


@pytest.mark.parametrize("key", ["credential.helper", "credential.http://127.0.0.1.helper", "core.askPass"])
def test_who_is_asked_for_a_password(tmp_path: Path, key: str) -> None:
    with asking_who_is_there() as address:
        trap = absent(tmp_path, lambda _: f"{address}/x")
        trap.set(key.replace("http://127.0.0.1", address))
        trap.bites("fetch", "origin")
        springs_nowhere(trap)


def test_who_lists_the_refs_of_alternates(trap: Trap, tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin", {"c.py": OLD})
    (trap.root / ".git/objects/info/alternates").write_text(f"{origin / '.git/objects'}\n")
    git("remote", "add", "origin", str(origin), at=trap.root)
    trap.set("core.alternateRefsCommand")
    trap.bites("fetch", "origin")
    springs_nowhere(trap)


def settings(*lines: str) -> tuple[GitSetting, ...]:
    """Each line as `scope key=value`."""
    parts = (line.partition(" ") for line in lines)
    return tuple(GitSetting(scope, *pair.rsplit("=", 1)) for scope, _, pair in parts)


def test_what_the_person_set_stays() -> None:
    known = settings(
        *("global core.sshcommand=mine", "global gpg.program=my-gpg", "system credential.helper=cache"),
        *("global credential.https://a.helper=store", "local core.sshcommand=theirs", "local gpg.program=theirs"),
        *("local credential.helper=theirs", "local user.name=Ada", "worktree gpg.ssh.program=theirs"),
        *("global filter.lfs.clean=git-lfs clean", "global filter.lfs.required=true"),
    )
    sealed = overruling(known, connecting=False, filters=False)
    assert dict(sealed) == {
        "core.sshcommand": "mine",
        "gpg.program": "my-gpg",
        "gpg.ssh.program": "ssh-keygen",
        "filter.lfs.clean": "",
        "filter.lfs.required": "false",
        "credential.helper": "cache",
        "credential.https://a.helper": "store",
    }
    assert [value for key, value in sealed if key == "credential.helper"] == ["", "cache"]
    connecting = dict(overruling(known, connecting=True, filters=True))
    assert connecting == {"gpg.program": "my-gpg", "gpg.ssh.program": "ssh-keygen"}
    assert overruling(settings("global core.sshcommand=mine", "local a.b=c"), connecting=False, filters=False) == []


def test_the_settings_of_the_environment_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "r", {"a.py": OLD})
    git("config", "gpg.program", "theirs", at=root)
    for name, value in {"COUNT": "1", "KEY_0": "user.name", "VALUE_0": "Bo"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    command.forget_location()
    assert command.git("config", "user.name", at=root) == b"Bo\n"
    assert command.git("config", "gpg.program", at=root) == b"gpg\n"


SAFE_WITHOUT = ({"config", "--list"}, {"rev-parse", "--show-toplevel"}, {"version"})
"""What is asked before the settings are known, and by itself runs nothing."""
_calls: list[tuple[list[str], dict[str, str] | None]] = []
_listening: list[bool] = []


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen" and _listening:
        words = [os.fsdecode(word) for word in arguments[1]]
        if Path(words[0]).name == "git":
            _calls.append((words, None if arguments[3] is None else dict(arguments[3])))


@pytest.fixture
def calls() -> Iterator[list[tuple[list[str], dict[str, str] | None]]]:
    """Every call of git in this process, by whichever library, with its environment."""
    if not _listening:
        sys.addaudithook(_hear)
    _calls.clear()
    _listening.append(True)
    yield _calls
    _listening.clear()


def test_no_call_of_git_goes_past_the_safe_environment(
    trap: Trap, tmp_path: Path, calls: list[tuple[list[str], dict[str, str] | None]]
) -> None:
    git("clone", "-q", "--bare", str(trap.root), "origin.git", at=tmp_path)
    git("remote", "add", "origin", f"file://{tmp_path / 'origin.git'}", at=trap.root)
    trap.set("core.alternateRefsCommand")
    calls.clear()
    more = (("apply", "--branch", "pushed", "--push"), ("explain", "a.py:1"), ("undo",), ("guard", "--dry-run"))
    for arguments in (*COMMANDS, *more):
        fixer(*arguments, at=trap.root)
    past = [
        words
        for words, surroundings in calls
        if "core.alternaterefscommand" not in (surroundings or {}).values()
        and not any(each <= set(words) for each in SAFE_WITHOUT)
    ]
    assert past == []
    assert len(calls) > 30


def test_git_is_started_in_three_files() -> None:
    """By our own calls, by GitPython, and where a credential helper is asked; all three take `command.environment`."""
    found = set()
    for file in (CHECKOUT / "fixer").rglob("*.py"):
        text = file.read_text()
        if re.search(r'\["git"|^ *(import git$|from git( |\.\w+ )import)', text, re.M):
            found.add(file.relative_to(CHECKOUT).as_posix())
            assert "environment(" in text, file
    assert found == {"fixer/git/command.py", "fixer/git/credentials.py", "fixer/git/repository.py"}
