"""`apply --branch --split`: one branch for each part, all from one base, and the person's checkout as it was."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from world import checkout_state, fixer, git, process, repository, write

OLD, NEW = b"x = old_one(1)\n", b"x = new_one(1)\n"
OWNED = {
    "CODEOWNERS": "/a/ @org/a\n/b/ @ada @org/b\n/c/ @nobody!\n",
    "a/one.py": OLD,
    "a/two.py": b"old_one(2)\n\n\nold_three(3)\n",
    "b/one.py": OLD,
    "c/one.py": OLD,
    "a/bad.py": b"old_one(\n",
}


def changed(root: Path, branch: str, base: str = "main") -> dict[str, str]:
    """What a branch changes: new contents by path."""
    names = git("diff", "--name-only", "-z", f"{base}...{branch}", at=root).split("\0")[:-1]
    return {name: git("show", f"{branch}:{name}", at=root) for name in names}


def branches(root: Path, pattern: str = "fix/*") -> list[str]:
    return git(
        "for-each-ref", "--format=%(refname:short)", f"refs/heads/{pattern}", "refs/heads/fix/amp/*", at=root
    ).split()


def tips(root: Path) -> str:
    return git("for-each-ref", "refs/heads", at=root)


def test_nothing_to_do_makes_no_branch(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": b"1\n", "CODEOWNERS": "* @a\n"})
    result = fixer("apply", "--branch", "fix/amp", "--split", "codeowners", "--ignore-in-blame", at=root)
    assert (result.code, result.out, branches(root)) == (0, b"", [])


def test_one_branch_for_each_owner(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", OWNED)
    before = checkout_state(root)
    result = fixer("apply", "--branch", "fix/amp", "--split", "codeowners", "--unsafe-fixes", at=root)
    assert result.code == 0, result.err
    assert branches(root) == ["fix/amp/ada+org-b", "fix/amp/no-owner", "fix/amp/org-a"]
    assert changed(root, "fix/amp/org-a") == {
        "a/one.py": NEW.decode().rstrip(),
        "a/two.py": "new_one(2)\n\n\nnew_three(3)",
    }
    assert list(changed(root, "fix/amp/ada+org-b")) == ["b/one.py"]
    assert list(changed(root, "fix/amp/no-owner")) == ["c/one.py"]
    assert git("log", "--format=%s", "main..fix/amp/org-a", at=root).split("\n") == [
        "fix(OLD003): call new_three()",
        "fix(OLD001): call new_one()",
    ]
    assert checkout_state(root) == before
    tip = git("rev-parse", "--short=10", "fix/amp/no-owner", at=root)
    assert f"fix/amp/no-owner\n  {tip} fix(OLD001): call new_one()\n" in result.text
    assert "note: fix/amp/org-a      @org/a: 3 fixes in 2 files\n" in result.err
    assert "note: CODEOWNERS:3: '@nobody!' is not an owner (@user, @org/team or an e-mail address)" in result.err


@pytest.mark.parametrize("by", ["codeowners", "project", "directory:1", "directory:2"])
def test_together_the_branches_are_the_unsplit_plan_and_each_stands_alone(tmp_path: Path, by: str) -> None:
    files = {**OWNED, "a/deep/er/x.py": OLD, "a/pyproject.toml": "[project]\nname='a'\n", "top.py": OLD}
    root = repository(tmp_path / "r", files)
    fixer("apply", "--branch", "whole", "--unsafe-fixes", at=root)
    fixer("apply", "--branch", "fix/amp", "--split", by, "--unsafe-fixes", "--max-files", "2", at=root)
    union: dict[str, str] = {}
    for branch in branches(root):
        mine = changed(root, branch)
        assert not union.keys() & mine.keys()
        assert len(mine) <= 2
        union |= mine
        for path, text in mine.items():
            ast.parse(text, path)
        again = fixer("apply", "--branch", "again", "--base", branch, "--unsafe-fixes", "--dry-run", *mine, at=root)
        assert (again.code, again.out) == (0, b""), again.text
        patch = git("diff", f"main...{branch}", at=root).encode() + b"\n"
        git("apply", "--check", "-", at=root, data=patch)
    assert union == changed(root, "whole")
    git("checkout", "-q", "-b", "together", at=root)
    git("merge", "-q", "-m", "all", *branches(root), at=root)
    assert git("rev-parse", "together^{tree}", at=root) == git("rev-parse", "whole^{tree}", at=root)


def test_a_dry_run_shows_the_whole_patch_and_the_branches(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", OWNED)
    whole = fixer("apply", "--branch", "fix/amp", "--dry-run", at=root)
    parted = fixer("apply", "--branch", "fix/amp", "--split", "directory:1", "--dry-run", at=root)
    assert (parted.code, parted.out) == (1, whole.out)
    assert "note: fix/amp/b  b (@ada, @org/b): 1 fix in 1 file\n" in parted.err
    assert branches(root) == []


def test_again_is_the_same_and_moves_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", OWNED)
    command = ("apply", "--branch", "fix/amp", "--split", "codeowners", "--ignore-in-blame")
    assert fixer(*command, at=root).code == 0
    before = tips(root)
    refused = fixer(*command, at=root)
    assert (refused.code, tips(root)) == (2, before)
    assert (
        "the branch fix/amp/ada+org-b and 3 more exist: name another one, or choose --on-conflict reset" in refused.err
    )
    # A date alone makes no new commit.
    later = {"GIT_AUTHOR_DATE": "2038-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2038-01-01T00:00:00Z"}
    result = fixer(*command, "--on-conflict", "reset", at=root, environment=later)
    assert (result.code, tips(root)) == (0, before), result.err
    assert result.text.count("(as it was)") == 4
    write(root, {"b/one.py": OLD + b"old_one(2)\n"})
    git("commit", "-qam", "more", at=root)
    moved = fixer(*command, "--on-conflict", "reset", at=root, environment=later)
    assert moved.code == 0
    assert "(as it was)" not in moved.text  # All of them start from the new base.


def test_a_branch_that_nothing_is_left_for_is_named(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", OWNED)
    command = ("apply", "--branch", "fix/amp", "--split", "directory:1", "--on-conflict", "reset")
    fixer(*command, at=root)
    git("merge", "-q", "fix/amp/b", at=root)
    before = git("rev-parse", "fix/amp/b", at=root)
    result = fixer(*command, at=root)
    assert "note: nothing is left for fix/amp/b\n" in result.err
    assert git("rev-parse", "fix/amp/b", at=root) == before


def test_append_is_refused(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", OWNED)
    result = fixer("apply", "--branch", "fix", "--split", "project", "--on-conflict", "append", at=root)
    assert (result.code, "append adds to one branch" in result.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--split", "project"), "--split requires --branch"),
        (("--branch", "fix", "--max-files", "3"), "--max-files requires --split"),
        (("--branch", "fix", "--split", "owner"), "--split 'owner': write codeowners, project, or directory:N"),
        (("--branch", "fix", "--split", "project", "--max-files", "0"), "a part holds at least one file"),
        (("--branch", "fix", "--split", "codeowners"), "there is no CODEOWNERS file"),
        (("--branch", "a..b", "--split", "project"), "is not a name that git allows"),
        (("--branch", "main", "--split", "project"), "git cannot hold a branch main/root beside the branch main"),
        (("--branch", "fix", "--ticket", ""), "ticket '': write one line, such as ML-12"),
        (("--branch", "fix", "--subject", "{ticket}: {title}"), "a template says {ticket}: give --ticket ID"),
    ],
)
def test_bad_input_is_refused_and_leaves_nothing(tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    root = repository(tmp_path / "r", {"a.py": OLD})
    before = tips(root)
    result = fixer("apply", *arguments, at=root)
    assert (result.code, sentence in result.err) == (2, True), result.err
    assert (tips(root), list((root / ".git").rglob("*.lock"))) == (before, [])


def test_one_branch_that_cannot_be_updated_does_not_stop_the_others(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", OWNED)
    locked = root / ".git/refs/heads/fix/amp/b.lock"
    locked.parent.mkdir(parents=True)
    locked.touch()
    result = fixer("apply", "--branch", "fix/amp", "--split", "directory:1", at=root)
    assert result.code == 1
    assert "fixer: the branch fix/amp/b could not be updated: " in result.err
    assert branches(root) == ["fix/amp/a", "fix/amp/c"]


def test_a_part_that_somebody_stands_on_stops_all_before_any_is_made(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", OWNED)
    git("branch", "fix/amp/b", at=root)
    git("worktree", "add", "-q", "../linked", "fix/amp/b", at=root)
    result = fixer("apply", "--branch", "fix/amp", "--split", "directory:1", "--on-conflict", "reset", at=root)
    assert (result.code, branches(root)) == (2, ["fix/amp/b"])
    assert "the branch fix/amp/b is checked out in a work tree" in result.err


def test_json_and_markdown_speak_of_each_branch(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", OWNED)
    command = ("apply", "--branch", "fix/amp", "--split", "codeowners")
    dry = json.loads(fixer(*command, "--dry-run", "--format", "json", at=root).out)
    assert [(b["name"], b["tip"], b["moved"]) for b in dry["branches"]][:1] == [("fix/amp/ada+org-b", None, False)]
    done = json.loads(fixer(*command, "--format", "json", at=root).out)
    first = done["branches"][0]
    assert (first["part"], first["owners"], first["files"]) == ("@ada and @org/b", ["@ada", "@org/b"], ["b/one.py"])
    assert first["commits"][0]["id"] == first["tip"] == git("rev-parse", first["name"], at=root)
    assert all(finding["applied"] for finding in done["findings"] if finding["code"] == "OLD001")
    text = fixer(*command, "--on-conflict", "reset", "--format", "markdown", at=root).text
    bodies = text.split("\n---\n\n")
    assert [body.splitlines()[0] for body in bodies] == [
        "# Fix 1 mixed-precision or gradient-flow bug for @ada and @org/b (OLD001)",
        "# Fix 2 mixed-precision or gradient-flow bugs for @org/a (OLD001)",
        "# Fix 1 mixed-precision or gradient-flow bug without an owner (OLD001)",
    ]
    assert "`a/bad.py` was skipped" in bodies[1] and "`a/bad.py`" not in bodies[0] + bodies[2]


def test_tickets_and_names_in_the_words_of_a_commit(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", OWNED)
    command = ("apply", "--branch", "fix/amp", "--split", "codeowners", "--on-conflict", "reset", "--signoff")
    fixer(*command, "--ticket", "ML-12", at=root)
    body = git("log", "-1", "--format=%B", "fix/amp/org-a", at=root)
    assert "\nTicket: ML-12\nSigned-off-by: Ada <ada@example.org>" in body
    templates = ("--subject", "{ticket}: {title} for {owners}", "--body", "In {part}.")
    fixer(*command, "--ticket", "ML-12", *templates, at=root)
    assert git("log", "-1", "--format=%B", "fix/amp/ada+org-b", at=root).split("\nFixer-Rule")[0] == (
        "ML-12: call new_one() for @ada @org/b\n\nIn @ada and @org/b.\n"
    )
    assert "Ticket:" not in git("log", "-1", "--format=%B", "fix/amp/ada+org-b", at=root)
    write(root, {"fixer.toml": '[commit]\nticket = "OPS-1"\nsubject = "[{ticket}] {codes}"\nignore-in-blame = true\n'})
    git("add", "-A", at=root)
    git("commit", "-qm", "settings", at=root)
    fixer("apply", "--branch", "set", at=root)
    assert git("log", "-2", "--format=%s", "set", at=root).split("\n")[1] == "[OPS-1] OLD001"


@pytest.mark.parametrize(
    ("before", "after"),
    [({}, ""), ({".git-blame-ignore-revs": f"# old\n{'1' * 40}"}, f"# old\n{'1' * 40}\n")],
    ids=["new", "grown"],
)
def test_commits_are_kept_out_of_blame(tmp_path: Path, before: dict[str, str], after: str) -> None:
    root = repository(tmp_path / "r", {**OWNED, **before})
    fixer("apply", "--branch", "one", "--unsafe-fixes", "--ignore-in-blame", at=root)
    first, second = git("rev-parse", "one~2", "one~1", at=root).split("\n")
    expected = f"{after}# fix(OLD001): call new_one()\n{first}\n# fix(OLD003): call new_three()\n{second}"
    assert git("show", "one:.git-blame-ignore-revs", at=root) == expected
    assert git("log", "-1", "--format=%s", "one", at=root) == "chore: keep 2 fixer commits out of git blame"
    git("checkout", "-q", "one", at=root)
    blamed = git("-c", "blame.ignoreRevsFile=.git-blame-ignore-revs", "blame", "-s", "a/one.py", at=root)
    assert blamed.split()[0].lstrip("^") == git("rev-parse", "--short=7", "main", at=root)[:7]
    git("checkout", "-q", "main", at=root)

    fixer("apply", "--branch", "fix/amp", "--split", "directory:1", "--ignore-in-blame", at=root)
    named = git("show", "fix/amp/blame-ignore-revs:.git-blame-ignore-revs", at=root).split("\n")
    assert named[-1:] == [git("rev-parse", "fix/amp/c", at=root)]
    assert set(changed(root, "fix/amp/c")) == {"c/one.py"}
    assert set(changed(root, "fix/amp/blame-ignore-revs")) == {".git-blame-ignore-revs"}


def test_a_link_in_the_place_of_the_list_is_refused(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", OWNED)
    (root / ".git-blame-ignore-revs").symlink_to("a/one.py")
    git("add", "-A", at=root)
    git("commit", "-qm", "link", at=root)
    result = fixer("apply", "--branch", "one", "--ignore-in-blame", at=root)
    assert (result.code, branches(root, "one")) == (2, [])
    assert ".git-blame-ignore-revs is not a regular file of this repository: make it one" in result.err


def test_a_fix_of_several_owners_stays_whole(tmp_path: Path) -> None:
    """Two files need a torch that one line of a third promises."""
    floor = Path(__file__).parent / "before_after/deprecated-amp-api/floor/before"
    files = {file.relative_to(floor).as_posix(): file.read_bytes() for file in floor.rglob("*") if file.is_file()}
    owners = "* @ml\n/sub/ @sub\nrequirements.txt @deps\n"
    root = repository(tmp_path / "r", {**files, "CODEOWNERS": owners})
    command = ("apply", "--branch", "fix/amp", "--split", "codeowners", "--unsafe-fixes", "--max-files", "1")
    result = process(*command, at=root)
    assert result.code == 0, result.err
    assert list(changed(root, "fix/amp/deps+ml+sub")) == ["a.py", "requirements.txt", "sub/b.py"]
    together = "note: fix/amp/deps+ml+sub: a.py, requirements.txt and sub/b.py change together, "
    assert f"{together}so they share a branch\n{together}more than --max-files 1\n" in result.err


def sparse(root: Path) -> Path:
    git("sparse-checkout", "set", "--cone", "--sparse-index", "a", at=root)
    assert not (root / "b").exists()
    return root


def partial(root: Path) -> Path:
    git("config", "uploadpack.allowFilter", "true", at=root)
    clone = root.with_name("clone")
    git("clone", "-q", "--filter=blob:none", "--sparse", root.as_uri(), clone.name, at=root.parent)
    git("config", "protocol.file.allow", "always", at=clone)
    return clone


def bare(root: Path) -> Path:
    git("clone", "-q", "--bare", root.name, "bare.git", at=root.parent)
    return root.with_name("bare.git")


@pytest.mark.parametrize("made", [sparse, partial, bare], ids=lambda function: function.__name__)
def test_a_checkout_that_is_not_all_there(tmp_path: Path, made: Callable[[Path], Path]) -> None:
    root = made(repository(tmp_path / "r", OWNED))
    result = fixer("apply", "--branch", "fix/amp", "--split", "codeowners", at=root)
    assert result.code == 0, result.err
    assert [list(changed(root, name)) for name in branches(root)] == [
        ["b/one.py"],
        ["c/one.py"],
        ["a/one.py", "a/two.py"],
    ]
