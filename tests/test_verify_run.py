"""Running a person's command before and after the fixes: what stays behind, and what cannot be run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from world import (
    CHECKOUT,
    LONG,
    Surroundings,
    checkout_state,
    fixer,
    git,
    in_the_background,
    in_the_foreground,
    repository,
    wait_until,
    write,
)

from codemods.model.edits import Finding, Place, Safety
from codemods.model.plan import FilePlan, Plan
from codemods.verify.trace import read
from fixer.errors import Refusal
from fixer.project.configuration import Settings
from fixer.run.request import Outcome
from fixer.verify.sandbox.command import Limits, run
from fixer.verify.verification import Verification, _of_copy, verify

PLACE = Place(0, 0, 1, 1, 1, 1)
RUN = f'"{sys.executable}"'


def outcome(root: Path, path: str, old: str, new: str) -> Outcome:
    """A plan that replaces `old` by `new`."""
    before = (root / path).read_bytes()
    assert before.count(old.encode()) == 1
    finding = Finding("OLD001", "old-call", path, PLACE, "", Safety.SAFE, applied=True)
    plan = Plan((FilePlan(path, before, before.replace(old.encode(), new.encode()), (finding,)),))
    return Outcome(root, plan, Settings())


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary directories go; empty again after each test."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return place


def alive(marker: str) -> list[str]:
    """Processes whose command line holds the marker."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                words = (entry / "cmdline").read_bytes()
                state = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0]
            except OSError:
                continue
            if marker.encode() in words and state != b"Z":
                found.append(words.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


def gone(marker: str) -> bool:
    """Wait until they have all ended."""
    wait_until(lambda: not alive(marker))
    return True


def project(tmp_path: Path) -> Path:
    return repository(
        tmp_path / "project",
        {
            "train.py": "import sys\nprint('old')\nsys.exit(0)\n",
            ".gitattributes": "*.txt text eol=crlf\n",
            ".gitignore": "data/\nout/\n",
            "notes.txt": b"a\r\nb\r\n",
        },
    )


def trial(root: Path, command: str, *, seconds: float = LONG, memory: int = 0, **options: object) -> Verification:
    limits = Limits(seconds, memory)
    plan = outcome(root, "train.py", "print('old')", "print('new')")
    return verify(plan, command, limits, **options)  # type: ignore[arg-type]


def test_both_sides_are_run_and_the_checkout_stays(tmp_path: Path, scratch: Path) -> None:
    root = project(tmp_path)
    (root / "train.py").write_text("import sys\nprint('old')  # not committed\nsys.exit(0)\n")
    (root / "more.py").write_text("new = 1\n")
    before = checkout_state(root)
    log = tmp_path / "log"
    command = f"{RUN} train.py >> {log}; git status --porcelain >> {log}; od -c notes.txt >> {log}"
    found = trial(root, command)
    assert checkout_state(root) == before
    assert log.read_text().count("old\n M train.py\n?? more.py") == 1
    assert log.read_text().count("new\n M train.py\n?? more.py") == 1
    assert log.read_text().count("a  \\r  \\n   b  \\r  \\n") == 2, "as the repository's filters have left it"
    assert found.verdict == "could-not-run" and "no Python that it ran imported torch" in found.summary
    assert list(scratch.iterdir()) == []
    assert not (root / ".git" / "worktrees").exists()


def test_outside_of_git(tmp_path: Path, scratch: Path) -> None:
    root = write(tmp_path / "plain", {"train.py": "print('old')\n", "data/numbers.csv": "1\n", ".venv/pyvenv.cfg": ""})
    log = tmp_path / "log"
    trial(root, f"{RUN} train.py >> {log}; cat data/numbers.csv >> {log}; readlink .venv >> {log}")
    assert log.read_text() == f"old\n1\n{root}/.venv\nnew\n1\n{root}/.venv\n"
    assert list(scratch.iterdir()) == []


def test_commits_go_through_the_filters(tmp_path: Path, scratch: Path) -> None:
    root = project(tmp_path)
    base = git("rev-parse", "HEAD", at=root)
    write(root, {"train.py": "print('newer')\n"})
    git("commit", "-qam", "newer", at=root)
    tip = git("rev-parse", "HEAD", at=root)
    git("checkout", "-q", "-f", base, at=root)
    log = tmp_path / "log"
    trial(root, f"{RUN} train.py >> {log}; od -c notes.txt >> {log}", commits=(base, tip))
    assert [line for line in log.read_text().splitlines() if line.isalpha()] == ["old", "newer"]
    assert "a  \\r  \\n" in log.read_text()
    assert not (root / ".git" / "worktrees").exists()


def test_the_command_runs_where_the_person_stands(tmp_path: Path, scratch: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "print('old')\n", "svc/a/here.txt": "x"})
    log = tmp_path / "log"
    trial(root, f"ls >> {log}", here=root / "svc" / "a")
    assert log.read_text() == "here.txt\nhere.txt\n"


