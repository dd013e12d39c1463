"""Files are written whole, over the bytes that were planned on, or not at all."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from world import fixer, in_the_foreground
from world import write as files

from codemods.model.edits import SkipReason
from codemods.model.plan import FilePlan, Plan
from fixer.output.files import write
from fixer.output.journal import recover
from fixer.run.execute import no_progress
from fixer.run.request import Request, plan_directory


def _plan(*paths: str, tied: bool = False) -> Plan:
    return Plan(
        files=tuple(FilePlan(path, b"old\n", b"new\n") for path in paths),
        components=(frozenset(paths),) if tied else (),
    )


def test_nothing_is_written_for_a_plan_without_changes(tmp_path: Path) -> None:
    files(tmp_path, {"a.py": b"same\n"})
    before = (tmp_path / "a.py").stat()
    assert write(Plan(files=(FilePlan("a.py", b"same\n", b"same\n"),)), tmp_path) == (frozenset(), ())
    assert (tmp_path / "a.py").stat() == before


def test_bytes_are_written_as_planned(tmp_path: Path) -> None:
    files(tmp_path, {"a.py": b"old\n", "sub/b.py": b"old\n"})
    assert write(_plan("a.py", "sub/b.py"), tmp_path) == (frozenset({"a.py", "sub/b.py"}), ())
    assert [(tmp_path / name).read_bytes() for name in ("a.py", "sub/b.py")] == [b"new\n", b"new\n"]
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["a.py", "b.py", "sub"]


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o664])
def test_mode_bits_are_kept(tmp_path: Path, mode: int) -> None:
    files(tmp_path, {"a.py": b"old\n"})
    (tmp_path / "a.py").chmod(mode)
    write(_plan("a.py"), tmp_path)
    assert stat.S_IMODE((tmp_path / "a.py").stat().st_mode) == mode


def test_a_file_that_changed_is_left_alone(tmp_path: Path) -> None:
    files(tmp_path, {"a.py": b"somebody was here\n", "b.py": b"old\n"})
    written, skips = write(_plan("a.py", "b.py", "gone.py"), tmp_path)
    assert written == {"b.py"}
    assert [(skip.path, skip.reason) for skip in skips] == [
        ("a.py", SkipReason.CHANGED),
        ("gone.py", SkipReason.CHANGED),
    ]
    assert (tmp_path / "a.py").read_bytes() == b"somebody was here\n"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.py", "b.py"]


def test_files_tied_by_a_fix_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    files(tmp_path, {"a.py": b"old\n", "b.py": b"changed\n"})
    written, skips = write(_plan("a.py", "b.py", tied=True), tmp_path)
    assert written == frozenset()
    assert {skip.path for skip in skips} == {"a.py", "b.py"}
    assert (tmp_path / "a.py").read_bytes() == b"old\n"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.py", "b.py"]


TIED = ("a.py", "b.py", "pyproject.toml", "setup.cfg")


def _failing(monkeypatch: pytest.MonkeyPatch, *names: str, error: BaseException) -> None:
    """Let nothing take the place of those files, as where they are mounted one by one."""
    rename = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if target.name in names:
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", replace)


@pytest.mark.parametrize("name", TIED)
@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("number", [errno.EBUSY, errno.EACCES])
def test_what_is_tied_to_a_file_that_cannot_be_replaced_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, links: bool, number: int
) -> None:
    files(tmp_path, dict.fromkeys(TIED, b"old\n") | {"alone.py": b"old\n"})
    (tmp_path / "b.py").chmod(0o755)
    _failing(monkeypatch, name, error=OSError(number, os.strerror(number)))
    if not links:
        monkeypatch.setattr(Path, "hardlink_to", lambda *_: os.link("/no/such", "/no/such"))
    before = {path: (tmp_path / path).stat().st_mode for path in TIED}
    plan = replace(_plan(*TIED, "alone.py"), components=(frozenset(TIED),))
    written, skips = write(plan, tmp_path)
    assert written == {"alone.py"}
    assert {path: (tmp_path / path).read_bytes() for path in TIED} == dict.fromkeys(TIED, b"old\n")
    assert {path: (tmp_path / path).stat().st_mode for path in TIED} == before
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([*TIED, "alone.py"])
    said = {skip.path: skip.detail for skip in skips}
    assert said.pop(name) == f"cannot be written: {os.strerror(number)}"
    assert said == {
        path: f"left as it was: it belongs together with {name}, which was not written" for path in TIED if path != name
    }


def test_who_stops_us_between_two_files_gets_back_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(tmp_path, dict.fromkeys(TIED, b"old\n"))
    _failing(monkeypatch, "pyproject.toml", error=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        write(_plan(*TIED, tied=True), tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == dict.fromkeys(TIED, b"old\n")


def test_a_signal_waits_until_a_file_or_a_group_of_them_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(tmp_path, dict.fromkeys((*TIED, "alone.py"), b"old\n"))
    rename = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if target.name == "b.py":
            signal.raise_signal(signal.SIGINT)
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with in_the_foreground(), pytest.raises(KeyboardInterrupt):
        write(replace(_plan(*TIED, "alone.py"), components=(frozenset(TIED),)), tmp_path)
    expected = dict.fromkeys(TIED, b"new\n") | {"alone.py": b"old\n"}
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == expected


def test_what_cannot_be_put_back_is_told_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path, dict.fromkeys(TIED, b"old\n"))
    rename = Path.replace

    def replace_once(self: Path, target: Path) -> Path:
        if target.name == "b.py" or "original" in self.name:
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", replace_once)
    written, skips = write(_plan(*TIED, tied=True), tmp_path)
    assert written == frozenset()
    said = {skip.path: skip.detail for skip in skips}
    (kept,) = tmp_path.glob("*.fixer")
    assert said["a.py"] == f"was written and cannot be put back (Input/output error); what it held is in {kept.name}"
    assert (kept.read_bytes(), (tmp_path / "a.py").read_bytes()) == (b"old\n", b"new\n")


@pytest.mark.parametrize("how", ["written", "replaced", "linked", "its directory linked"])
def test_a_file_that_changes_while_the_others_are_written_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    names = ("a.py", "sub/b.py")
    files(tmp_path / "root", dict.fromkeys(names, b"old\n"))
    files(tmp_path / "outside", {"b.py": b"old\n"})
    b, rename = tmp_path / "root/sub/b.py", Path.replace

    def replace_and_change(self: Path, target: Path) -> Path:
        done = rename(self, target)
        if target.name == "a.py" and "original" not in self.name:
            if how == "its directory linked":
                rename(b.parent, tmp_path / "away")
                b.parent.symlink_to(tmp_path / "outside")
            elif how == "written":
                b.write_bytes(b"mine\n")
            else:
                b.unlink()
                b.symlink_to(tmp_path / "outside/b.py") if how == "linked" else b.write_bytes(b"mine\n")
        return done

    monkeypatch.setattr(Path, "replace", replace_and_change)
    written, skips = write(_plan(*names, tied=True), tmp_path / "root")
    assert (written, {skip.path: skip.reason for skip in skips}) == (
        frozenset(),
        dict.fromkeys(names, SkipReason.CHANGED),
    )
    assert "changed while fixer was running" in {skip.path: skip.detail for skip in skips}["sub/b.py"]
    assert (tmp_path / "root/a.py").read_bytes() == b"old\n"
    assert b.read_bytes() == (b"mine\n" if how in ("written", "replaced") else b"old\n")
    assert (tmp_path / "outside/b.py").read_bytes() == b"old\n"


@pytest.mark.parametrize("ending", [".py", ".fixer", ".journal"])
def test_what_cannot_be_removed_is_left_to_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    files(tmp_path, dict.fromkeys(TIED, b"old\n"))
    unlink = Path.unlink

    def refuse(self: Path, missing_ok: bool = False) -> None:
        if self.name.endswith(ending):
            raise OSError(errno.EBUSY, "Device or resource busy")
        unlink(self, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    assert write(_plan(*TIED, tied=True), tmp_path) == (frozenset(TIED), ())
    monkeypatch.undo()
    recover(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == dict.fromkeys(TIED, b"new\n")


def test_a_journal_is_whole_where_the_disk_takes_it_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path, dict.fromkeys(TIED, b"old\n"))
    put, seen = os.write, []
    monkeypatch.setattr(os, "write", lambda handle, data: put(handle, data[:7]))
    rename = Path.replace

    def replace_and_look(self: Path, target: Path) -> Path:
        seen.extend(json.loads(journal.read_bytes()) for journal in tmp_path.glob(".fixer-*.journal"))
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", replace_and_look)
    write(_plan(*TIED, tied=True), tmp_path)
    assert [[path for path, *_ in group] for group in seen[0]["groups"]] == [[*TIED]]


def test_a_tied_fix_that_failed_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with `docker run -v …/pyproject.toml:…/pyproject.toml`: the floor cannot be raised, so no call changes."""
    shutil.copytree(Path(__file__).parent / "before_after/deprecated-amp-api/two_floors/before", tmp_path / "r")
    before = {file.name: file.read_bytes() for file in (tmp_path / "r").iterdir()}
    _failing(monkeypatch, "pyproject.toml", error=OSError(errno.EBUSY, "Device or resource busy"))
    request = Request(unsafe_fixes=True, cache=False)
    for _ in range(2):
        outcome = plan_directory(request, tmp_path / "r", fix=True, progress=no_progress)
        written, skips = write(outcome.plan, outcome.root)
        assert (len(outcome.plan.findings), written) == (3, frozenset())
        assert {skip.path for skip in skips} == set(before)
        assert {file.name: file.read_bytes() for file in (tmp_path / "r").iterdir()} == before


