"""A run that dies while it writes files that belong together: the next one puts them back, and sweeps up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from world import fixer
from world import write as files

from codemods.model.plan import FilePlan, Plan
from fixer.output.files import write
from fixer.output.journal import interrupted, recover

TIED = ("a.py", "setup.py", "sub/b.py")
PROGRAM = """
import os, pathlib, signal, sys
sys.path[:0] = {path!r}
from codemods.model.plan import FilePlan, Plan
from fixer.output.files import write
left = int(sys.argv[1])
rename = pathlib.Path.replace
def replace(self, target):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return rename(self, target)
pathlib.Path.replace = replace
files = tuple(FilePlan(path, b"old\\n", b"new\\n") for path in {tied!r})
write(Plan(files=files, components=(frozenset({tied!r}),)), pathlib.Path.cwd())
"""


def _killed(root: Path, renames: int) -> None:
    """A run that is killed before that rename."""
    files(root, dict.fromkeys(TIED, b"old\n"))
    program = PROGRAM.format(path=sys.path, tied=TIED)
    done = subprocess.run([sys.executable, "-c", program, str(renames)], cwd=root, check=False)
    assert done.returncode == -9


def _held(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_what_a_killed_run_wrote_in_part_is_put_back(tmp_path: Path, renames: int) -> None:
    _killed(tmp_path, renames)
    assert [*_held(tmp_path).values()].count(b"new\n") >= 3  # temporary files among them
    said = recover(tmp_path)
    assert _held(tmp_path) == dict.fromkeys(TIED, b"old\n")
    begun = "an earlier run was interrupted"
    if renames:
        assert said == (f"{begun} while it wrote files that belong together ({', '.join(TIED)}); they are put back",)
    else:
        assert said == (f"{begun}: its temporary files (6) are removed",)
    assert recover(tmp_path) == ()


def test_what_is_written_as_a_whole_stays(tmp_path: Path) -> None:
    _killed(tmp_path, 2)
    (temporary,) = (tmp_path / "sub").glob(".b.py.*[0-9a-f].fixer")
    temporary.replace(tmp_path / "sub/b.py")
    assert interrupted(tmp_path) == ()
    assert "temporary files" in recover(tmp_path)[0]
    assert _held(tmp_path) == dict.fromkeys(TIED, b"new\n")


def test_a_file_that_somebody_changed_since_is_nobodys_but_theirs(tmp_path: Path) -> None:
    _killed(tmp_path, 1)
    (tmp_path / "sub/b.py").write_bytes(b"mine\n")
    assert interrupted(tmp_path) == ()
    recover(tmp_path)
    held = _held(tmp_path)
    assert {path: held[path] for path in TIED} == {"a.py": b"new\n", "setup.py": b"old\n", "sub/b.py": b"mine\n"}


def test_what_cannot_be_put_back_is_said_until_it_is_settled(tmp_path: Path) -> None:
    _killed(tmp_path, 1)
    for original in tmp_path.glob(".a.py.*.original.fixer"):
        original.unlink()
    for _ in range(2):
        (said,) = recover(tmp_path)
        assert said.endswith("and a.py cannot be put back: compare them with the last commit")
        assert interrupted(tmp_path)
    (tmp_path / "a.py").write_bytes(b"old\n")
    recover(tmp_path)
    assert [name for name in _held(tmp_path) if "journal" in name] == []


def test_a_run_that_is_at_work_is_left_alone(tmp_path: Path) -> None:
    _killed(tmp_path, 1)
    (journal,) = tmp_path.glob(".fixer-*.journal")
    program = f"import fcntl, time; f = open({str(journal)!r}); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True)"
    with subprocess.Popen([sys.executable, "-c", f"{program}; time.sleep(60)"], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        before = _held(tmp_path)
        assert (recover(tmp_path), interrupted(tmp_path)) == ((), ())
        assert _held(tmp_path) == before
        holder.kill()
        holder.wait()
    for _ in range(100):  # the system lets go of the lock
        if interrupted(tmp_path):
            break
        time.sleep(0.05)
    assert recover(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"format": 99, "groups": []}',
        json.dumps({"format": 1, "groups": [[["../out.py", "", ""]]]}),
        json.dumps({"format": 1, "groups": [[[".git/config", "", ""]]]}),
        json.dumps({"format": 1, "groups": [[["a.py", 1]]]}),
        json.dumps({"format": 1, "groups": 7}),
    ],
)
def test_a_journal_that_is_none_names_no_file(tmp_path: Path, text: str) -> None:
    root = tmp_path / "root"
    token = "0123456789abcdef"
    beside = {f"{where}.{token}.fixer": b"x" for where in (".a.py", "../.out.py", ".git/.config")}
    files(root, {"a.py": b"a", ".git/config": b"", f".fixer-{token}.journal": text.encode(), **beside})
    assert recover(root) == ()
    assert set(_held(root)) == {"a.py", ".git/config", f".a.py.{token}.fixer", f".git/.config.{token}.fixer"}
    assert (tmp_path / f".out.py.{token}.fixer").exists()


def test_a_journal_of_somebody_else_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _killed(tmp_path, 1)
    monkeypatch.setattr(os, "getuid", lambda: -1)
    assert (recover(tmp_path), interrupted(tmp_path)) == ((), ())


def test_where_no_journal_can_be_written_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path, {"a.py": b"old\n"})
    opened = os.open

    def refusing(path: object, *rest: int) -> int:
        if str(path).endswith(".journal"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refusing)
    assert write(Plan(files=(FilePlan("a.py", b"old\n", b"new\n"),)), tmp_path) == (frozenset({"a.py"}), ())
    assert _held(tmp_path) == {"a.py": b"new\n"}


def test_check_says_it_and_apply_mends_it(tmp_path: Path) -> None:
    _killed(tmp_path, 1)
    done = fixer("check", at=tmp_path)
    assert done.code == 2
    assert "was interrupted while it wrote files that belong together" in done.err
    done = fixer("apply", "--dry-run", at=tmp_path)
    assert (done.code, "run `fixer apply` again" in done.err) == (2, True)
    done = fixer("apply", at=tmp_path)
    assert (done.code, "they are put back" in done.err) == (0, True)
    assert fixer("check", at=tmp_path).code == 0