def test_ignored_data_is_linked_on_request(tmp_path: Path, scratch: Path) -> None:
    root = project(tmp_path)
    write(root, {"data/x.csv": "1\n", "kept/ours.csv": "2\n", "kept/out/theirs.csv": "3\n"})
    log = tmp_path / "log"
    trial(root, f"cat data/x.csv >> {log} 2>&1")
    assert "No such file" in log.read_text()
    trial(root, f"cat data/x.csv >> {log}", linked=["data"])
    assert log.read_text().endswith("1\n1\n")
    trial(root, f"cat kept/ours.csv kept/out/theirs.csv >> {log}", linked=["kept"])
    assert log.read_text().endswith("2\n3\n2\n3\n"), "what git has is copied, the rest linked"
    for bad, why in (("nowhere", "there is no such file"), ("../elsewhere", "lies outside"), (".", "lies outside")):
        with pytest.raises(Refusal, match=why):
            trial(root, "true", linked=[bad])
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("nonsense-command --x", "the command was not found"),
        ("echo no data >&2; exit 3", "failed before torch was imported: no data"),
        (f"{RUN} -S -I -c 'import torch'", "No module named 'torch': install it where the command runs (pip install"),
        ("read answer && echo $answer", "failed before torch was imported"),
        (f"{RUN} -c 'input()'", "failed before torch was imported: EOFError"),
        ("kill -9 $$", "failed before torch was imported: ended by signal 9"),
        (f"{RUN} {{root}}/train.py", "no Python that it ran imported torch"),
    ],
)
def test_a_command_that_shows_nothing(command: str, verdict: str, tmp_path: Path, scratch: Path) -> None:
    root = project(tmp_path)
    found = trial(root, command.format(root=root))
    assert found.verdict == "could-not-run" and verdict in found.summary
    assert list(scratch.iterdir()) == []


def test_a_command_that_hangs(tmp_path: Path, scratch: Path) -> None:
    found = trial(project(tmp_path), "echo thinking; sleep 314159", seconds=5)
    assert found.verdict == "could-not-run" and "did not end within" in found.summary
    assert found.before is not None and found.before.output == "thinking\n"
    assert gone("314159") and list(scratch.iterdir()) == []


@pytest.mark.few(0)
def test_a_command_that_hangs_with_the_fixes_only(tmp_path: Path, scratch: Path) -> None:
    root = project(tmp_path)
    plan = outcome(root, "train.py", "print('old')", "import time; time.sleep(999)")
    found = verify(plan, f"{RUN} train.py", Limits(10.0))
    assert found.verdict == "refuted" and "did not end" in found.summary


DAEMON = """\
import os, subprocess, sys, time
for _ in range(2):
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.2)
subprocess.run(["sleep", "271828"])
"""


def test_daemons_do_not_escape(tmp_path: Path, scratch: Path) -> None:
    root = project(tmp_path)
    write(root, {"daemon.py": DAEMON})
    trial(root, f"{RUN} daemon.py; setsid sleep 271828 & sleep 0.6")
    assert gone("271828") and list(scratch.iterdir()) == []


def test_a_fork_bomb_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = "import os,time\nfor _ in range(6): os.fork()\ntime.sleep(161803)\n"
    supervisor = Path(sys.modules["fixer.verify.sandbox.command"].SUPERVISOR)
    smaller = write(tmp_path, {"s.py": supervisor.read_text().replace("PROCESSES = 2_000", "PROCESSES = 20")}) / "s.py"
    monkeypatch.setattr("fixer.verify.sandbox.command.SUPERVISOR", smaller)
    ended = run(f"{RUN} -c '{bomb}'", tmp_path, os.environ, Limits(LONG))
    assert ended.how == "processes" and gone("161803")