def test_a_link_inside_the_root_is_written_through(tmp_path: Path) -> None:
    files(tmp_path, {"real.py": b"old\n"})
    (tmp_path / "link.py").symlink_to("real.py")
    assert write(_plan("link.py"), tmp_path)[0] == {"link.py"}
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real.py").read_bytes() == b"new\n"


def test_a_link_that_leads_outside_is_refused(tmp_path: Path) -> None:
    files(tmp_path, {"outside.py": b"old\n", "root/x": b""})
    (tmp_path / "root/link.py").symlink_to("../outside.py")
    written, skips = write(_plan("link.py"), tmp_path / "root")
    assert (written, skips[0].reason) == (frozenset(), SkipReason.UNSAFE_PATH)
    assert (tmp_path / "outside.py").read_bytes() == b"old\n"


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    files(tmp_path, {"a.py": b"old\n"})
    (tmp_path / "a.py").chmod(0o444)
    written, skips = write(_plan("a.py"), tmp_path)
    assert (written, skips[0].detail) == (frozenset(), "cannot be written: the file is read-only")


def test_a_full_disk_leaves_everything_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path, {"a.py": b"old\n"})

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    written, skips = write(_plan("a.py"), tmp_path)
    assert (written, skips[0].detail) == (frozenset(), "cannot be written: No space left on device")
    assert [file.name for file in tmp_path.iterdir()] == ["a.py"]
    assert (tmp_path / "a.py").read_bytes() == b"old\n"


