"""What was found before: the same as looking anew, whatever has changed; and a file that nothing can spoil."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memory import Memory as Files
from memory import Remembering
from world import fixer, git, repository, write

from codemods.engine.rounds import Options, plan
from codemods.model.edits import Skip, SkipReason
from codemods.model.plan import FilePlan, Plan
from codemods.project import dependencies
from codemods.project import index as indexes
from codemods.project.dependencies import (
    Answered,
    Content,
    Existence,
    Fact,
    Holding,
    Packaging,
    Question,
    name_of,
    packed,
    unpacked,
)
from codemods.project.index import Index
from codemods.project.results import Remembered
from codemods.transforms import load
from fixer.errors import Refusal
from fixer.git.names import bends, known, known_among
from fixer.git.repository import Repository
from fixer.project.worktree import WorkTree
from fixer.run import cache, cache_directory, rule_index
from fixer.run.cache import LATELY, Cache, Past
from fixer.run.execute import Order, Task

OPTIONS = Options(rules=tuple(r for r in load() if r.code in ("PL001", "AMP001", "AMP002", "CKP001", "PL101", "HF003")))

PARSED = """import argparse
import lightning as L
parser = argparse.ArgumentParser()
parser.add_argument("--precision")
args = parser.parse_args()
L.Trainer(precision=args.precision)
"""
BASE = "import lightning as L\nclass Base(L.LightningModule):\n{}\n"
AUTOMATIC = "automatic_optimization = False"
NET = """\
from base import Base
class Net(Base):
    def training_step(self, batch):
        loss = self(batch).mean()
        loss.backward()
"""
TEACHER = """\
import torch
class Teacher:
    @torch.no_grad()
    def targets(self, x):
        return self.net(x)
    def loss(self, x):
        return (self.net(x) - self.targets(x)).mean()
"""
LOOP = """\
import torch
from teacher import Teacher
def train(model: Teacher, xs):
    with torch.autocast("cuda"):
        loss = model.loss(xs)
    loss.backward()
"""
OLD = "from torch.cuda.amp import autocast\ndef f(m, x):\n    with autocast():\n        return m(x)\n"
TEXTS = {
    "base.py": [BASE.format(f"    automatic_optimization = {flag}") for flag in (True, False)]
    + [BASE.format("    x = 1")],
    "net.py": [NET, NET.replace("from base", "from other"), NET.replace("loss.backward()", "pass")],
    "other.py": [BASE.format(f"    {AUTOMATIC}"), "Base = object\n"],
    "teacher.py": [TEACHER, TEACHER.replace("@torch.no_grad()", "")],
    "loop.py": [LOOP, LOOP.replace('torch.autocast("cuda")', "open('x')")],
    "old.py": [OLD, OLD + "# bf16 too\nimport accelerate\n"],
    "patch.py": ["import torch\ntorch.cuda.amp.autocast = None\n"],
    "requirements.txt": ["torch==2.4.1\n", "torch==2.13.0\nlightning==2.6.6\n", "torch>=2\n"],
    "sub/pyproject.toml": ["[project]\nname='x'\nversion='1'\ndependencies=['torch==2.1']\n"],
    "sub/old.py": [OLD],
    "conf.yaml": ["trainer:\n  precision: 16\n", "fp16: true\nbf16: true\n"],
}
edit = st.sampled_from(sorted(TEXTS)).flatmap(lambda p: st.tuples(st.just(p), st.sampled_from([*TEXTS[p], None])))


@given(st.lists(st.lists(edit, min_size=1, max_size=3), min_size=1, max_size=6), st.booleans())
@example([[("net.py", TEXTS["net.py"][1]), ("other.py", None)], [("other.py", TEXTS["other.py"][0])]], False)
@example([[("base.py", TEXTS["base.py"][1])]], False)
@settings(max_examples=60)
def test_remembered_equals_looked_at_anew(edits: list[list[tuple[str, str | None]]], fix: bool) -> None:
    now = {path: texts[0] for path, texts in TEXTS.items()}
    before: dict[tuple[str, str], Remembered] = {}
    past: dict[str, bytes] = {}
    for changes in [[], [], *edits]:
        for path, text in changes:
            if text is None:
                now.pop(path, None)
            else:
                now[path] = text
        files = Files(now)
        paths = sorted(now)
        memory = Remembering(files, before)
        past |= {name_of(data): data for data in files.data.values()}
        index = Index(files, noting=True)
        index.past = past.get
        assert plan(paths, files, OPTIONS, fix=fix, memory=memory, index=index) == plan(paths, files, OPTIONS, fix=fix)


def test_mutant_a_directory_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The property fails where what is in a directory counts as unchanged."""
    monkeypatch.setattr(dependencies, "entries", lambda reader, directory: "the same")
    monkeypatch.setattr(indexes, "entries", dependencies.entries)
    with pytest.raises(AssertionError):
        test_remembered_equals_looked_at_anew()


