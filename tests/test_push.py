"""Branches that go to a remote: over every transport, and never over somebody's work."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from forges import TOKEN, Server, forge
from world import Result, checkout_state, fixer, git, process, repository, write

from fixer.git import provenance, push
from fixer.git.remotes import remote
from fixer.git.repository import Repository

OLD, NEW = b"x = old_one(1)\n", b"x = new_one(1)\n"
WORK = {"a.py": OLD, "sub/b.py": OLD}


@dataclass(frozen=True)
class Situation:
    """A clone, the bare repository that it is a clone of, and what the environment must hold."""

    clone: Path
    bare: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    server: Server | None = None

    def run(self, *arguments: str, **more: str) -> Result:
        words = () if any(word.startswith(("--push", "--pr")) for word in arguments) else ("--push",)
        return fixer(
            "apply", "--branch", "fix", *arguments, *words, at=self.clone, environment={**self.environment, **more}
        )

    def tip(self, branch: str = "fix") -> str:
        return git("for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}", at=self.bare)

    def upstream(self, files: Mapping[str, str | bytes], branch: str = "main") -> None:
        """Somebody else commits to the remote."""
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self.bare.parent / "else")
        git("clone", "-q", "-b", branch, str(self.bare), str(self.bare.parent / "else"), at=self.bare.parent)
        write(self.bare.parent / "else", files)
        git("add", "-A", at=self.bare.parent / "else")
        git("commit", "-qm", "somebody's work", at=self.bare.parent / "else")
        git("push", "-q", "origin", f"HEAD:{branch}", at=self.bare.parent / "else")


def beside(tmp: Path, files: Mapping[str, str | bytes] = WORK) -> Situation:
    """A clone of a bare repository in the same file system."""
    repository(tmp / "first", files)
    (tmp / "served/acme").mkdir(parents=True)
    git("clone", "-q", "--bare", str(tmp / "first"), "served/acme/app.git", at=tmp)
    git("clone", "-q", str(tmp / "served/acme/app.git"), "clone", at=tmp)
    shutil.rmtree(tmp / "first")
    return Situation(tmp / "clone", tmp / "served/acme/app.git")


@pytest.fixture
def here(tmp_path: Path) -> Situation:
    return beside(tmp_path)


@pytest.fixture
def github(tmp_path: Path) -> Iterator[Situation]:
    with served(tmp_path, "github") as situation:
        yield situation


@contextlib.contextmanager
def served(tmp: Path, kind: str, files: Mapping[str, str | bytes] = WORK) -> Iterator[Situation]:
    """The same behind a forge, which serves git over http and its own API."""
    situation = beside(tmp, files)
    with forge(kind, tmp / "served") as server:
        address = server.url.rpartition("/api/")[0] + "/acme/app.git"
        git("remote", "set-url", "origin", address, at=situation.clone)
        name = {"github": "GH_ENTERPRISE_TOKEN", "gitlab": "GITLAB_TOKEN", "gitea": "GITEA_TOKEN"}[kind]
        host = {"github": "GH_HOST", "gitlab": "GITLAB_HOST", "gitea": "GITEA_HOST"}[kind]
        yield Situation(situation.clone, situation.bare, {name: TOKEN, host: "127.0.0.1"}, server)


@contextlib.contextmanager
def over_file(tmp: Path) -> Iterator[Situation]:
    situation = beside(tmp)
    git("remote", "set-url", "origin", situation.bare.as_uri(), at=situation.clone)
    yield situation


@contextlib.contextmanager
def over_path(tmp: Path) -> Iterator[Situation]:
    yield beside(tmp)


@contextlib.contextmanager
def over_ssh(tmp: Path) -> Iterator[Situation]:
    """`ssh` itself is played by a shell that runs the command here."""
    situation = beside(tmp)
    program = tmp / "ssh"
    program.write_text('#!/bin/sh\nwhile [ "$1" != git@host.example ]; do shift; done\nshift\nexec sh -c "$*"\n')
    program.chmod(0o755)
    git("remote", "set-url", "origin", f"ssh://git@host.example:2222{situation.bare}", at=situation.clone)
    yield Situation(situation.clone, situation.bare, {"GIT_SSH": str(program), "GIT_SSH_VARIANT": "ssh"})


@contextlib.contextmanager
def over_http(tmp: Path) -> Iterator[Situation]:
    with served(tmp, "github") as situation:
        yield situation


@contextlib.contextmanager
def over_git(tmp: Path) -> Iterator[Situation]:
    situation = beside(tmp)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = [f"--base-path={tmp / 'served'}", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1"]
    with subprocess.Popen(
        ["git", "daemon", "--reuseaddr", f"--port={port}", *options, str(tmp / "served")],
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    ) as daemon:
        try:
            for _ in range(200):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            git("remote", "set-url", "origin", f"git://127.0.0.1:{port}/acme/app.git", at=situation.clone)
            yield situation
        finally:
            os.killpg(daemon.pid, signal.SIGTERM)


TRANSPORTS: tuple[Callable[[Path], contextlib.AbstractContextManager[Situation]], ...] = (
    over_path,
    over_file,
    over_ssh,
    over_http,
    over_git,
)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_branch_goes_over_every_transport(
    transport: Callable[[Path], contextlib.AbstractContextManager[Situation]], tmp_path: Path
) -> None:
    with transport(tmp_path) as there:
        before = checkout_state(there.clone)
        first = there.run()
        assert first.code == 0, first.err
        assert "note: fix is on origin now\n" in first.err
        tip = there.tip()
        assert tip == git("rev-parse", "fix", at=there.clone)
        assert there.run().err.endswith("note: fix is on origin as it was\n")
        assert there.tip() == tip
        there.upstream({"c.py": OLD})
        git("fetch", "-q", str(there.bare), "main", at=there.clone)
        renewed = there.run("--base", "FETCH_HEAD")
        assert renewed.code == 0 and "fix was renewed on origin" in renewed.err, renewed.err
        assert git("show", "fix:c.py", at=there.bare).encode() + b"\n" == NEW
        assert {**checkout_state(there.clone)} == before


def test_nothing_to_do_pushes_nothing(tmp_path: Path) -> None:
    there = beside(tmp_path, {"a.py": NEW})
    result = there.run()
    assert (result.code, there.tip()) == (0, "")
    assert "origin" not in result.err


def test_a_dry_run_speaks_to_nobody(github: Situation) -> None:
    assert github.server is not None
    assert github.run("--pr", "--dry-run").code == 1
    assert (github.server.asked, github.tip()) == ([], "")


def amended(work: Path) -> None:
    git("commit", "--amend", "-qm", "my words", at=work)


def on_top(work: Path) -> None:
    write(work, {"mine.py": "1\n"})
    git("add", "-A", at=work)
    git("commit", "-qm", "on top", at=work)


def squashed_in(work: Path) -> None:
    write(work, {"a.py": NEW + b"# better\n"})
    git("commit", "-qa", "--amend", "--no-edit", at=work)


def merged_with_main(work: Path) -> None:
    git("merge", "-q", "--no-ff", "-m", "update", "origin/main", at=work)


def on_main_anew(work: Path) -> None:
    git("rebase", "-q", "origin/main", at=work)


def instead(work: Path) -> None:
    git("reset", "-q", "--hard", "origin/main", at=work)
    on_top(work)


@pytest.mark.parametrize("work", [amended, on_top, squashed_in, merged_with_main, on_main_anew, instead])
def test_what_a_person_did_to_the_branch_stays(here: Situation, work: Callable[[Path], None]) -> None:
    here.run()
    here.upstream({"new.txt": "1\n"})
    git("clone", "-q", "-b", "fix", str(here.bare), "theirs", at=here.clone.parent)
    work(here.clone.parent / "theirs")
    git("push", "-qf", "origin", "HEAD:fix", at=here.clone.parent / "theirs")
    tip = here.tip()
    git("pull", "-q", at=here.clone)
    result = here.run()
    assert (result.code, here.tip()) == (0, tip), result.err
    assert "which fixer did not make; it is left alone" in result.err


def test_a_branch_of_somebody_is_left_alone(here: Situation) -> None:
    git("checkout", "-qb", "fix", at=here.clone)
    write(here.clone, {"mine.py": "1\n"})
    git("add", "-A", at=here.clone)
    git("commit", "-qm", "mine", at=here.clone)
    git("push", "-q", "origin", "fix", at=here.clone)
    git("checkout", "-q", "main", at=here.clone)
    result = here.run()
    assert (result.code, "the branch fix exists: name another one" in result.err) == (2, True)
    git("branch", "-qD", "fix", at=here.clone)
    tip = here.tip()
    result = here.run()
    assert (result.code, here.tip()) == (0, tip)
    assert "(mine), which fixer did not make; it is left alone" in result.err


def test_commits_are_added_to_a_branch_of_ones_own(here: Situation) -> None:
    git("checkout", "-qb", "fix", at=here.clone)
    write(here.clone, {"mine.py": "1\n"})
    git("add", "-A", at=here.clone)
    git("commit", "-qm", "mine", at=here.clone)
    git("push", "-q", "origin", "fix", at=here.clone)
    git("checkout", "-q", "main", at=here.clone)
    assert here.run("--on-conflict", "append").code == 0
    assert git("log", "--format=%s", "main..fix", at=here.bare).split("\n") == ["fix(OLD001): call new_one()", "mine"]


def test_the_same_change_on_a_newer_base_wakes_nobody(here: Situation) -> None:
    here.run()
    tip = here.tip()
    here.upstream({"unrelated.txt": "1\n"})
    git("pull", "-q", at=here.clone)
    result = here.run()
    assert (here.tip(), "note: fix is on origin as it was" in result.err) == (tip, True)


def test_commits_that_are_named_for_blame_are_those_on_the_remote(here: Situation) -> None:
    for number in "12":
        assert here.run("--split", "directory:1", "--ignore-in-blame").code == 0
        named = git("show", "fix/blame-ignore-revs:.git-blame-ignore-revs", at=here.bare)
        tips = git("for-each-ref", "--format=%(objectname)", "refs/heads/fix/root", "refs/heads/fix/sub", at=here.bare)
        assert {line for line in named.split("\n") if not line.startswith("#")} == set(tips.split("\n"))
        here.upstream({"unrelated.txt": number})
        git("pull", "-q", at=here.clone)


def test_a_fresh_clone_knows_its_own_branch(here: Situation) -> None:
    here.run()
    tip = here.tip()
    git("clone", "-q", str(here.bare), "again", at=here.clone.parent)
    again = Situation(here.clone.parent / "again", here.bare)
    assert again.run(GIT_COMMITTER_DATE="2030-01-01T00:00:00", GIT_AUTHOR_DATE="2030-01-01T00:00:00").code == 0
    assert here.tip() == tip
    assert "fix was renewed on origin" in again.run("--unsafe-fixes", "--signoff", "--exclude", "sub").err
    assert git("diff", "--name-only", "main", "fix", at=here.bare) == "a.py"


def test_who_pushes_in_between_keeps_it(here: Situation) -> None:
    here.run()
    opened = Repository.open(here.clone)
    seen = push.look(opened, remote(opened, None), "fix", None, {})
    here.upstream({"mine.py": "1\n"}, branch="fix")
    tip = here.tip()
    for outcome in (push.push(seen, "fix", seen.target_tip), push.delete(seen, "fix")):
        assert (outcome.outcome, here.tip()) == ("left-alone", tip)
        assert "somebody pushed to fix on origin just now" in outcome.why


def test_a_seal_holds_for_its_own_words_and_tree() -> None:
    message = provenance.seal("subject\n\nbody\n\nFixer-Version: 1\n", "t" * 40)
    assert provenance.is_whole(message, "t" * 40)
    for other, tree in ((message, "u" * 40), (f"x{message}", "t" * 40), (message * 2, "t" * 40), ("subject", "t" * 40)):
        assert not provenance.is_whole(other, tree)


def test_commits_of_ones_own_are_not_pushed_along(here: Situation) -> None:
    write(here.clone, {"secret.txt": "not yet\n"})
    git("add", "-A", at=here.clone)
    git("commit", "-qm", "not yet", at=here.clone)
    result = here.run()
    assert (result.code, here.tip(), git("branch", "--list", "fix", at=here.clone)) == (2, "", "")
    assert "main has 1 commits that are not on the main of origin, and they would be pushed along" in result.err
    assert here.run("--base", "origin/main").code == 0


def test_a_branch_that_is_not_on_the_remote_is_merged_into_the_default(here: Situation) -> None:
    git("checkout", "-qb", "local", at=here.clone)
    assert here.run().code == 0
    write(here.clone, {"more.txt": "1\n"})
    git("add", "-A", at=here.clone)
    git("commit", "-qm", "more", at=here.clone)
    assert "local has 1 commits that are not on the main of origin" in here.run().err


def refusals() -> Iterator[tuple[str, Callable[[Situation], None], tuple[str, ...], str]]:
    def nothing(there: Situation) -> None:
        pass

    def set_url(address: str) -> Callable[[Situation], None]:
        return lambda there: git("remote", "set-url", "origin", address, at=there.clone) and None

    def hook(there: Situation) -> None:
        program = there.bare / "hooks/pre-receive"
        program.write_text("#!/bin/sh\necho 'Nobody pushes on a Friday.' >&2\nexit 1\n")
        program.chmod(0o755)

    def emptied(there: Situation) -> None:
        shutil.rmtree(there.bare)
        git("init", "-q", "--bare", str(there.bare), at=there.clone)

    def shallow(there: Situation) -> None:
        there.upstream({"1.txt": "1"})
        there.upstream({"2.txt": "1"})
        shutil.rmtree(there.clone)
        git("clone", "-q", "--depth=1", there.bare.as_uri(), str(there.clone), at=there.bare)
        there.upstream({"3.txt": "1"})
        shutil.rmtree(there.bare / "objects/info", ignore_errors=True)

    yield (
        "rejected",
        hook,
        (),
        "origin does not take the branch (pre-receive hook declined): Nobody pushes on a Friday.",
    )
    yield (
        "vanished",
        lambda there: shutil.rmtree(there.bare),
        (),
        "there is no such repository, or it is hidden from you",
    )
    yield "refused", set_url("git://127.0.0.1:9/x"), (), "Connection refused"
    yield "unknown", nothing, ("--push=up",), "--push 'up': there is no such remote (there are origin)"
    yield "a path", nothing, ("--push", "sub/b.py"), "--push 'sub/b.py': there is no such remote (there are origin)"
    yield "program", set_url("ext::sh -c 'touch ran'"), (), "is not an address that fixer pushes to"
    yield "helper", nothing, ("--push=ext::sh -c 'touch ran'",), "is not an address that fixer pushes to"
    yield (
        "none",
        lambda there: git("remote", "remove", "origin", at=there.clone) and None,
        (),
        "there is none; `git remote",
    )
    yield "empty", emptied, (), "it is empty: push a first branch"
    yield "no forge", nothing, ("--pr",), "origin is on no forge that can be told: say which with --forge"
    yield "kind", nothing, ("--pr", "--forge", "sourceforge"), "--forge 'sourceforge': write github, gitlab or gitea"
    yield "elsewhere", nothing, ("--pr", "--forge", "github"), "is no place on a host; add its address: github=https://"
    yield (
        "a label of nothing",
        nothing,
        ("--push", "--label", "x"),
        "--label requires --pr",
    )


@pytest.mark.parametrize(
    ("before", "options", "sentence"), [pytest.param(*rest, id=name) for name, *rest in refusals()]
)
def test_what_cannot_be_pushed_is_said(
    here: Situation, before: Callable[[Situation], object], options: tuple[str, ...], sentence: str
) -> None:
    before(here)
    state = checkout_state(here.clone)
    result = here.run(*options)
    assert (result.code, sentence in result.err) == (2, True), result.err
    assert checkout_state(here.clone) == state
    assert not (here.clone / "ran").exists()
    assert "Traceback" not in result.err
    assert ("the branch fix is made here, and was not handed over" in result.err) == bool(
        git("branch", "--list", "fix", at=here.clone)
    )


def test_push_says_how_a_branch_is_made(here: Situation) -> None:
    for option in ("--push", "--pr"):
        result = fixer("apply", option, at=here.clone)
        assert (result.code, f"{option} requires --branch" in result.err) == (2, True)
    assert (here.clone / "a.py").read_bytes() == OLD


def test_no_hook_runs(here: Situation) -> None:
    hook = here.clone / ".git/hooks/pre-push"
    hook.write_text("#!/bin/sh\ntouch ran\nexit 1\n")
    hook.chmod(0o755)
    assert here.run().code == 0
    assert not (here.clone / "ran").exists()


def test_no_trace_is_left_in_a_clone_but_the_branch(here: Situation) -> None:
    here.run()
    here.upstream({"mine.py": "1\n"}, branch="fix")
    refs = git("for-each-ref", at=here.clone)
    here.run()
    assert git("for-each-ref", at=here.clone) == refs
    assert not (here.clone / ".git/FETCH_HEAD").exists()


@pytest.mark.parametrize("kind", ["github", "gitlab", "gitea"])
def test_a_pull_request_is_opened_renewed_and_closed(tmp_path: Path, kind: str) -> None:
    owners = {".github/CODEOWNERS": "sub/ @ada @acme/core\n"}
    with served(tmp_path, kind, {**WORK, **owners}) as there:
        assert there.server is not None
        if kind == "gitlab":
            git("remote", "set-url", "origin", there.server.url.replace("/api/v4", "/group/app.git"), at=there.clone)
            shutil.move(there.bare.parent, there.bare.parent.parent / "group")
            there = Situation(there.clone, tmp_path / "served/group/app.git", there.environment, there.server)
            assert there.server is not None
        opened = there.run("--pr", "--label", "amp", "--reviewer", "@bo")
        assert opened.code == 0, opened.err
        pull = there.server.pulls[0]
        assert f"/{1} was opened\n" in opened.err
        assert (pull.branch, pull.base, pull.labels) == ("fix", "main", ["amp"])
        assert pull.title == "Fix 2 mixed-precision or gradient-flow bugs (OLD001)"
        assert pull.reviewers == ([12, 11] if kind == "gitlab" else ["bo", "ada", "core"])
        for heading in ("What", "Why", "Evidence", "How to review", "How to switch a rule off"):
            assert f"## {heading}\n" in pull.body
        assert "- `sub/b.py:1` OLD001 (deprecated): " in pull.body and "`# fixer: ignore[OLD001]`" in pull.body
        wrote = len(there.server.wrote)
        assert "is as it was\n" in there.run("--pr").err
        assert len(there.server.wrote) == wrote

        there.upstream({"c.py": OLD})
        git("pull", "-q", str(there.bare), "main", at=there.clone)
        assert " was updated\n" in there.run("--pr").err
        assert (pull.title, len(there.server.pulls)) == ("Fix 3 mixed-precision or gradient-flow bugs (OLD001)", 1)

        there.upstream(dict.fromkeys(("a.py", "sub/b.py", "c.py"), NEW))
        git("pull", "-q", str(there.bare), "main", at=there.clone)
        closed = there.run("--pr")
        assert closed.code == 0 and " was closed: nothing is left for it\n" in closed.err, closed.err
        assert (pull.state, there.tip()) == ("closed", "")
        assert there.run("--pr").code == 0
        assert len(there.server.pulls) == 1


def test_what_a_person_pushed_to_is_not_asked_for_again(github: Situation) -> None:
    assert github.server is not None
    github.run("--pr")
    github.upstream({"mine.py": "1\n"}, branch="fix")
    github.upstream(dict.fromkeys(("a.py", "sub/b.py"), NEW))
    tip, wrote = github.tip(), len(github.server.wrote)
    for _ in range(2):
        result = github.run("--pr")
        assert result.code == 0
        assert "which fixer did not make; it is left alone" in result.err
        assert "/pull/1 was left alone" in result.err
        git("pull", "-q", str(github.bare), "main", at=github.clone)  # now nothing is left to fix
    assert (github.tip(), len(github.server.wrote), github.server.pulls[0].state) == (tip, wrote, "open")


def test_what_a_person_closed_is_not_pushed_again(github: Situation) -> None:
    assert github.server is not None
    github.run("--pr")
    github.server.pulls[0].state = "closed"
    git("push", "-q", str(github.bare), ":fix", at=github.clone)
    result = github.run("--pr")
    assert (result.code, github.tip(), len(github.server.pulls)) == (0, "", 1)
    assert "was closed by a person, so fix is left alone" in result.err


def test_what_could_not_be_read_closes_nothing(github: Situation) -> None:
    assert github.server is not None
    github.run("--pr")
    tip = github.tip()
    result = github.run("gone.py", "--pr")
    assert (result.code, github.tip(), github.server.pulls[0].state) == (2, tip, "open")
    assert "nothing was pushed: not all of it could be read" in result.err


def test_each_part_has_its_own_and_one_that_became_empty_is_closed(github: Situation) -> None:
    assert github.server is not None
    assert github.run("--pr", "--split", "directory:1").code == 0
    pulls = {pull.branch: pull for pull in github.server.pulls}
    assert set(pulls) == {"fix/root", "fix/sub"}
    assert pulls["fix/sub"].title == "Fix 1 mixed-precision or gradient-flow bug in sub (OLD001)"
    github.upstream({"sub/b.py": NEW})
    git("pull", "-q", str(github.bare), "main", at=github.clone)
    result = github.run("--pr", "--split", "directory:1")
    assert result.code == 0, result.err
    assert {name: pull.state for name, pull in pulls.items()} == {"fix/root": "open", "fix/sub": "closed"}
    assert git("branch", "--list", "fix/*", at=github.bare).split() == ["fix/root"]


def test_one_part_that_is_refused_does_not_stop_the_others(github: Situation) -> None:
    assert github.server is not None
    github.server.next = [None, None, (422, {}, {"message": "Not today"})]
    result = github.run("--pr", "--split", "directory:1")
    assert result.code == 1
    assert "fixer: the branch fix/root is made here, and was not handed over: GitHub did not let us open" in result.err
    assert [pull.branch for pull in github.server.pulls] == ["fix/sub"]
    assert github.run("--pr", "--split", "directory:1").code == 0
    assert [pull.branch for pull in github.server.pulls] == ["fix/sub", "fix/root"]


def test_json_says_where_a_branch_is(github: Situation) -> None:
    branches = json.loads(github.run("--pr", "--format", "json").out)["branches"]
    assert branches[0]["pushed"] == {"outcome": "created", "notes": []}
    url = "https://forge.test/acme/app/pull/1"
    assert branches[0]["pull_request"] == {"outcome": "opened", "number": 1, "url": url}


def secrets_in(place: Path) -> list[Path]:
    return [file for file in sorted(place.rglob("*")) if file.is_file() and b"s3cr3t" in file.read_bytes()]


def everything(github: Situation, tmp: Path, environment: Mapping[str, str], *, traced: bool) -> list[Result]:
    """Runs of every kind, good and bad, as processes.

    Args:
        traced: git writes down all that it does, which shows the addresses that it is given.
    """
    assert github.server is not None
    traces = {"GIT_TRACE": str(tmp / "trace"), "GIT_TRACE_CURL": str(tmp / "curl"), "GIT_TRACE2": str(tmp / "trace2")}
    home = {"HOME": str(tmp / "home"), "XDG_CONFIG_HOME": str(tmp / "home"), "TMPDIR": str(tmp / "tmp")}
    (tmp / "tmp").mkdir(exist_ok=True)
    (tmp / "home").mkdir(exist_ok=True)
    surroundings = {**(traces if traced else {}), **home, **environment}
    results = []
    for options in (["--pr", "-v"], ["--push", "--format", "json"], ["--pr", "--format", "markdown"]):
        results.append(process("apply", "--branch", "fix", *options, at=github.clone, environment=surroundings))
    github.server.next = [(401, {}, {"message": "Bad credentials"})]
    results.append(process("apply", "--branch", "fix", "--pr", at=github.clone, environment=surroundings))
    hook = github.bare / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    results.append(process("apply", "--branch", "other", "--push", at=github.clone, environment=surroundings))
    return results


@pytest.mark.parametrize("source", ["environment", "helper", "address"])
def test_a_token_is_nowhere_in_what_we_say_or_leave(github: Situation, tmp_path: Path, source: str) -> None:
    environment: dict[str, str] = {"GH_HOST": "127.0.0.1"}
    outside = tmp_path.parent / f"{tmp_path.name}-helper"
    if source == "environment":
        environment["GH_ENTERPRISE_TOKEN"] = TOKEN
        # A helper of the person's own, which would write down what worked.
        git("config", "credential.helper", f"store --file={tmp_path / 'stored'}", at=github.clone)
        git("config", "credential.http://127.0.0.1.helper", f"store --file={tmp_path / 'stored'}", at=github.clone)
    elif source == "helper":
        outside.write_text(f'#!/bin/sh\ntest "$1" = get && echo username=x && echo password={TOKEN}\n')
        outside.chmod(0o755)
        git("config", "credential.helper", str(outside), at=github.clone)
    else:
        address = git("remote", "get-url", "origin", at=github.clone)
        git("remote", "set-url", "origin", address.replace("://", f"://x:{TOKEN}@"), at=github.clone)
    results = everything(github, tmp_path, environment, traced=source != "address")
    assert [result.code for result in results] == [0, 0, 0, 2, 2], [result.err for result in results]
    for result in results:
        assert b"s3cr3t" not in result.out and "s3cr3t" not in result.err
    assert [pull.title for pull in (github.server or Server("")).pulls] and github.tip()
    left = secrets_in(tmp_path)
    assert left == ([github.clone / ".git/config"] if source == "address" else [])
    assert list((tmp_path / "tmp").iterdir()) == []


def test_who_may_not_in_is_told_what_to_do(github: Situation) -> None:
    result = fixer("apply", "--branch", "fix", "--push", at=github.clone)
    assert result.code == 2
    assert "terminal prompts disabled: let git's credential helper know a token" in result.err
    result = fixer("apply", "--branch", "fix", "--pr", "--forge", "github", at=github.clone)
    assert result.code == 2
    assert (
        "there is no token for 127.0.0.1: set GH_ENTERPRISE_TOKEN (and GH_HOST=127.0.0.1), or let git's" in result.err
    )
    assert git("branch", "--list", "fix", at=github.clone) == ""