def test_apply_tells_of_a_file_that_changed_while_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path, {"a.py": "old_one(1)\n", "b.py": "old_one(1)\n"})
    from fixer.run import request

    plan_directory = request.plan_directory

    def slowly(*arguments: object, **options: object) -> object:
        outcome = plan_directory(*arguments, **options)  # type: ignore[arg-type]
        (tmp_path / "a.py").write_text("old_one(2)\n")
        return outcome

    monkeypatch.setattr(request, "plan_directory", slowly)
    result = fixer("apply", at=tmp_path)
    assert result.code == 2
    assert "a.py: changed-while-running: changed while fixer was running; run fixer again" in result.err
    assert "1 of 2 findings fixed, in 1 file" in result.err
    assert "1 could not be fixed, because files could not be written." in result.err
    assert "together with the others" not in result.err
    assert (tmp_path / "a.py").read_text() == "old_one(2)\n"
    assert (tmp_path / "b.py").read_text() == "new_one(1)\n"


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfold_one(1)\r\n",
        b"# coding: latin-1\n# \xfc\nold_one(1)\n",
        b"if x:\n\told_one(1)",
        b"old_one(1)\n\x0c\nx = 1\n",
        "# -*- coding: cp1252 -*-\nold_one('€')\r\n".encode("cp1252"),
    ],
)
def test_what_is_not_changed_keeps_its_bytes(tmp_path: Path, data: bytes) -> None:
    files(tmp_path, {"a.py": data})
    assert fixer("apply", at=tmp_path).code == 0
    assert (tmp_path / "a.py").read_bytes() == data.replace(b"old", b"new")