def test_gigabytes_of_output_are_not_kept(tmp_path: Path) -> None:
    ended = run("echo first; head -c 300000000 /dev/zero; echo last", tmp_path, os.environ, Limits(LONG))
    assert ended.how == "exit" and len(ended.output) < 1_000_000
    assert ended.output.startswith("first\n") and ended.output.endswith("last\n")
    assert "bytes left out" in ended.output


def test_memory_has_a_limit(tmp_path: Path) -> None:
    hungry = f"import time; held = bytearray(400_000_000); time.sleep({LONG})"
    ended = run(f"{RUN} -c '{hungry}'", tmp_path, os.environ, Limits(LONG, 200_000_000))
    assert ended.how == "memory"


def test_what_the_command_writes_into_the_checkout_is_told(tmp_path: Path, scratch: Path) -> None:
    root = project(tmp_path)
    write(root, {"out/run.log": "one\n", "data/x.csv": "1\n"})
    found = trial(root, f"echo x > {root}/result.csv; echo y > out.csv; echo two >> {root}/out/run.log; mkdir -p data")
    assert found.touched == ("out/run.log", "result.csv")
    assert "the checkout itself changed meanwhile: out/run.log, result.csv" in found.judged.notes
    assert not (root / "out.csv").exists()
    assert trial(root, "mkdir data; echo 1 > data/new.csv; echo 2 > new.py").touched == ()


def test_refs_and_settings_of_the_checkout_that_change_are_told(tmp_path: Path, scratch: Path) -> None:
    root = project(tmp_path)
    script = tmp_path / "release.sh"
    script.write_text(f"git -C '{root}' tag v1 2>&1; git -C '{root}' config some.key 1")
    assert trial(root, f"sh {script}").touched == (".git/config", ".git/refs/tags/v1")
    assert trial(root, "git tag v2; git config some.key 2; git commit -qam all; git stash").touched == ()


def test_strict_refuses_what_is_written_into_the_checkout(tmp_path: Path, scratch: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "old_one(1)\n", ".gitignore": "out/\n"})
    write(root, {"out/run.log": "one\n"})
    command = ("--run", f"echo two >> '{root}/out/run.log'; grep -q old_one train.py")
    answer = fixer("verify", *command, "--strict", at=root)
    assert answer.code == 2 and answer.text.startswith("refuted"), "what was found is shown all the same"
    assert answer.err.endswith("fixer: --strict: the command wrote into the checkout itself: out/run.log\n")
    assert fixer("verify", *command, at=root).code == 1
    better = f"echo three >> '{root}/out/run.log'; ! grep -q old_one train.py"
    answer = fixer("apply", "--verify", better, "--strict", at=root)
    assert answer.code == 2 and (root / "train.py").read_text() == "old_one(1)\n", answer.err
    assert fixer("apply", "--steps", "1", at=root).err == "fixer: --steps requires --verify\n"


