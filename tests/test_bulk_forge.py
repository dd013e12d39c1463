"""A campaign with pull requests: opened, left as they are, renewed, closed, and left alone where a person has been."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from forges import TOKEN, Server, forge
from world import SURROUNDINGS, git, repository, write

from fixer.bulk.campaign import load_campaign
from fixer.bulk.drive import run
from fixer.bulk.rows import Row

pytest.importorskip("github")
OLD = "from torch.cuda.amp import autocast\n\nwith autocast():\n    pass\n"
MORE = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"
FILES = {"train.py": OLD, "requirements.txt": "torch==2.6.0\n", "CODEOWNERS": "* @acme/ml\n"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """GitHub with one repository, `acme/app`, and a campaign over it."""
    repository(tmp_path / "first", FILES)
    (tmp_path / "served/acme").mkdir(parents=True)
    git("clone", "-q", "--bare", "first", "served/acme/app.git", at=tmp_path)
    (tmp_path / "temporary").mkdir()
    access = {"GH_ENTERPRISE_TOKEN": TOKEN, "GH_HOST": "127.0.0.1", "TMPDIR": str(tmp_path / "temporary")}
    with (
        forge("github", tmp_path / "served") as made,
        mock.patch.dict(os.environ, {**SURROUNDINGS, **access}),
        mock.patch("tempfile.tempdir", None),
    ):
        address = made.url.rpartition("/api/")[0]
        (tmp_path / "CAMPAIGN.toml").write_text(
            f'name = "amp"\nselect = ["AMP002"]\nrepositories = ["{address}/acme/app.git"]\n'
            '[pull-request]\ntitle = "{campaign}: {title}"\nlabels = ["bot"]\nreviewers = ["@bo"]\n'
        )
        yield made
    left = [file for file in tmp_path.rglob("*") if file.is_file() and TOKEN.encode() in file.read_bytes()]
    assert not left, "a token is never written down"


def go(tmp: Path) -> Row:
    (row,) = run(load_campaign(tmp / "CAMPAIGN.toml"), lambda done, total, row: None).rows
    return row


def upstream(tmp: Path, files: dict[str, str], branch: str = "main") -> None:
    """Somebody commits to the repository."""
    git("-C", str(tmp / "first"), "fetch", "-q", str(tmp / "served/acme/app.git"), branch, at=tmp)
    git("checkout", "-q", "--detach", "FETCH_HEAD", at=tmp / "first")
    write(tmp / "first", files)
    git("add", "-A", at=tmp / "first")
    git("commit", "-qm", "somebody's work", at=tmp / "first")
    git("push", "-q", str(tmp / "served/acme/app.git"), f"HEAD:refs/heads/{branch}", at=tmp / "first")


def test_the_life_of_a_pull_request(tmp_path: Path, server: Server) -> None:
    row = go(tmp_path)
    (pull,) = server.pulls
    assert (str(row.ending), row.branches[0].pull_request, row.branches[0].url) == (
        "changed",
        1,
        "https://forge.test/acme/app/pull/1",
    )
    assert pull.title == "amp: Fix 2 mixed-precision or gradient-flow bugs (AMP002)" or pull.title.startswith(
        "amp: Fix"
    )
    assert (pull.branch, pull.base, pull.labels) == ("fixer/amp", "main", ["bot"])
    assert pull.reviewers == ["bo", "ml"]
    asked = len(server.asked)

    go(tmp_path)
    assert len(server.asked) == asked, "nothing has changed, so nobody is asked anything"

    upstream(tmp_path, {"more.py": MORE})
    tip = git("rev-parse", "fixer/amp", at=tmp_path / "served/acme/app.git")
    assert str(go(tmp_path).ending) == "changed"
    assert git("rev-parse", "fixer/amp", at=tmp_path / "served/acme/app.git") != tip
    assert len(server.pulls) == 1 and "more.py" in pull.body

    upstream(tmp_path, {"train.py": "x = 1\n", "more.py": "x = 1\n"})
    row = go(tmp_path)
    assert (str(row.ending), row.branches[0].stage, pull.state) == ("nothing-to-do", "withdrawn", "closed")
    assert git("branch", "--list", "fixer/*", at=tmp_path / "served/acme/app.git") == ""
    asked = len(server.wrote)
    assert str(go(tmp_path).ending) == "nothing-to-do" and len(server.wrote) == asked


def test_the_code_of_a_repository_does_not_see_the_token(tmp_path: Path, server: Server) -> None:
    file = tmp_path / "CAMPAIGN.toml"
    command = f"env > {tmp_path / 'seen.txt'}; grep -q torch.cuda.amp train.py"
    file.write_text(f"verify = {command!r}\n{file.read_text()}")
    assert str(go(tmp_path).ending) == "verify-refuted"
    assert "PATH=" in (tmp_path / "seen.txt").read_text() and server.asked == []


def test_what_a_person_did_is_left_alone(tmp_path: Path, server: Server) -> None:
    go(tmp_path)
    upstream(tmp_path, {"mine.py": "x = 1\n"}, "fixer/amp")
    tip = git("rev-parse", "fixer/amp", at=tmp_path / "served/acme/app.git")
    upstream(tmp_path, {"more.py": MORE})
    row = go(tmp_path)
    assert (str(row.ending), "is left alone" in row.detail) == ("conflict", True)
    assert git("rev-parse", "fixer/amp", at=tmp_path / "served/acme/app.git") == tip
    assert server.pulls[0].state == "open"


def test_a_pull_request_that_a_person_closed_is_not_opened_again(tmp_path: Path, server: Server) -> None:
    go(tmp_path)
    server.pulls[0].state = "closed"
    upstream(tmp_path, {"more.py": MORE})
    row = go(tmp_path)
    assert (str(row.ending), "was closed by a person" in row.detail) == ("conflict", True)
    assert len(server.pulls) == 1


def test_what_the_forge_says_is_told_and_tried_again(tmp_path: Path, server: Server) -> None:
    server.archived = True
    server.next = [(403, {}, {"message": "Repository was archived so is read-only."})]
    row = go(tmp_path)
    assert str(row.ending) == "refused" and row.detail
    server.archived, server.next = False, []
    assert str(go(tmp_path).ending) == "changed"
    assert len(server.pulls) == 1


def test_merged_pull_requests_make_room_for_others(tmp_path: Path, server: Server) -> None:
    file = tmp_path / "CAMPAIGN.toml"
    first = file.read_text()
    repository(tmp_path / "local", FILES)
    file.write_text(first.replace('.git"]', '.git", "local"]') + "[limits]\nopen-at-once = 1\nconcurrent = 1\n")
    rows = run(load_campaign(file), lambda done, total, row: None).rows
    assert [str(row.ending) for row in rows] == ["changed", "skipped-by-limit"]
    rows = run(load_campaign(file), lambda done, total, row: None).rows
    assert [str(row.ending) for row in rows] == ["changed", "skipped-by-limit"]
    server.pulls[0].state = "merged"
    rows = run(load_campaign(file), lambda done, total, row: None).rows
    assert [str(row.ending) for row in rows] == ["changed", "changed"]


def test_who_was_cut_off_after_opening_a_pull_request_finishes_it(tmp_path: Path, server: Server) -> None:
    """Its labels and reviewers come with the next run; what people change later stays."""
    answer = server.answer

    def failing(verb: str, path: str, *rest: Any) -> tuple[int, Any]:
        return (401, {"message": "gone"}) if path.endswith("/labels") else answer(verb, path, *rest)

    with mock.patch.object(server, "answer", failing):
        assert str(go(tmp_path).ending) == "refused"
    (pull,) = server.pulls
    assert (pull.labels, pull.reviewers) == ([], [])
    assert str(go(tmp_path).ending) == "changed"
    assert (len(server.pulls), pull.labels, pull.reviewers) == (1, ["bot"], ["bo", "ml"])
    pull.labels.clear()
    upstream(tmp_path, {"more.py": MORE})
    assert str(go(tmp_path).ending) == "changed"
    assert pull.labels == []
