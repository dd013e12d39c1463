"""Campaigns: what each repository comes to, run after run, and what is left alone."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from world import (
    LONG,
    SURROUNDINGS,
    Surroundings,
    begun,
    checkout_state,
    git,
    in_the_background,
    in_the_foreground,
    process,
    repository,
    wait_until,
    write,
)

from fixer.bulk import engines
from fixer.bulk.campaign import CampaignLimits, load_campaign
from fixer.bulk.drive import Standing, plan, run, status
from fixer.bulk.job import Ending, Job
from fixer.bulk.repositories import targets
from fixer.bulk.rows import Row
from fixer.bulk.state import State
from fixer.errors import Refusal
from fixer.report import campaign as report

OLD = "from torch.cuda.amp import autocast\n\nwith autocast():\n    pass\n"
MORE = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"
NEW = 'import torch\n\nwith torch.amp.autocast("cuda"):\n    pass\n'
PINNED = {"requirements.txt": "torch==2.6.0\n"}
BRANCH = "fixer/amp"


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path) -> Iterator[None]:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with mock.patch.dict(os.environ, {**SURROUNDINGS, "TMPDIR": str(temporary)}), mock.patch("tempfile.tempdir", None):
        yield
    left = [path.name for path in temporary.glob("*/*")]
    assert not left, "clones go away"


def project(root: Path, train: str = OLD) -> Path:
    return repository(root, {"pkg/train.py": train, **PINNED})


def written(tmp: Path, text: str) -> Path:
    file = tmp / "CAMPAIGN.toml"
    file.write_text(f'name = "amp"\nselect = ["AMP002"]\nlimits.concurrent = 2\n{text}')
    return file


def go(file: Path) -> dict[str, Row]:
    return {row.name: row for row in run(load_campaign(file), quietly).rows}


def quietly(done: int, total: int, row: Row) -> None:
    assert 0 < done <= total


def endings(rows: dict[str, Row]) -> dict[str, str]:
    return {name: str(row.ending) for name, row in rows.items()}


def commit(root: Path, files: dict[str, str]) -> None:
    write(root, files)
    git("add", "-A", at=root)
    git("commit", "-qm", "more", at=root)


def test_a_plan_touches_nothing(tmp_path: Path) -> None:
    root = project(tmp_path / "a")
    file = written(tmp_path, 'repositories = ["a"]\n')
    before, listing = checkout_state(root), sorted(path.name for path in tmp_path.iterdir())
    (row,) = plan(load_campaign(file), quietly).rows
    assert (row.ending, [branch.name for branch in row.branches]) == (Ending.CHANGED, [BRANCH])
    assert b'+with torch.amp.autocast("cuda"):' in row.branches[0].patch
    assert checkout_state(root) == before and git("branch", "--list", at=root) == "* main"
    assert sorted(path.name for path in tmp_path.iterdir()) == listing


def test_nothing_is_done_twice(tmp_path: Path) -> None:
    root = project(tmp_path / "a")
    repository(tmp_path / "clean", {"x.py": "x = 1\n"})
    file = written(tmp_path, 'repositories = ["a", "clean"]\n')
    before = checkout_state(root)
    first = go(file)
    assert endings(first) == {"a": "changed", "clean": "nothing-to-do"}
    assert git("show", f"{BRANCH}:pkg/train.py", at=root) + "\n" == NEW
    assert git("log", "--format=%s", f"main..{BRANCH}", at=root) == "fix(AMP002): use torch.amp.autocast"
    assert checkout_state(root) == before
    again = go(file)
    assert endings(again) == endings(first) and again["clean"].detail == "nothing found"
    assert len(git("reflog", "show", BRANCH, at=root).splitlines()) == 1
    shown = status(load_campaign(file))
    assert [row.ending for row in shown.rows] == [Ending.CHANGED, Ending.NOTHING]


def test_a_branch_stays_while_its_change_is_the_same_and_moves_when_it_is_not(tmp_path: Path) -> None:
    root = project(tmp_path / "a")
    file = written(tmp_path, 'repositories = ["a"]\n')
    go(file)
    tip = git("rev-parse", BRANCH, at=root)
    commit(root, {"notes.txt": "hello\n"})
    assert go(file)["a"].base == git("rev-parse", "main", at=root)
    assert git("rev-parse", BRANCH, at=root) == tip
    commit(root, {"pkg/more.py": MORE})
    assert endings(go(file)) == {"a": "changed"}
    assert git("merge-base", BRANCH, "main", at=root) == git("rev-parse", "main", at=root)
    assert 'torch.amp.GradScaler("cuda")' in git("show", f"{BRANCH}:pkg/more.py", at=root)
    git("merge", "-q", "--ff-only", BRANCH, at=root)
    (branch,) = (merged := go(file))["a"].branches
    assert (merged["a"].ending, branch.stage) == (Ending.NOTHING, "withdrawn")
    commit(root, {"pkg/third.py": MORE})
    assert endings(go(file)) == {"a": "changed"}
    assert "third.py" in git("diff", "--name-only", f"main..{BRANCH}", at=root)


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_a_person_put_on_the_branch_stays(tmp_path: Path, when: str) -> None:
    root = project(tmp_path / "a")
    file = written(tmp_path, 'repositories = ["a"]\n')
    if when == "after":
        go(file)
    git("branch", *([BRANCH] if when == "before" else ["mine", BRANCH]), at=root)
    git("checkout", "-q", BRANCH, at=root)
    commit(root, {"mine.py": "x = 1\n"})
    git("checkout", "-q", "main", at=root)
    commit(root, {"pkg/more.py": MORE})
    tip = git("rev-parse", BRANCH, at=root)
    row = go(file)["a"]
    assert (row.ending, "what this campaign did not make" in row.detail) == (Ending.CONFLICT, True)
    assert git("rev-parse", BRANCH, at=root) == tip
    git("branch", "-m", BRANCH, "kept", at=root)
    assert endings(go(file)) == {"a": "changed"}


def test_a_branch_that_somebody_stands_on_stays(tmp_path: Path) -> None:
    root = project(tmp_path / "a")
    file = written(tmp_path, 'repositories = ["a"]\n')
    go(file)
    commit(root, {"pkg/more.py": MORE})
    git("worktree", "add", "-q", "../standing", BRANCH, at=root)
    row = go(file)["a"]
    assert (row.ending, "is checked out in a work tree" in row.detail) == (Ending.CONFLICT, True)


def test_limits(tmp_path: Path) -> None:
    roots = [project(tmp_path / name) for name in "abc"]
    repositories = 'repositories = ["a", "b", "c"]\n'
    rows = go(written(tmp_path, f"{repositories}limits.per-hour = 1\n"))
    assert sorted(endings(rows).values()) == ["changed", "skipped-by-limit", "skipped-by-limit"]
    assert all("run again after" in row.detail for row in rows.values() if row.ending is Ending.LIMITED)
    assert sum(BRANCH in git("branch", "--list", BRANCH, at=root) for root in roots) == 1
    assert not Standing("amp", tuple(rows.values())).failed

    rows = go(written(tmp_path, f"{repositories}limits.open-at-once = 2\n"))
    assert sorted(endings(rows).values()) == ["changed", "changed", "skipped-by-limit"]
    merged = next(root for root in roots if rows[root.name].ending is Ending.CHANGED)
    git("merge", "-q", "--ff-only", BRANCH, at=merged)
    rows = go(written(tmp_path, f"{repositories}limits.open-at-once = 2\n"))
    assert sorted(endings(rows).values()) == ["changed", "changed", "nothing-to-do"]


def test_one_bad_repository_never_stops_the_run(tmp_path: Path) -> None:
    project(tmp_path / "good")
    project(tmp_path / "mono")
    git("init", "-q", "-b", "main", "empty", at=tmp_path)
    project(tmp_path / "headless")
    git("symbolic-ref", "HEAD", "refs/heads/renamed", at=tmp_path / "headless")
    repository(tmp_path / "broken", {"x.py": OLD, "fixer.toml": "selct = []\n"})
    repository(tmp_path / "own", {"x.py": OLD, "fixer.toml": 'ignore = ["AMP002"]\n', **PINNED})
    git("clone", "-q", "--bare", "good", "bare.git", at=tmp_path)
    write(tmp_path, {"plain/x.py": OLD})
    (tmp_path / "list.txt").write_text("# more\nempty\n\nheadless\nbroken\nown\nbare.git\nplain\nmono/pkg\n")
    names = ["good", "gone", "zz-*", "ext::sh -c x", "https://me:secret@example.org/x", f"file://{tmp_path}/away.git"]
    file = written(tmp_path, f'repositories = {names!r}\nrepositories-from = "list.txt"\n')
    rows = go(file)
    found = {row.name: f"{row.ending}: {row.detail}" for row in rows.values()}
    assert "secret" not in repr(found) + file.with_suffix(".sqlite").read_bytes().decode("latin-1")
    expected = {
        "good": "changed: ",
        "bare.git": "changed: ",
        "gone": "refused: there is no such directory",
        "zz-*": "refused: matches nothing",
        "ext::sh -c x": "refused: 'ext::sh -c x' is not an address",
        "https://example.org/x": "refused: take the password or token out of it",
        f"file://{tmp_path}/away.git": "failed: git: ",
        "empty": "refused: the repository has no commit yet",
        "headless": "refused: its default branch renamed does not exist: name the branch to start from with `base`",
        "broken": "refused: fixer.toml: unknown key `selct`: did you mean `select`?",
        "own": "nothing-to-do: nothing found",
        "plain": "refused: is not a git repository",
        "mono/pkg": "refused: lies inside of a repository",
    }
    assert {name: found[name][: len(start)] for name, start in expected.items()} == expected
    assert len(found) == len(expected)
    assert rows["own"].notes == ("its own fixer.toml ignores AMP002",)


OWN = """
select = ["ATT"]
unsafe-fixes = true
include-vendored = true
strategies = { AMP002 = "try-import" }
targets = { torch = "1.6" }