def test_directories_with_too_many_ignored_files_are_not_watched(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fixer.verify.sandbox.footprints.MOST", 5)
    root = project(tmp_path)
    write(root, {**{f"data/{number}.csv": "1\n" for number in range(9)}, "out/a/run.log": "one\n"})
    found = trial(root, f"echo x > {root}/data/9.csv; mkdir {root}/out/b; touch {root}/out/b/1 {root}/out/b/2")
    assert found.touched == ("out/b/1", "out/b/2")
    assert [note for note in found.judged.notes if note.endswith("more than 5 files there: data")]


def test_small_linked_data_is_copied_and_large_data_is_watched(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(tmp_path)
    elsewhere = write(tmp_path / "elsewhere", {"numbers.csv": "1\n"})
    write(root, {"data/x.csv": "1\n", "out/a": "a\n"})
    (root / "data" / "same.csv").symlink_to("x.csv")
    (root / "out" / "far").symlink_to(elsewhere)
    command = "cat data/same.csv && echo 2 >> data/x.csv && echo 2 >> out/a"
    found = trial(root, command, linked=["data", "out"])
    assert found.before is not None and found.before.output == "1\n"
    assert (root / "data/x.csv").read_text() == "1\n", "copied"
    assert (root / "out/a").read_text() == "a\n2\n2\n", "linked, because a link leads out of it"
    assert "linked, not copied, so that the command can write to the original: out" in found.judged.notes
    assert found.touched == ("out/a",)
    monkeypatch.setattr("fixer.verify.sandbox.copies.SMALL", 1)
    (root / "data2").symlink_to(elsewhere)
    found = trial(root, "echo 2 >> data/x.csv; echo 3 >> data2/numbers.csv", linked=["data", "data2"])
    assert found.touched == ("data/x.csv", "data2/numbers.csv")


def test_experiment_trackers_are_offline_unless_the_person_says_otherwise(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setenv("NEPTUNE_MODE", "async")
    found = trial(project(tmp_path), "echo $WANDB_MODE $NEPTUNE_MODE $MLFLOW_TRACKING_URI")
    assert found.before is not None
    mode, chosen, address = found.before.output.split()
    assert (mode, chosen) == ("offline", "async") and address.startswith(f"sqlite:///{scratch}/fixer-verify-")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("how", [in_the_foreground, in_the_background])
@pytest.mark.few(2)
def test_nothing_stays_when_we_are_ended(number: signal.Signals, how: Surroundings, tmp_path: Path) -> None:
    root = project(tmp_path)
    marker, scratch = str(200_000 + number + 100 * (how is in_the_background)), tmp_path / "scratch"
    scratch.mkdir()
    write(root, {"train.py": "from torch.cuda.amp import autocast\nautocast()\n"})
    program = "import sys; sys.argv[0] = 'fixer'; from fixer.cli import main; main()"
    with how():
        process = subprocess.Popen(
            [sys.executable, "-c", program, "verify", "--run", f"sleep {marker}"],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT), "TMPDIR": str(scratch)},
            stderr=subprocess.PIPE,
        )
    try:
        wait_until(lambda: any(c.startswith(f"sleep {marker}") for c in alive(marker)) or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        process.send_signal(number)
        process.communicate(timeout=LONG)
    finally:
        process.kill()
    assert gone(marker)
    wait_until(lambda: not any(scratch.iterdir()))
    assert not (root / ".git" / "worktrees").exists()


def test_where_nothing_is_fixed_it_is_run_once(tmp_path: Path, scratch: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "print(1)\n"})
    before = checkout_state(root)
    answer = fixer("verify", "--run", f"echo ran >> {tmp_path}/log", "--format", "json", at=root)
    told = json.loads(answer.out)
    assert (answer.code, told["verdict"], told["after"]) == (2, "could-not-run", None)
    assert "no Python that it ran imported torch" in told["summary"] and told["before"]["exit_code"] == 0
    assert (tmp_path / "log").read_text() == "ran\n"
    assert checkout_state(root) == before and list(scratch.iterdir()) == []


@pytest.mark.parametrize("words", [(), ("--steps", "3")])
def test_without_fixes_it_is_run_once_as_it_is(words: tuple[str, ...], tmp_path: Path, scratch: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "old_one(1)\n"})
    command = f"cat train.py >> {tmp_path}/log"
    answer = fixer("verify", "--no-fixes", "--run", command, *words, "--format", "json", at=root)
    told = json.loads(answer.out)
    assert told["after"] is None and "--no-fixes: running it on the code as it is" in " ".join(answer.err.split())
    assert not [note for note in told["notes"] if "not tried" in note]
    assert (tmp_path / "log").read_text() == "old_one(1)\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--no-fixes",), "--no-fixes requires --run"),
        (("--no-fixes", "--module", "a.py:make"), "--no-fixes requires --run"),
        (("--no-fixes", "--before", "a", "--after", "b"), "--no-fixes requires --run"),
        (("--no-fixes", "--run", "true", "--unsafe-fixes"), "give one of them"),
    ],
)
def test_no_fixes_is_refused_where_it_means_nothing(words: tuple[str, ...], why: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "old_one(1)\n"})
    answer = fixer("verify", *words, at=root)
    assert answer.code == 2 and why in " ".join(answer.err.split()), answer.err


