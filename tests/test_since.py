"""`--since REF`: only what touches changed lines counts, and files without any are not opened."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world import fixer, git, repository, write

from fixer.git.changes import EVERY, changes
from fixer.project import worktree
from fixer.project.worktree import _read

CALL = "old_one(1)\n"
THREE = "old_one(1)\nold_one(2)\nold_one(3)\n"


def found(at: Path, *arguments: str, since: str = "HEAD") -> list[tuple[str, int]]:
    """Where something is found."""
    result = fixer("check", "--since", since, "--format", "json", *arguments, at=at)
    assert result.code in (0, 1), result.err
    return [(finding["path"], finding["line"]) for finding in json.loads(result.out)["findings"]]


def commit(root: Path, message: str = "more") -> None:
    git("add", "-A", at=root)
    git("commit", "-qm", message, at=root)


def test_nothing_changed(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": CALL})
    result = fixer("check", "--since", "HEAD", at=root)
    assert (result.code, result.out) == (0, b"")
    assert "Nothing found (0 files looked at" in result.err


def test_only_changed_lines_count(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": THREE, "b.py": CALL})
    write(root, {"a.py": THREE.replace("(2)", "(4)")})
    assert found(root) == [("a.py", 2)]
    assert [path for path, _ in found(root, "b.py")] == []


def test_a_call_over_several_lines_counts_if_one_of_them_changed(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "old_one(\n    1,\n    2,\n)\nold_one(3)\n"})
    write(root, {"a.py": "old_one(\n    1,\n    7,\n)\nold_one(3)\n"})
    assert found(root) == [("a.py", 1)]


def test_lines_beside_a_gap_count(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": f"old_one(0)\n{THREE}"})
    write(root, {"a.py": "old_one(0)\nold_one(2)\nold_one(3)\n"})
    assert found(root) == [("a.py", 1), ("a.py", 2)]


def test_staged_committed_and_new_files_count_but_not_ignored_ones(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": CALL, ".gitignore": "ignored.py\n"})
    write(root, {"committed.py": CALL})
    commit(root)
    write(root, {"staged.py": CALL, "new.py": THREE, "ignored.py": CALL, "notes.txt": CALL})
    git("add", "staged.py", at=root)
    lines = [("new.py", number) for number in (1, 2, 3)]
    assert found(root) == [*lines, ("staged.py", 1)]
    assert found(root, since="HEAD~") == [("committed.py", 1), *lines, ("staged.py", 1)]


def test_what_others_did_since_does_not_count(tmp_path: Path) -> None:
    """The comparison is with where the histories parted, as in a pull request."""
    root = repository(tmp_path / "r", {"a.py": THREE})
    git("checkout", "-qb", "topic", at=root)
    write(root, {"b.py": CALL})
    commit(root)
    git("checkout", "-q", "main", at=root)
    write(root, {"a.py": THREE.replace("(2)", "(4)")})
    commit(root)
    git("checkout", "-q", "topic", at=root)
    assert found(root, since="main") == [("b.py", 1)]


def test_renamed_files_are_followed(tmp_path: Path) -> None:
    long = "".join(f"old_one({number})\n" for number in range(20))
    root = repository(tmp_path / "r", {"a.py": long, "same.py": long + "1\n"})
    git("mv", "a.py", "b.py", at=root)
    git("mv", "same.py", "moved.py", at=root)
    write(root, {"b.py": long.replace("(7)", "(99)")})
    assert found(root) == [("b.py", 8)]


@pytest.mark.parametrize("name", ["ü.py", "with space.py", 'quo"te.py', "tab\there.py", "sub/back\\slash.py", "b/a.py"])
def test_odd_names(tmp_path: Path, name: str) -> None:
    root = repository(tmp_path / "r", {name: THREE})
    write(root, {name: THREE.replace("(3)", "(4)")})
    assert found(root) == [(name, 3)]


def test_a_persons_own_settings_of_diff_change_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": THREE, ".gitattributes": "*.py -diff\n"})
    for setting in (
        *("diff.noprefix=true", "diff.mnemonicPrefix=true", "diff.context=5", "color.ui=always", "diff.renames=false"),
        *("diff.external=false", "diff.interHunkContext=9", "core.quotePath=false", "diff.relative=true"),
    ):
        git("config", *setting.split("="), at=root)
    write(root, {"a.py": THREE.replace("(2)", "(4)")})
    assert found(root) == [("a.py", 2)]


def test_below_a_directory(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1\n", "sub/b.py": "1\n", "vendor/c.py": "1\n"})
    write(root, {"a.py": CALL, "sub/b.py": CALL, "vendor/c.py": CALL})
    assert found(root / "sub") == [("sub/b.py", 1)]
    assert found(root) == [("a.py", 1), ("sub/b.py", 1)]
    assert found(root, "vendor/c.py") == [("vendor/c.py", 1)]


def test_files_that_are_gone_or_links_are_nobodys_business(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": CALL, "b.py": CALL})
    (root / "a.py").unlink()
    (root / "link.py").symlink_to("b.py")
    (root / "out.py").symlink_to("/etc/hostname")
    assert found(root) == []


def test_cells_of_a_notebook(tmp_path: Path) -> None:
    def notebook(*sources: str) -> str:
        cells = [
            {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
            for source in sources
        ]
        kernel = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
        return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1)

    root = repository(tmp_path / "r", {"a.ipynb": notebook(CALL, "old_one(2)"), "b.ipynb": notebook(CALL)})
    write(root, {"a.ipynb": notebook(CALL, "1", "old_one(2)\nold_one(3)"), "b.ipynb": notebook(CALL) + "\n"})
    result = fixer("check", "--since", "HEAD", "--format", "json", at=root)
    assert [(f["path"], f["cell"], f["line"]) for f in json.loads(result.out)["findings"]] == [
        ("a.ipynb", 3, 1),
        ("a.ipynb", 3, 2),
    ]
    write(root, {"c.ipynb": notebook(CALL)})
    assert ("c.ipynb", 1) in found(root)


def test_suppressions_in_old_lines_are_not_told(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1  # fixer: ignore[OLD001]\ny = 1\n"})
    write(root, {"a.py": "x = 1  # fixer: ignore[OLD001]\ny = 2  # fixer: ignore[OLD002]\n"})
    result = fixer("check", "--since", "HEAD", at=root)
    assert "a.py:2: the suppression of OLD002" in result.err
    assert "OLD001" not in result.err


def test_other_files_are_not_opened(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1\n", "b.py": CALL, "sub/c.py": CALL})
    write(root, {"a.py": CALL})
    opened: list[str] = []

    def read(place: str) -> bytes | None:
        opened.append(place)
        return _read(place)

    with mock.patch.object(worktree, "_read", read):
        assert found(root) == [("a.py", 1)]
    assert {Path(place).name for place in opened if place.endswith(".py")} == {"a.py"}


def test_during_a_conflict(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1\n"})
    git("checkout", "-qb", "topic", at=root)
    write(root, {"a.py": CALL})
    commit(root)
    git("checkout", "-q", "main", at=root)
    write(root, {"a.py": "2\n"})
    commit(root)
    with pytest.raises(AssertionError):
        git("merge", "topic", at=root)
    write(root, {"a.py": "2\n" + CALL})
    assert found(root) == [("a.py", 2)]


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner", {"a.py": "1\n"})
    root = repository(tmp_path / "r", {"b.py": "1\n"})
    git("submodule", "--quiet", "add", str(inner), "sub", at=root)
    commit(root)
    write(root, {"sub/a.py": CALL, "b.py": CALL})
    assert found(root) == [("b.py", 1)]
    assert found(root / "sub") == [("a.py", 1)]


def refusal(at: Path, since: str) -> str:
    result = fixer("check", "--since", since, at=at)
    assert (result.code, result.out) == (2, b"")
    return result.err


def test_refusals(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": CALL})
    assert "there is no such commit in" in refusal(root, "nowhere")
    assert "is fetched, then named as in origin/main\n" in refusal(root, "nowhere")
    assert "shallow" not in refusal(root, "nowhere")
    for bad in ("--help", "-q", "HEAD:a.py", "HEAD^{tree}", "a\nb"):
        assert "there is no such commit" in refusal(root, bad)
    assert "give the commit" in refusal(root, "")
    git("checkout", "-q", "--orphan", "other", at=root)
    assert "the repository has no commit yet" in refusal(root, "main")
    commit(root)
    assert "no commit in common" in refusal(root, "main")
    write(tmp_path / "plain", {"a.py": CALL})
    assert "is not in a git repository" in refusal(tmp_path / "plain", "HEAD")


def test_in_a_shallow_clone(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin", {"a.py": "1\n"})
    for number in (2, 3):
        write(origin, {"a.py": f"{number}\n"})
        commit(origin)
    git("clone", "-q", "--depth", "1", origin.as_uri(), "r", at=tmp_path)
    root = tmp_path / "r"
    said = refusal(root, "HEAD~2")
    assert "shallow" in said and "git fetch --unshallow" in said
    git("fetch", "-q", "--depth", "1", "origin", git("rev-parse", "HEAD~2", at=origin), at=root)
    assert "no commit in common" in refusal(root, "FETCH_HEAD") and "git fetch --unshallow" in refusal(
        root, "FETCH_HEAD"
    )


@settings(max_examples=25)
@given(st.lists(st.sampled_from("kdn"), min_size=1, max_size=12), st.booleans())
def test_new_lines_count_and_old_ones_only_beside_a_gap(
    tmp_path_factory: pytest.TempPathFactory, fate: list[str], ended: bool
) -> None:
    """Every line is kept, deleted or new, and unlike all others, so that git has no choice."""
    root = repository(tmp_path_factory.mktemp("r"), {"a.py": "0\n"})
    write(root, {"a.py": "".join(f"line_{n}\n" for n, each in enumerate(fate) if each != "n")})
    git("commit", "--allow-empty", "-qam", "old", at=root)
    now = [n for n, each in enumerate(fate) if each != "d"]
    text = "\n".join(f"line_{n}" for n in now) + ("\n" if ended and now else "")
    write(root, {"a.py": text})
    changed = changes(root, "HEAD")()
    touched = {n for line, n in enumerate(now, start=1) if changed.touch("a.py", line, line)}
    new = {n for n in now if fate[n] == "n"}
    gaps = {n for n in now if fate[n] == "k" and "d" in (fate[n - 1 : n] + fate[n + 1 : n + 2])}
    last = {now[-1]} if now and not ended else set()  # it has lost its line end
    assert new <= touched <= new | gaps | last


def test_an_untracked_file_is_new_throughout(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "1\n"})
    write(root, {"b.py": CALL})
    assert dict(changes(root, "HEAD")().lines) == {"b.py": EVERY}


def test_only_findings_in_changed_lines_are_fixed(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": THREE, "b.py": CALL})
    write(root, {"a.py": "import x\n" + THREE.replace("(2)", "(4)")})
    result = fixer("apply", "--since", "HEAD", at=root)
    assert (result.code, result.text) == (0, "a.py: fixed OLD001\n")
    assert (root / "a.py").read_text() == "import x\nold_one(1)\nnew_one(4)\nold_one(3)\n"
    assert (root / "b.py").read_text() == CALL


def test_what_a_fix_reveals_in_a_changed_line_is_fixed_too(tmp_path: Path) -> None:
    """`old_two` becomes `old_one`, which becomes `new_one`: in the first line by the change, in the last one not."""
    root = repository(tmp_path / "r", {"a.py": "1\n2\nold_two(3)\n"})
    write(root, {"a.py": "old_two(1)\n2\nold_two(3)\n"})
    patch = fixer("apply", "--dry-run", "--since", "HEAD", at=root).text
    assert [line for line in patch.splitlines() if line.startswith(("+", "-"))][2:] == ["-old_two(1)", "+new_one(1)"]
    assert fixer("apply", "--since", "HEAD", at=root).code == 0
    assert (root / "a.py").read_text() == "new_one(1)\n2\nold_two(3)\n"


def test_a_branch_for_what_has_changed_in_commits(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": THREE})
    write(root, {"a.py": THREE.replace("(2)", "(4)"), "b.py": CALL})
    commit(root)
    write(root, {"a.py": THREE, "c.py": CALL})
    assert fixer("apply", "--since", "HEAD~", "--branch", "fix/amp", at=root).code == 0
    assert git("diff", "--name-only", "main", "fix/amp", at=root) == "a.py\nb.py"
    assert git("show", "fix/amp:a.py", at=root) == "old_one(1)\nnew_one(4)\nold_one(3)"
    git("clone", "-q", "--bare", "r", "bare.git", at=tmp_path)
    assert fixer("apply", "--since", "main~", "--branch", "fix/bare", at=tmp_path / "bare.git").code == 0
    assert git("diff", "--name-only", "main", "fix/bare", at=tmp_path / "bare.git") == "a.py\nb.py"
    refused = fixer("apply", "--since", "nowhere", "--branch", "fix/more", at=root)
    assert refused.code == 2 and "there is no such commit" in refused.err