def test_a_file_with_other_names_is_left_alone(tmp_path: Path) -> None:
    files(tmp_path, {"a.py": b"old\n"})
    (tmp_path / "other.py").hardlink_to(tmp_path / "a.py")
    written, (skip,) = write(_plan("a.py"), tmp_path)
    assert (written, skip.path, skip.reason) == (frozenset(), "a.py", SkipReason.UNREADABLE)
    assert skip.detail.startswith("has 2 names (hard links), which writing would part")
    assert (tmp_path / "a.py").samefile(tmp_path / "other.py")


def test_owner_and_group_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path, {"a.py": b"old\n"})
    if os.getuid() == 0:
        os.chown(tmp_path / "a.py", 1001, 1002)
        (tmp_path / "a.py").chmod(0o640)
        assert write(_plan("a.py"), tmp_path)[0] == {"a.py"}
        after = (tmp_path / "a.py").stat()
        assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (1001, 1002, 0o640)
        files(tmp_path, {"a.py": b"old\n"})

    looked = Path.stat

    def owned(path: Path, **_: object) -> os.stat_result:
        found = looked(path)
        return os.stat_result((*found[:4], 4001, *found[5:10])) if path.name == "a.py" else found

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "stat", owned)
    monkeypatch.setattr(os, "chown", refuse)
    written, (skip,) = write(_plan("a.py"), tmp_path)
    assert (written, skip.detail) == (frozenset(), "would lose its owner; run fixer as its owner")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.py"]


ACL = b"\x02\0\0\0" + b"".join(
    tag.to_bytes(2, "little") + mode.to_bytes(2, "little") + number.to_bytes(4, "little")
    for tag, mode, number in (
        (0x01, 6, 0xFFFFFFFF),
        (0x02, 6, 1234),
        (0x04, 4, 0xFFFFFFFF),
        (0x10, 6, 0xFFFFFFFF),
        (0x20, 4, 0xFFFFFFFF),
    )
)
"""As the kernel keeps it: `user::rw-`, `user:1234:rw-`, `group::r--`, `mask::rw-`, `other::r--`."""


@pytest.mark.parametrize(("name", "value"), [("user.note", b"keep"), ("system.posix_acl_access", ACL)])
def test_attributes_and_access_control_lists_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: bytes
) -> None:
    files(tmp_path, {"a.py": b"old\n"})
    try:
        os.setxattr(tmp_path / "a.py", name, value)
    except (AttributeError, OSError):
        pytest.skip("this file system keeps none")
    assert write(_plan("a.py"), tmp_path)[0] == {"a.py"}
    assert os.getxattr(tmp_path / "a.py", name) == value

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "not here")

    files(tmp_path, {"a.py": b"old\n"})
    monkeypatch.setattr(os, "setxattr", refuse)
    written, (skip,) = write(_plan("a.py"), tmp_path)
    what = "access control list" if name.startswith("system") else "extended attribute user.note"
    assert (written, skip.detail) == (frozenset(), f"would lose its {what}; run fixer as its owner")