[commit]
author = "Linus <torvalds@example.org>"
signoff = true
trailers = ["Reviewed-by=Boss <boss@example.org>"]
subject = "other words"
body = "other words"
ticket = "X-1"
ignore-in-blame = true
"""


def test_a_repository_decides_nothing_but_what_is_left_alone(tmp_path: Path) -> None:
    """Neither who commits, nor in which words, nor what is fixed; wherever in the tree it says so."""
    files = {"pkg/train.py": OLD, "vendor/v.py": OLD, **PINNED}
    for name, more in {"plain": "", "own": OWN}.items():
        repository(tmp_path / name, {**files, "fixer.toml": more, "pkg/fixer.toml": f'ignore = ["PL001"]\n{more}'})
    rows = go(written(tmp_path, 'repositories = ["plain", "own"]\n'))
    assert endings(rows) == {"plain": "changed", "own": "changed"}
    said, changed = (
        {name: git(*words, f"main..{BRANCH}", at=tmp_path / name) for name in rows}
        for words in (("log", "--format=%an <%ae>%n%cn <%ce>%n%B"), ("diff", "--stat"))
    )
    ours = {name: re.sub(r"(?m)^Fixer-Seal: .*", "", text) for name, text in said.items()}
    assert ours["own"] == ours["plain"] and "Ada <ada@example.org>" in ours["own"]
    assert changed["own"] == changed["plain"] and "vendor" not in changed["own"]


def test_clones_of_every_kind(tmp_path: Path) -> None:
    project(tmp_path / "a")
    git("config", "uploadpack.allowFilter", "true", at=tmp_path / "a")
    git("clone", "-q", "--filter=blob:none", "--no-checkout", (tmp_path / "a").as_uri(), "partial", at=tmp_path)
    commit(tmp_path / "a", {"x.txt": "x\n"})
    git("clone", "-q", "--depth=1", (tmp_path / "a").as_uri(), "shallow", at=tmp_path)
    git("worktree", "add", "-q", "--detach", "../detached", at=tmp_path / "a")
    git("init", "-q", "-b", "main", "--object-format=sha256", "long", at=tmp_path)
    project(tmp_path / "long")
    project(tmp_path / "taken")
    git("branch", "fixer", at=tmp_path / "taken")
    project(tmp_path / "ours")
    git("checkout", "-q", "-b", BRANCH, at=tmp_path / "ours")
    names = ["partial", "shallow", "detached", "long", f"file://{tmp_path}/long/.git", "taken", "ours"]
    with mock.patch.dict(os.environ, {"GIT_ALLOW_PROTOCOL": "file"}):
        rows = go(written(tmp_path, f"repositories = {names!r}\n"))
    assert endings(rows) == {**dict.fromkeys(names[:4], "changed"), "taken": "conflict", "ours": "refused"}
    assert "git cannot hold a branch fixer/amp beside the branch fixer" in rows["taken"].detail
    assert "it stands on fixer/amp itself" in rows["ours"].detail
    for name in names[:4]:
        assert git("log", "--format=%s", "-1", BRANCH, at=tmp_path / name) == "fix(AMP002): use torch.amp.autocast"


def test_a_url_is_pushed_and_what_is_refused_there_is_said(tmp_path: Path) -> None:
    project(tmp_path / "a")
    for name in ("open", "closed"):
        git("clone", "-q", "--bare", "a", f"{name}.git", at=tmp_path)
    hook = tmp_path / "closed.git/hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho this branch is protected >&2\nexit 1\n")
    hook.chmod(0o755)
    urls = [f"file://{tmp_path}/{name}.git" for name in ("open", "closed")]
    file = written(tmp_path, f"repositories = {urls!r}\n")
    rows = go(file)
    assert rows[urls[0]].ending is Ending.CHANGED
    assert (
        git("log", "--format=%s", f"main..{BRANCH}", at=tmp_path / "open.git") == "fix(AMP002): use torch.amp.autocast"
    )
    assert rows[urls[1]].ending is Ending.REFUSED
    assert "this branch is protected" in rows[urls[1]].detail
    hook.unlink()
    assert endings(go(file)) == dict.fromkeys(urls, "changed")

    # A person works on one of them, and the base of both moves on.
    for name in ("open", "closed"):
        git("clone", "-q", f"{name}.git", f"work-{name}", at=tmp_path)
        commit(tmp_path / f"work-{name}", {"pkg/more.py": MORE})
        git("push", "-q", "origin", "main", at=tmp_path / f"work-{name}")
    git("checkout", "-q", BRANCH, at=tmp_path / "work-open")
    commit(tmp_path / "work-open", {"mine.py": "x = 1\n"})
    git("push", "-q", "origin", BRANCH, at=tmp_path / "work-open")
    tip = git("rev-parse", BRANCH, at=tmp_path / "open.git")
    rows = go(file)
    assert (rows[urls[0]].ending, rows[urls[1]].ending) == (Ending.CONFLICT, Ending.CHANGED)
    assert "is left alone" in rows[urls[0]].detail
    assert git("rev-parse", BRANCH, at=tmp_path / "open.git") == tip
    assert "more.py" in git("diff", "--name-only", f"main..{BRANCH}", at=tmp_path / "closed.git")


def test_a_remote_that_comes_back_and_a_default_branch_with_a_new_name(tmp_path: Path) -> None:
    project(tmp_path / "a")
    git("clone", "-q", "--bare", "a", "a.git", at=tmp_path)
    url = f"file://{tmp_path}/a.git"
    file = written(tmp_path, f"repositories = ['{url}']\n")
    go(file)
    (tmp_path / "a.git").rename(tmp_path / "away")
    assert (row := go(file)[url]).ending is Ending.FAILED and "does not appear to be a git repository" in row.detail
    (tmp_path / "away").rename(tmp_path / "a.git")
    assert ((row := go(file)[url]).ending, row.detail, row.base_name) == (Ending.CHANGED, "", "main")
    git("branch", "-m", "main", "trunk", at=tmp_path / "a.git")
    assert ((row := go(file)[url]).ending, row.base_name) == (Ending.CHANGED, "trunk")


def test_a_split_campaign_has_a_branch_for_each_part(tmp_path: Path) -> None:
    root = repository(tmp_path / "a", {"one/x.py": OLD, "two/y.py": OLD, **PINNED})
    rows = go(written(tmp_path, 'repositories = ["a"]\nsplit = "directory:1"\n'))
    assert [branch.name for branch in rows["a"].branches] == [f"{BRANCH}/one", f"{BRANCH}/two"]
    assert git("diff", "--name-only", f"main..{BRANCH}/two", at=root) == "two/y.py"


def test_what_a_command_refutes_is_not_delivered(tmp_path: Path) -> None:
    root = project(tmp_path / "a")
    file = written(tmp_path, "repositories = [\"a\"]\nverify = 'grep -q torch.cuda.amp pkg/train.py'\n")
    row = go(file)["a"]
    assert (row.ending, row.branches[0].verdict) == (Ending.REFUTED, "refuted")
    assert git("branch", "--list", BRANCH, at=root) == ""
    assert endings(go(file)) == {"a": "verify-refuted"}
    file = written(tmp_path, 'repositories = ["a"]\nverify = "true"\n')
    row = go(file)["a"]
    assert (row.ending, row.branches[0].verdict) == (Ending.FAILED, "could-not-run")
    assert "imported torch" in row.detail and git("branch", "--list", BRANCH, at=root) == ""


@pytest.mark.parametrize(
    ("memory", "said", "why"),
    [
        (120, "SystemError: <function f> returned NULL without setting an exception", "needs more than the 120 meg"),
        (120, "ValueError: no", "its process ended with 1: ValueError: no"),
        (None, "MemoryError", "its process ended with 1: MemoryError"),
    ],
)
def test_why_a_job_ended(memory: int | None, said: str, why: str) -> None:
    assert engines._why(1, said.encode(), CampaignLimits(memory=memory)).startswith(why)


def test_a_job_that_takes_too_much_is_ended(tmp_path: Path) -> None:
    root = project(tmp_path / "a")
    campaign = load_campaign(written(tmp_path, 'repositories = ["a"]\n'))
    (target,), _ = targets(campaign.repositories, tmp_path)
    job = Job(target, campaign, 0)
    for limits, why in (
        (CampaignLimits(minutes=0), "took longer than the 0 minutes that `limits` allows"),
        (CampaignLimits(memory=120), "needs more than the 120 megabytes that `limits` allows"),
    ):
        ((_, answer),) = engines.local([job], limits)
        assert (answer.ending, answer.detail) == (Ending.FAILED, why)
    assert git("branch", "--list", at=root) == "* main"


def test_a_server_that_does_not_answer_is_not_waited_for(tmp_path: Path) -> None:
    campaign = load_campaign(written(tmp_path, "repositories = []\n"))
    with socket.socket() as silent, mock.patch.object(engines, "ANSWERING", 0.3):
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        (target,), _ = targets([f"git://127.0.0.1:{silent.getsockname()[1]}/x"], tmp_path)
        ((_, answer),) = engines.local([Job(target, campaign, 0, known=("0" * 40, "main"))], CampaignLimits())
    assert (answer.ending, answer.detail) == (Ending.FAILED, "git: git ls-remote was not answered within 0.3 seconds")


def test_an_engine_that_nobody_asks_any_more_stops_its_processes(tmp_path: Path) -> None:
    for name in "abc":
        project(tmp_path / name)
    campaign = load_campaign(written(tmp_path, 'repositories = ["a", "b", "c"]\n'))
    found, _ = targets(campaign.repositories, tmp_path)
    answers = engines.local((Job(target, campaign, 0) for target in found), campaign.limits)
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    assert not children.exists() or not children.read_text().strip()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("how", [in_the_foreground, in_the_background])
@pytest.mark.few(2)
def test_a_run_that_is_ended_leaves_nothing(tmp_path: Path, number: signal.Signals, how: Surroundings) -> None:
    root, started = project(tmp_path / "a"), tmp_path / "started"
    written(tmp_path, f"repositories = ['a']\nverify = 'echo $$ > {started}; exec sleep 600'\n")
    with how():
        running = begun("bulk", "run", "CAMPAIGN.toml", at=tmp_path)
    try:
        wait_until(lambda: (started.exists() and started.read_text()) or running.poll() is not None)
        assert running.poll() is None, running.communicate()
        running.send_signal(number)
        running.communicate(timeout=LONG)
    finally:
        running.kill()
    assert running.returncode == 128 + number
    assert git("branch", "--list", at=root) == "* main" and len(git("worktree", "list", at=root).splitlines()) == 1
    wait_until(lambda: not Path(f"/proc/{started.read_text().strip()}").exists())
    wait_until(lambda: not list((tmp_path / "temporary").glob("*/*")))  # who ended the command tidies up after it


def test_only_one_run_at_a_time(tmp_path: Path) -> None:
    project(tmp_path / "a")
    campaign = load_campaign(written(tmp_path, 'repositories = ["a"]\n'))
    with pytest.raises(Refusal, match="nothing has been done yet"):
        status(campaign)
    with State.open(campaign.state, "amp", create=True):
        with pytest.raises(Refusal, match="another run of this campaign is at work"):
            run(campaign, quietly)
        assert status(campaign).rows == ()
    with pytest.raises(Refusal, match="is the state of the campaign 'amp', not of 'other'"):
        run(replace(campaign, name="other"), quietly)
    with closing(sqlite3.connect(campaign.state)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(Refusal, match="schema 99"):
        run(campaign, quietly)
    campaign.state.write_bytes(b"something else")
    with pytest.raises(Refusal, match="is this the state of a campaign"):
        run(campaign, quietly)
    assert campaign.state.read_bytes() == b"something else"


def test_the_command(tmp_path: Path) -> None:
    project(tmp_path / "a")
    written(tmp_path, 'repositories = ["a", "./a", "gone"]\n')
    shown = process("bulk", "run", "CAMPAIGN.toml", at=tmp_path)
    assert shown.code == 1, shown.err
    assert [line.split()[:4] for line in shown.text.splitlines()[1:]] == [
        ["a", "1", "of", "1"],
        ["gone", "·", "·", "·"],
    ]
    assert "note: ./a is the repository a, listed twice: it is worked on once" in shown.err
    assert shown.err.endswith("2 repositories: 1 changed, 1 refused.\n")
    again = process("bulk", "status", "CAMPAIGN.toml", "--quiet", at=tmp_path)
    assert (again.code, again.out, again.err) == (0, shown.out, "")
    for command, code, stage in (("plan", 1, "not delivered yet"), ("report", 0, "delivered")):
        page = process("bulk", command, "CAMPAIGN.toml", "--format", "html", "-q", at=tmp_path)
        assert page.code == code and page.text.startswith("<!doctype html>")
        assert f"1 branch: 1 {stage}" in page.text and "+with torch.amp.autocast" in page.text
    refused = process("bulk", "plan", "NONE.toml", at=tmp_path)
    assert (refused.code, refused.err) == (2, "fixer: NONE.toml: No such file or directory; name a CAMPAIGN.toml\n")


def test_reports(tmp_path: Path) -> None:
    repository(tmp_path / "a", {"x.py": OLD + "# ```\n", **PINNED})
    file = written(tmp_path, 'repositories = ["a", "gone"]\n')
    go(file)
    standing = status(load_campaign(file), patches=True)
    content = report.document(standing)
    assert content["summary"] == {"repositories": 2, "states": {"changed": 1, "refused": 1}}
    assert content["rules"]["AMP002"] == {"findings": 1, "fixed": 1, "safe": 1, "unsafe": 0, "display": 0}
    (branch,) = content["repositories"][0]["branches"]
    assert branch["patch"].startswith("diff --git a/x.py b/x.py\n") and branch["state"] == "changed"
    page = report.markdown(standing)
    assert page.startswith("# Campaign amp\n\n2 repositories: 1 changed, 1 refused.\n")
    assert "| `a` | 1 | 1 | `fixer/amp` |  |  | changed |" in page
    assert "````diff\ndiff --git" in page, "the fence is longer than what it holds"
    assert "- `gone`: refused: there is no such directory" in page