def test_json_and_markdown(tmp_path: Path, scratch: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "old_one(1)\n"})
    run_it = ("verify", "--run", "echo *careful*; exit 3")
    answer = fixer(*run_it, "--format", "json", at=root)
    told = json.loads(answer.out)
    assert answer.code == 2
    assert (told["verdict"], told["command"]) == ("could-not-run", "echo *careful*; exit 3")
    assert told["before"]["exit_code"] == 3 and told["after"]["output"] == "*careful*\n"
    text = fixer(*run_it, "--format", "markdown", at=root).text
    assert text.startswith("## Verification\n\n**could-not-run**") and ": \\*careful\\*" in text
    assert "| ended | exit code 3 | exit code 3 |" in text


def test_reports_in_several_formats_from_one_run(tmp_path: Path, scratch: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "old_one(1)\n"})
    names = [str(tmp_path / name) for name in ("told.json", "page.html", "section.md")]
    asked = [word for name in names for word in ("--report", name)]
    log = tmp_path / "log"
    command = f"echo ran >> {log}; {BETTER}"
    for words in (("verify", "--run", command), ("apply", "--verify", command)):
        answer = fixer(*words, "--no-cache", *asked, at=root)
        assert answer.code == 0, answer.err
        told, page, section = (Path(name).read_text() for name in names)
        assert json.loads(told)["verdict"] == "proved" and json.loads(told)["command"] == command
        assert page.startswith("<!doctype html>") and section.startswith("## Verification\n\n**proved**")
        for name in names:
            Path(name).unlink()
    assert log.read_text().count("ran") == 6, "three runs each, whatever is written"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("verify", "--run", "true", "--report", "a.pdf"), "--report a.pdf: let the name end with .json, .html, .md"),
        (("verify", "--run", "true", "--report", "gone/a.md"), "--report gone/a.md: there is no directory gone"),
        (("apply", "--verify", "true", "--report", "a.pdf"), "--report a.pdf"),
        (("apply", "--report", "a.md"), "--report requires --verify"),
        (("apply", "--branch", "b", "--split", "directory:1", "--verify", "true", "--report", "a.md"), "--split makes"),
    ],
)
def test_reports_that_cannot_be_written(words: tuple[str, ...], why: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "old_one(1)\n"})
    answer = fixer(*words, at=root)
    assert answer.code == 2 and why in answer.err, answer.err


WORSE, BETTER = "grep -q old_one train.py", "! grep -q old_one train.py"


@pytest.mark.parametrize("where", [(), ("--branch", "fix/old"), ("--branch", "fix/old", "--split", "directory:1")])
@pytest.mark.parametrize(("command", "code"), [(WORSE, 1), ("false", 2), ("true", 2), (BETTER, 0)])
@pytest.mark.few(4)
def test_apply_asks_first(where: tuple[str, ...], command: str, code: int, tmp_path: Path, scratch: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "old_one(1)\n"})
    before = checkout_state(root)
    answer = fixer("apply", *where, "--verify", command, at=root)
    assert answer.code == (1 if "--split" in where and code == 2 else code), answer.err
    if code:
        assert checkout_state(root) == before and git("branch", "--list", at=root) == "* main"
        assert ("refuted: after the fixes: exit code 1" if code == 1 else "nothing was applied") in answer.err
    elif where:
        assert checkout_state(root) == before and "fix/old" in git("branch", "--list", at=root)
    else:
        assert (root / "train.py").read_text() == "new_one(1)\n"
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "verify what?"),
        (("--run", " "), "there is no command"),
        (("--run", "true", "--module", "a.py:make"), "two ways"),
    ],
)
def test_bad_arguments(arguments: tuple[str, ...], why: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "print(1)\n"})
    answer = fixer("verify", *arguments, at=root)
    assert answer.code == 2 and why in answer.err


def test_a_dry_run_runs_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": "old_one(1)\n"})
    answer = fixer("apply", "--dry-run", "--verify", f"touch {tmp_path}/ran", at=root)
    assert answer.code == 2 and "fixer verify --run" in answer.err and not (tmp_path / "ran").exists()


def test_a_report_that_was_cut_off_counts_for_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"1.json": '{"rank": null, "st', "2.json": "[]", "3.json": '{"parameters": {"a": {"b": 1}}}'})
    assert read(tmp_path) == ()