def test_mutant_facts_are_never_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it hold where facts of a changed file count as those before."""
    monkeypatch.setattr(Fact, "told", lambda self, index, identity: None)
    with pytest.raises(AssertionError):
        test_remembered_equals_looked_at_anew()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("program", ["/workspace/app/train.py", "//train.py", "/train.py", "../../train.py", "a//b.py"])
def test_programs_that_lie_elsewhere(tmp_path: Path, program: str) -> None:
    root = repository(tmp_path / "r", {"train.py": PARSED, "run.sh": f"python {program} --precision 16\n"})
    surroundings = {"FIXER_CACHE_DIR": str(tmp_path / "cache")}
    expected = fixer("check", "--format", "json", "--no-cache", at=root, environment=surroundings, real=True)
    for _ in range(2):
        found = fixer("check", "--format", "json", at=root, environment=surroundings, real=True)
        assert (found.code, found.out) == (expected.code, expected.out)


def test_a_second_look_asks_and_does_not_look() -> None:
    files = Files({path: texts[0] for path, texts in TEXTS.items()})
    before: dict[tuple[str, str], Remembered] = {}
    plan(files.files(), files, OPTIONS, fix=False, memory=Remembering(files, before))
    again = Remembering(files, before)
    plan(files.files(), files, OPTIONS, fix=False, memory=again)
    assert again.used == len(before) == len(TEXTS)
    asked = set().union(*(_asked(each) for each in before.values()))
    assert {Fact("base.py", "classes", "Base"), Packaging()} <= asked
    assert any(isinstance(question, Holding) for question in asked)


def test_what_others_had_to_ask_counts_for_all() -> None:
    files = Files({"base.py": TEXTS["base.py"][1], "net.py": NET, "net2.py": NET})
    before: dict[tuple[str, str], Remembered] = {}
    plan(files.files(), files, OPTIONS, fix=False, memory=Remembering(files, before))
    first, second = (_asked(before[path, name_of(NET.encode())]) for path in ("net.py", "net2.py"))
    assert {Fact("base.py", "classes", "Base"), Content("base.py")} & first & second  # a finding names a place in it


def _asked(remembered: Remembered) -> set[Question]:
    """The questions that led to a result, those that led to others as well left out."""
    asked = remembered.asked
    packs = [pack for pack, _ in asked.answers]
    packs += [pack for _, _, some in asked.by_file for pack in some]
    packs += [pack for _, _, some in asked.by_directory for pack, _ in some]
    return set(map(unpacked, packs))


SOME = (Skip("a.py", SkipReason.UNREADABLE, "no"), (packed(Content("b.py")), packed(Holding("", (b"x",), (".py",)))))


class TestFile:
    def test_nothing_is_known(self, tmp_path: Path) -> None:
        assert Cache(tmp_path).results([b"k"]) == {}
        assert Cache(tmp_path).innocent(b"g") == frozenset()

    def test_kept_and_found(self, tmp_path: Path) -> None:
        Cache(tmp_path).keep([(b"k", SOME)], [])
        assert Cache(tmp_path).results([b"k", b"l"]) == {b"k": SOME}
        Cache(tmp_path).keep_innocent(b"g", frozenset({b"a" * 20, b"b" * 20}))
        assert Cache(tmp_path).innocent(b"g") == {b"a" * 20, b"b" * 20}

    def test_results_are_kept_with_what_was_asked(self, tmp_path: Path) -> None:
        asked = Answered(
            ((packed(Content("b.py")), "1"),),
            (("c.py", "2", (packed(Fact("c.py")),)),),
            (("", "3", ((packed(Existence("d.py")), ""),)),),
        )
        result = Remembered("a.py", True, (), (), (), (), (), asked)
        Cache(tmp_path).keep([(b"k", (result, (b"further",)))], [])
        assert repr(Cache(tmp_path).results([b"k"])) == repr({b"k": (result, (b"further",))})

    def test_what_a_process_holds_is_not_read_again(self, tmp_path: Path) -> None:
        held: dict[bytes, object] = {}
        one = Cache(tmp_path, held)
        one.keep([(b"k", SOME), (b"l", SOME)], [])
        assert one.results([b"k"]) == held == {b"k": SOME}
        with sqlite3.connect(one.file) as database:
            database.execute("DELETE FROM results")
        assert Cache(tmp_path, held).results([b"k", b"l"]) == {b"k": SOME}

    def test_use_is_noted_once_a_day(self, tmp_path: Path) -> None:
        one = Cache(tmp_path)
        one.keep([(b"k", SOME), (b"l", SOME)], [])
        now = time.time()
        with sqlite3.connect(one.file) as database:
            database.execute("UPDATE results SET used = ? WHERE key = ?", (int(now - LATELY - 60), b"k"))
            database.execute("UPDATE results SET used = ? WHERE key = ?", (int(now - LATELY + 60), b"l"))
        one = Cache(tmp_path)
        one.keep([], one.results([b"k", b"l"]))
        with sqlite3.connect(one.file) as database:
            noted = dict(database.execute("SELECT key, used FROM results"))
        assert noted[b"k"] >= int(now) and noted[b"l"] == int(now - LATELY + 60)

    def test_a_damaged_entry_is_unknown(self, tmp_path: Path) -> None:
        one = Cache(tmp_path)
        one.keep([(b"k", SOME), (b"l", SOME)], [])
        with sqlite3.connect(one.file) as database:
            database.execute("UPDATE results SET value = x'00' WHERE key = ?", (b"k",))
        assert Cache(tmp_path).results([b"k", b"l"]) == {b"l": SOME}

    def test_no_code_comes_out_of_it(self, tmp_path: Path) -> None:
        class Evil:
            def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
                return os.system, ("touch evil",)

        one = Cache(tmp_path)
        one.keep([], [])
        with sqlite3.connect(one.file) as database:
            value = zlib.compress(pickle.dumps(Evil()))
            database.execute("INSERT INTO results VALUES (?, ?, 0)", (b"k", value))
        assert Cache(tmp_path).results([b"k"]) == {}
        assert not Path("evil").exists()

    @pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 500])
    def test_a_damaged_file_is_made_anew(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / cache.FILE).write_bytes(content)
        Cache(tmp_path).keep([(b"k", SOME)], [])
        assert Cache(tmp_path).results([b"k"]) == {b"k": SOME}

    def test_a_place_that_cannot_be_written_is_no_trouble(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        nowhere = Cache(tmp_path / "file" / "below")
        nowhere.keep([(b"k", SOME)], [])
        nowhere.keep_innocent(b"g", frozenset({b"a" * 20}))
        assert nowhere.results([b"k"]) == {}

    def test_it_does_not_grow_for_ever(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cache, "LARGEST", 4_000)
        one = Cache(tmp_path)
        for number in range(100):
            one.keep([(b"%d" % number, SOME)], [])
        with sqlite3.connect(one.file) as database:
            (size,) = database.execute("SELECT sum(length(value)) FROM results").fetchone()
        assert 0 < size <= 4_000

    def test_two_processes_at_once(self, tmp_path: Path) -> None:
        code = (
            "import sys; from pathlib import Path; from fixer.run.cache import Cache\n"
            "for n in range(60): Cache(Path(sys.argv[1])).keep([(b'%s%d' % (sys.argv[2].encode(), n), [n])], [])"
        )
        running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in ("a", "b")]
        assert [each.wait() for each in running] == [0, 0]
        keys = [b"%s%d" % (name, number) for name in (b"a", b"b") for number in range(60)]
        assert len(Cache(tmp_path).results(keys)) == 120

    def test_a_file_that_another_process_has_just_made_is_waited_for(self, tmp_path: Path) -> None:
        other = sqlite3.connect(tmp_path / cache.FILE, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")  # while this lasts, SQLite refuses to change to a log, and does not wait
        threading.Timer(0.2, other.execute, ["COMMIT"]).start()
        one = Cache(tmp_path)
        one.keep([(b"k", SOME)], [])
        assert one.results([b"k"]) == {b"k": SOME}


def said(at: Path, *options: str) -> str:
    """What a check with the cache beside the project says."""
    select = ("--select", "PL001,AMP,CKP001,PL101,HF003")
    environment = {"FIXER_CACHE_DIR": str(at.parent / "cache")}
    done = fixer("check", "--format", "json", *select, *options, at=at, environment=environment, real=True)
    assert done.code == 1, done.err
    return done.text


class TestCommand:
    """The command with a cache says what it says without one, in any state of a repository."""

    def test_after_each_change(self, tmp_path: Path) -> None:
        many = {f"more/m{number}.py": f"x = {number}\n" for number in range(60)}
        at = repository(tmp_path / "project", {**{path: texts[0] for path, texts in TEXTS.items()}, **many})
        changes: list[tuple[str, str | None]] = [("", ""), ("base.py", TEXTS["base.py"][1]), ("teacher.py", None)]
        changes += [("requirements.txt", "torch==2.13.0\n"), ("new.py", OLD), ("loop.py", LOOP + "# fixer: ignore\n")]
        for path, text in changes:
            if text is None:
                (at / path).unlink()
            elif path:
                write(at, {path: text})
            anew = said(at, "--no-cache")
            assert said(at) == anew
            assert said(at) == anew
            assert said(at, "--jobs", "2") == anew
        git("add", "-A", at=at)
        git("commit", "-qm", "all", at=at)
        assert said(at) == said(at) == said(at, "--no-cache")

    def test_where_it_is_and_how_to_be_rid_of_it(self, tmp_path: Path) -> None:
        environment = {"FIXER_CACHE_DIR": str(tmp_path / "c")}
        assert fixer("cache", "dir", at=tmp_path, environment=environment).text == f"{tmp_path / 'c'}\n"
        Cache(tmp_path / "c").keep([(b"k", SOME)], [])
        assert fixer("cache", "clear", at=tmp_path, environment=environment).code == 0
        assert not any((tmp_path / "c").iterdir())


class TestWhole:
    """The plan of all files together is kept only if it may be trusted to be the same next time."""

    @pytest.mark.parametrize(
        ("skips", "changed", "kept"),
        [
            pytest.param((), False, True, id="nothing happened"),
            pytest.param((Skip("a.py", SkipReason.UNPARSABLE, "why"),), False, True, id="a file is not for us"),
            pytest.param((Skip("a.py", SkipReason.RULE_FAILED, "why"),), False, False, id="a rule or a worker died"),
            pytest.param((), True, False, id="something was written"),
        ],
    )
    def test_kept(self, tmp_path: Path, skips: tuple[Skip, ...], changed: bool, kept: bool) -> None:
        (tmp_path / "a.py").write_bytes(b"old()\n")
        task = Task(Order(WorkTree(tmp_path), ()), ("a.py",))
        past = Past(Cache(tmp_path / "cache"), task)
        file = FilePlan("a.py", b"old()\n", b"new()\n" if changed else b"old()\n", ())
        past.keep_whole(Plan(files=(file,), skips=skips))
        again = Past(Cache(tmp_path / "cache"), task).whole(fix=False)
        assert again == (Plan(files=(file,), skips=skips) if kept else None)


class TestNames:
    @pytest.fixture
    def tracked(self, tmp_path: Path) -> Path:
        for path in ("a.py", "b.py", "c.py"):
            (tmp_path / path).write_text(f"# {path}\n")
        self.git(tmp_path, "init", "-q")
        self.git(tmp_path, "add", "a.py", "b.py")
        return tmp_path

    @staticmethod
    def git(at: Path, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=at, check=True)

    def test_of_tracked_files_that_are_as_git_knows_them(self, tracked: Path) -> None:
        found = known(tracked)
        assert found.unchanged == {path: name_of(f"# {path}\n".encode()) for path in ("a.py", "b.py")}
        assert found.paths == ("a.py", "b.py", "c.py")

    def test_changed_gone_and_assumed(self, tracked: Path) -> None:
        self.git(tracked, "update-index", "--assume-unchanged", "b.py")
        assert set(known(tracked).unchanged) == {"a.py"}
        (tracked / "a.py").write_text("# another\n")
        assert known(tracked).unchanged == {}
        (tracked / "a.py").unlink()
        assert known(tracked).unchanged == {}
        assert known(tracked).paths == ("a.py", "b.py", "c.py")

    def test_a_name_that_looks_like_an_answer(self, tracked: Path) -> None:
        odd = "H 100644 abc 0\tc.py"
        (tracked / odd).write_text("x\n")
        self.git(tracked, "add", odd)
        assert known(tracked).unchanged[odd] == name_of(b"x\n")
        assert "c.py" not in known(tracked).unchanged

    def test_links_are_no_regular_files(self, tracked: Path) -> None:
        (tracked / "link.py").symlink_to("c.py")
        self.git(tracked, "add", "link.py")
        assert "link.py" in known(tracked).paths and "link.py" not in known(tracked).unchanged

    def test_nothing_is_sure_where_git_converts(self, tracked: Path) -> None:
        assert bends(tracked, [b"*.py text=auto\n"])
        assert not bends(tracked, [b"*.py linguist-vendored\n"])
        self.git(tracked, "config", "core.autocrlf", "true")
        assert bends(tracked, [])

    def test_where_there_is_no_repository(self, tmp_path: Path) -> None:
        with pytest.raises(Refusal, match="git cannot list the files"):
            known(tmp_path)

    def test_where_git_is_gone(self, tracked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "")
        with pytest.raises(Refusal, match=r"git cannot list the files .*: git cannot be run"):
            known(tracked)
        with pytest.raises(Refusal, match=r"git cannot list the files .*: git cannot be run"):
            known_among(tracked, ["a.py"])


def test_the_index_takes_the_word_of_who_knows() -> None:
    index = Index(Files({"a.py": "x\n"}))
    question = Holding("", (b"x",), (".py",))
    assert index.holding("", (b"x",), (".py",)) == ("a.py",)
    other = Index(Files({"a.py": "x\n"}))
    other.searched = {question: ("b.py",)}.get
    assert other.holding("", (b"x",), (".py",)) == ("b.py",)
    assert other.holding("", (b"y",), (".py",)) == ()


class TestDirectory:
    def test_the_one_that_was_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FIXER_CACHE_DIR", "some/where")
        assert cache_directory.directory() == Path("some/where")

    @pytest.mark.skipif(sys.platform != "linux", reason="the directories of the XDG specification")
    def test_the_users(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("FIXER_CACHE_DIR", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", "/somebody/.cache")
        assert cache_directory.directory() == Path("/somebody/.cache/fixer")

    def test_without_a_home_nothing_is_written_into_the_repository(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("FIXER_CACHE_DIR", "XDG_CACHE_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as it answers where nobody knows the user
        monkeypatch.chdir(tmp_path)
        place = cache_directory.directory()
        assert rule_index.rule_infos.__wrapped__(place)
        Cache(place).keep([(b"key", 1)], [])
        assert list(tmp_path.iterdir()) == []


def test_readers_say_what_is_in_a_directory(tmp_path: Path) -> None:
    """Those that list none are asked for each file."""
    root = repository(tmp_path / "p", {"a.py": "x = 1\n", "b/c.py": ""})
    (tmp_path / "out.py").touch()
    (root / "out.py").symlink_to(tmp_path / "out.py")
    (root / "again").symlink_to(root / "b")
    tree = WorkTree(root)
    assert sorted(tree.names_in("") or ()) == [".git", "a.py", "again", "b"]
    assert (tree.names_in("b"), tree.names_in("again"), tree.names_in("no")) == (["c.py"], None, [])
    with Repository.open(root) as opened:
        assert dependencies.entries(opened.files(opened.commit("HEAD") or ""), "b") == ""
        assert dependencies.entries(tree, "b") != dependencies.entries(tree, "no")


def test_a_row_of_a_table_is_part_of_the_program(tmp_path: Path) -> None:
    """A warm run says what a changed row says, and looks for a name that a row was added for."""
    for package in ("codemods", "fixer"):
        source = Path(__file__).parents[1] / package
        shutil.copytree(source, tmp_path / "program" / package, ignore=shutil.ignore_patterns("__pycache__"))
    source = "from transformers import TrainingArguments\nTrainingArguments({}=True)\n"
    repository(tmp_path / "r", {"a.py": source.format("no_cuda"), "b.py": source.format("no_metal")})
    table = tmp_path / "program/codemods/frameworks/tables/transformers.toml"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "program"), "FIXER_CACHE_DIR": str(tmp_path / "cache")}

    def found() -> list[str]:
        command = (sys.executable, "-m", "fixer", "check", "--select", "HF007", "--format", "json")
        run = subprocess.run(command, cwd=tmp_path / "r", env=environment, capture_output=True, text=True, check=False)
        return [each["message"] for each in json.loads(run.stdout)["findings"]]

    before = found()
    assert len(before) == 1 and "`use_cpu`" in before[0] and found() == before
    row = next(line for line in table.read_text(encoding="utf-8").splitlines() if line.startswith("no_cuda = "))
    changed = row.replace('"use_cpu"', '"use_processor"')
    added = row.replace("no_cuda = ", "no_metal = ").replace('"use_cpu"', '"use_no_metal"')
    table.write_text(table.read_text(encoding="utf-8").replace(row, f"{changed}\n{added}"), encoding="utf-8")
    after = found()
    assert len(after) == 2 and "`use_processor`" in after[0] and "`use_no_metal`" in after[1] and found() == after