def ride(tmp_path: Path, program: str, **environment: str) -> str:
    """What a program prints with the probe on board."""
    (tmp_path / "program.py").write_text(textwrap.dedent(program))
    riding = CHECKOUT / "codemods" / "verify" / "riding"
    path = os.pathsep.join([str(riding), *filter(None, [environment.pop("PYTHONPATH", "")])])
    (tmp_path / "seen").mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "FIXER_PROBE": str(tmp_path / "seen"), **environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == "", done.stderr
    return done.stdout


def test_the_probe_imports_no_torch_and_hides(tmp_path: Path) -> None:
    shown = ride(tmp_path, "import sys\nprint('torch' in sys.modules, [p for p in sys.path if 'riding' in p])")
    assert shown == "False []\n"
    assert list((tmp_path / "seen").iterdir()) == []


def test_a_sitecustomize_of_their_own_still_runs(tmp_path: Path) -> None:
    write(tmp_path, {"theirs/sitecustomize.py": "import builtins\nbuiltins.theirs = __name__\n"})
    assert ride(tmp_path, "print(theirs)", PYTHONPATH=str(tmp_path / "theirs")) == "sitecustomize\n"


def test_an_editable_install_means_the_copy(tmp_path: Path) -> None:
    files = {"old/src/mine.py": "where = 'checkout'\n", "new/src/mine.py": "where = 'copy'\n"}
    write(tmp_path, files)
    places = {"FIXER_ORIGINAL": str(tmp_path / "old"), "FIXER_COPY": str(tmp_path / "new")}
    assert ride(tmp_path, "import mine; print(mine.where)", PYTHONPATH=str(tmp_path / "old/src"), **places) == "copy\n"


def test_absolute_paths_mean_the_copy(tmp_path: Path) -> None:
    root, copy = tmp_path / "p q", tmp_path / "copy"
    write(copy, {"train.py": "", "sub/x.py": ""})
    told = _of_copy(f"python '{root}/train.py' {root}/gone.py --at={root}/sub; cd {root} && ls {root}x", root, copy)
    assert told == f"python '{copy}/train.py' {root}/gone.py --at={copy}/sub; cd {copy} && ls {root}x"


def test_a_program_named_by_its_absolute_path_is_run_in_the_copy(tmp_path: Path, scratch: Path) -> None:
    root = project(tmp_path)
    found = trial(root, f"grep -c new {root}/train.py; true")
    assert found.before is not None and found.after is not None
    assert (found.before.output.strip(), found.after.output.strip()) == ("0", "1")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("probe", "--", "true"), "--to is missing"),
        (("probe", "--to", "x"), "there is no command: write it after --"),
        (("probe", "--to", "x", "--", "no-such-program"), "no-such-program: No such file or directory"),
        (("probe", "--to", "x", "--print-environment", "--", "true"), "--print-environment runs nothing"),
        (("verify", "--before", "x"), "--before and --after compare two recordings: give both"),
        (
            ("verify", "--before", "x", "--after", "y"),
            "x: there is no such directory; `fixer probe",
        ),
        (("verify", "--before", "empty", "--after", "empty"), "empty: holds no recording"),
        (("verify", "--before", "torn", "--after", "torn"), "a.run: is damaged"),
        (("apply", "--steps", "3"), "--steps requires --verify"),
    ],
)
def test_recordings_that_cannot_be_made_or_read(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    write(tmp_path, {"empty/readme": "", "torn/a.run": "{"})
    answer = fixer(*words, at=tmp_path)
    assert answer.code == 2 and told in answer.err


def test_a_recording_keeps_the_exit_code(tmp_path: Path) -> None:
    assert fixer("probe", "--to", "seen", "--steps", "2", "--", "sh", "-c", "exit 7", at=tmp_path).code == 7
    (told,) = (json.loads(file.read_text()) for file in (tmp_path / "seen").glob("*.run"))
    assert (told["command"], told["code"]) == ("sh -c 'exit 7'", 7)
    shown = fixer("probe", "--to", "seen", "--print-environment", at=tmp_path)
    assert f"export FIXER_PROBE={tmp_path}/seen\n" in shown.text and "export PYTHONPATH=" in shown.text
