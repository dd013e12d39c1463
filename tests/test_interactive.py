"""`apply --interactive`: keys and what comes of them, and that the command it ends with does the same."""

from __future__ import annotations

import os
import select
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_undo import contents
from world import CHECKOUT, LONG, PLUGIN, SURROUNDINGS, Result, fixer, in_the_foreground, write

from fixer.cli import interactive

PROJECT = {"a.py": "old_one(1)\nold_one(2)\n", "b.py": "old_two(3)\nold_four(1)\n", "c.py": "old_three(4)\n"}
ASKED = ["a.py:1:1: OLD001", "a.py:2:1: OLD001", "b.py:1:1: OLD002"]
"""What is asked about, in this order."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "project", PROJECT)


def answered(keys: str, *arguments: str, at: Path, monkeypatch: pytest.MonkeyPatch, real: bool = False) -> Result:
    """Run it with these keys; afterwards the terminal is gone."""
    left = iter(keys)

    @contextmanager
    def typed() -> Iterator[interactive.Keys]:
        yield lambda: next(left, "")

    with monkeypatch.context() as patch:
        patch.setattr(interactive, "keys", typed)
        patch.setattr(interactive, "has_terminal", lambda: True)
        return fixer("apply", *arguments, at=at, real=real)


def changed(root: Path) -> str:
    """The lines of the project that are not as they were."""
    lines = []
    for name, text in PROJECT.items():
        lines += [
            f"{name}:{new}"
            for old, new in zip(text.split("\n"), (root / name).read_text().split("\n"), strict=True)
            if old != new
        ]
    return " ".join(lines)


@pytest.mark.parametrize(
    ("keys", "result"),
    [
        ("nnn", ""),
        ("ynn", "a.py:new_one(1)"),
        ("nyn", "a.py:new_one(2)"),
        ("nny", "b.py:old_one(3)"),  # what this leads to was not asked about
        ("yyy", "a.py:new_one(1) a.py:new_one(2) b.py:old_one(3)"),
        ("an", "a.py:new_one(1) a.py:new_one(2)"),
        ("nay", "a.py:new_one(2) b.py:old_one(3)"),
        ("ynun" + "n", "a.py:new_one(1)"),  # the second is asked about again
        ("yuunnn", ""),
        ("aunyn", "a.py:new_one(2)"),
        ("xY?\x1bynn", "a.py:new_one(1)"),  # other keys list the keys
        ("q", ""),
        ("yqy", "a.py:new_one(1)"),
        ("yqxn", ""),
        ("yq", ""),
        ("y\x04y", "a.py:new_one(1)"),
        ("", ""),
        ("y", ""),
    ],
)
def test_keys(project: Path, monkeypatch: pytest.MonkeyPatch, keys: str, result: str) -> None:
    done = answered(keys, "-i", at=project, monkeypatch=monkeypatch)
    assert (done.code, changed(project)) == (0, result)
    assert ("note: nothing was accepted, so nothing was written\n" in done.err) == (not result)


def test_what_is_shown(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = answered("?nnq", "--interactive", at=project, monkeypatch=monkeypatch).err
    assert [line for line in shown.splitlines() if " of 3: " in line] == [
        f"{number} of 3: {place} [deprecated] `{name}()` is old"
        for number, (place, name) in enumerate(zip(ASKED, ("old_one", "old_one", "old_two"), strict=True), start=1)
    ]
    first = shown.partition("2 of 3")[0]
    assert "1 | old_one(1)\n" in first and "-old_one(1)\n+new_one(1)\n old_one(2)\n" in first
    assert "Fix it? [y n a e q ?] ?\n  y  fix it\n  n  leave it\n" in first
    assert "  a  fix this one and all that follow of OLD001\n" in first
    assert "strategy" not in shown.partition("3 of 3")[2]


SCALERS = "from torch.cuda.amp import GradScaler\n\na = GradScaler()\nb = GradScaler()\n"
GUARDED = '(\n    torch.amp.GradScaler("cuda")\n    if hasattr(torch.amp, "GradScaler")\n    else GradScaler()\n)\n'
RENAMED = 'torch.amp.GradScaler("cuda")\n'


@pytest.mark.parametrize(
    ("keys", "first", "second", "strategy"),
    [
        ("s2yn", GUARDED, "GradScaler()\n", "AMP002=version-guard"),
        ("s9yn", RENAMED, "GradScaler()\n", ""),
        ("sxyn", RENAMED, "GradScaler()\n", ""),
        ("s2s1yn", RENAMED, "GradScaler()\n", "AMP002=rename"),
        ("ys2y", GUARDED, GUARDED, "AMP002=version-guard"),  # for what was accepted, too
    ],
)
def test_another_strategy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str, first: str, second: str, strategy: str
) -> None:
    root = write(tmp_path, {"a.py": SCALERS})
    done = answered(keys, "-i", "--target", "torch=2.4", at=root, monkeypatch=monkeypatch, real=True)
    written = (root / "a.py").read_text()
    assert written.partition("a = ")[2] == f"{first}b = {second}"
    assert "\nstrategy rename of rename, version-guard, try-import\n" in done.err
    assert "\n1 rename  2 version-guard  3 try-import\nWhich one, for all that you accept of AMP002? [1-3] " in (
        done.err if "s" in keys else ""
    )
    assert (f" --strategy {strategy} " in done.err) == bool(strategy)


def test_a_strategy_that_is_unsafe_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below torch 2.3 there is no `torch.amp.GradScaler`: `rename` needs it."""
    root = write(tmp_path, {"a.py": SCALERS, "requirements.txt": "torch>=2.0\n"})
    options = ("-i", "--strategy", "AMP002=version-guard")
    done = answered("s1q", *options, at=root, monkeypatch=monkeypatch, real=True)
    assert "\nrename cannot be taken here: it needs --unsafe-fixes\n" in done.err
    assert done.err.count("strategy version-guard of rename, version-guard, try-import\n") == 2


@pytest.mark.parametrize(
    ("keys", "arguments"),
    [
        ("ynn", ("-i",)),
        ("anyn", ("-i", "--unsafe-fixes")),
        ("nyyy", ("--interactive", "--unsafe-fixes", "--select", "OLD", ".")),
        ("yyn", ("-i", "--strategy", "OLD001=rename", "--", "a.py", "b.py")),
    ],
)
def test_the_command_at_the_end_does_the_same(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str, arguments: tuple[str, ...]
) -> None:
    twin = write(tmp_path / "twin", PROJECT)
    done = answered(keys, *arguments, at=project, monkeypatch=monkeypatch)
    (command,) = (line for line in done.err.splitlines() if line.startswith("note: the same without questions: "))
    words = shlex.split(command.partition("questions: ")[2])
    assert words[:3] == ["fixer", "apply", "--only"] and not {"-i", "--interactive"} & set(words)
    assert fixer(*words[1:], at=twin).out == done.out
    assert contents(twin) == contents(project) != contents(write(tmp_path / "third", PROJECT))
    assert fixer("undo", at=project).code == 0
    assert contents(project) == contents(tmp_path / "third")


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ((), "fixer apply --only ab,cd --strategy OLD001=remove"),
        (("-i", "a b.py"), "fixer apply --only ab,cd --strategy OLD001=remove 'a b.py'"),
        (("-qi", "--only", "ab"), "fixer apply --only ab,cd --strategy OLD001=remove -q"),
        (("--only=ab", "--strategy=OLD001=rename", "-iv"), "fixer apply --only ab,cd --strategy OLD001=remove -v"),
        (("-j4", "--", "-i"), "fixer apply --only ab,cd --strategy OLD001=remove -j4 -- -i"),
    ],
)
def test_the_words_of_the_command(words: tuple[str, ...], command: str) -> None:
    from fixer.run.request import Request

    request = Request(only=("ab", "cd"), strategies=("OLD001=remove",))
    assert interactive.command(request, words) == command


def test_with_a_dry_run_nothing_is_written(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = answered("ynn", "-i", "--dry-run", at=project, monkeypatch=monkeypatch)
    assert (done.code, done.out.count(b"+new_one(1)"), changed(project)) == (1, 1, "")


def test_comments_can_be_asked_about(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = answered("y", "-i", "--add-ignore", "OLD004", at=project, monkeypatch=monkeypatch)
    assert changed(project) == "b.py:old_four(1)  # fixer: ignore[OLD004]"
    assert "--add-ignore OLD004" in done.err


def test_cells_of_a_notebook_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = '{"cell_type": "code", "metadata": {}, "outputs": [], "source": ["y = 1\\n", "old_one(1)"]}'
    write(tmp_path, {"n.ipynb": f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4}}'})
    done = answered("y", "-i", at=tmp_path, monkeypatch=monkeypatch)
    assert "1 of 1: n.ipynb:cell 1:2:1: OLD001" in done.err and "-old_one(1)\n+new_one(1)\n" in done.err
    assert "new_one(1)" in (tmp_path / "n.ipynb").read_text()


def test_where_there_is_nothing_to_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = answered("", "-i", at=write(tmp_path, {"a.py": "old_four(1)\n"}), monkeypatch=monkeypatch)
    assert done.code == 0 and "note: there is no fix to ask about; `fixer check` tells what was found\n" in done.err


def test_a_file_that_changes_meanwhile_is_not_written(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def typed() -> Iterator[interactive.Keys]:
        def key() -> str:
            (project / "a.py").write_text("# mine\n" + PROJECT["a.py"])
            return "y"

        yield key

    monkeypatch.setattr(interactive, "keys", typed)
    monkeypatch.setattr(interactive, "has_terminal", lambda: True)
    done = fixer("apply", "-i", at=project)
    assert (done.code, (project / "b.py").read_text()) == (2, PROJECT["b.py"])
    assert "fixer: a.py changed while you were asked; nothing was written: run fixer again\n" in done.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "--interactive asks on a terminal, and there is none: `fixer apply --dry-run` shows the patch"),
        (("--plan", "p.json"), "--interactive fixes files in place: leave --plan out"),
        (("--branch", "b"), "--interactive fixes files in place: leave --branch out"),
    ],
)
def test_what_is_refused(project: Path, arguments: tuple[str, ...], sentence: str) -> None:
    done = fixer("apply", "-i", *arguments, at=project)
    assert done.code == 2 and sentence in done.err


def editor(root: Path, program: str) -> str:
    """A program that changes the file that it is given: `text` is what the file holds, and what it is to hold."""
    script = root / "editor.py"
    script.write_text(
        f"import sys\nfrom pathlib import Path\nfile = Path(sys.argv[1])\ntext = file.read_text()\n{program}\n"
        "file.write_text(text)\nimport os\nos.utime(file, (1, 1))\n"
    )
    return f"{sys.executable} {script}"


MINE = 'text = text.replace("new_one(1)", "mine(1)")'
NOTE = "note: what you have edited (a.py:1) is repeated by no command: keep it in a commit\n"


@pytest.mark.parametrize(
    ("keys", "program", "result", "said"),
    [
        ("enn", MINE, "a.py:mine(1)", NOTE),
        ("eyn", MINE, "a.py:mine(1) a.py:new_one(2)", NOTE),
        ("eay", MINE, "a.py:mine(1) a.py:new_one(2) b.py:old_one(3)", NOTE),
        ("euynn", MINE, "a.py:new_one(1)", ""),
        ("enn", 'text = text.replace("new_one(1)", "mine(1)  #> kept")', "a.py:mine(1)  #> kept", NOTE),
        ("enn", "text = text.replace('new_one', 'one')\ntext += 'mine()'", "a.py:one(1) mine()", NOTE),
        ("enn", "pass", "a.py:new_one(1)", ""),  # as it was shown: no edit
        ("ennn", 'text = text.replace("new", "old")', "", "not taken: nothing would change\n"),
        ("ennn", 'text = ""', "", "not taken: nothing was saved\n"),
        ("ennn", "sys.exit()", "", "not taken: nothing was saved\n"),
        ("eynn", "sys.exit(3)", "a.py:new_one(1)", "Editing failed; the variable EDITOR names the editor\n"),
        ("ennn", "text += 'mine('", "", "not taken: a.py:2 would no longer parse: '(' was never closed\n"),
        (
            "ennn",
            "text = text.replace('line 1', 'line 9')",
            "",
            "not taken: the line '#> ---- a.py, instead of line 1:' is missing\n",
        ),
        ("ennn", "text = 'mine(1)'", "", "not taken: there is text above the first place: mine(1)\n"),
        ("ennn", "text = '#> only'", "", "not taken: the line '#> ---- a.py, instead of line 1:' is missing\n"),
    ],
)
def test_a_fix_is_edited(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str, program: str, result: str, said: str
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, program))
    before = contents(project)
    done = answered(keys, "-i", at=project, monkeypatch=monkeypatch)
    now = (project / "a.py").read_text().replace("one(1)\nmine()\n", "one(1) mine()\n")
    (project / "a.py").write_text(now)
    assert (done.code, changed(project)) == (0, result), done.err
    assert said in done.err and (NOTE in done.err) == (said == NOTE)
    if "mine()" in result:
        return
    assert ("the same without questions: " in done.err) == bool({"y", "a"} & set(keys) or program == "pass")
    assert fixer("undo", at=project).code == (0 if result else 2)
    assert contents(project) == before


def test_what_the_editor_opens(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, f"Path({str(tmp_path / 'seen')!r}).write_text(text)"))
    answered("eq", "-i", at=project, monkeypatch=monkeypatch)
    assert (tmp_path / "seen").read_text() == (
        "#> OLD001 `old_one()` is old\n"
        '#> Edit the lines that are to be written, and save. Lines that begin with "#>" are left out; keep\n'
        "#> those with a place. To write nothing, leave without saving, or delete everything.\n"
        "#> ---- a.py, instead of line 1:\n"
        "#> old_one(1)\n"
        "new_one(1)\n"
    )


def test_a_dry_run_shows_what_was_edited(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, MINE))
    done = answered("enn", "-i", "--dry-run", at=project, monkeypatch=monkeypatch)
    assert (done.code, changed(project)) == (1, "")
    assert "\n-old_one(1)\n+mine(1)\n old_one(2)\n" in done.text


CRLF = "from torch.cuda.amp import GradScaler, autocast\r\nx = 1\r\na = GradScaler(); b = GradScaler()"


def test_places_of_an_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two fixes of one line: the second one cannot be taken as it is, once the first was edited; line ends stay."""
    root = write(tmp_path / "project", {"a.py": CRLF})
    program = 'text = text.replace("amp.GradScaler", "amp.Mine")'
    monkeypatch.setenv("EDITOR", editor(tmp_path, program))
    monkeypatch.delenv("VISUAL", raising=False)
    done = answered("eyn", "-i", "--target", "torch=2.4", at=root, monkeypatch=monkeypatch, real=True)
    assert "it changes lines that you have edited: edit it, too (e), or leave it (n)\n" in done.err
    assert b"\r\na = torch.amp.Mine(" in (root / "a.py").read_bytes(), done.err
    assert (root / "a.py").read_bytes().count(b"\r\n") == (root / "a.py").read_bytes().count(b"\n")
    (root / "a.py").write_bytes(CRLF.encode())
    done = answered("yen", "-i", "--target", "torch=2.4", at=root, monkeypatch=monkeypatch, real=True)
    assert "not taken: it changes lines that another accepted fix changes; u takes that one back\n" in done.err


def test_what_is_no_program_is_not_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = '{"cell_type": "code", "metadata": {}, "outputs": [], "source": ["old_one(1)"]}'
    write(tmp_path, {"n.ipynb": f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4}}'})
    done = answered("eq", "-i", at=tmp_path, monkeypatch=monkeypatch)
    assert "Fix it? [y n a q ?] e\n  y  fix it\n" in done.err


class Session:
    """The command with a terminal of 80 columns."""

    def __init__(self, project: Path, environment: Mapping[str, str] | None = None) -> None:
        pty = pytest.importorskip("pty")
        import fcntl
        import struct
        import termios

        self.terminal, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(inside)
        self.inside = inside
        with in_the_foreground():
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    "import sys; sys.argv[0] = 'fixer'; from fixer.cli import main; main()",
                    "apply",
                    "-i",
                ],
                cwd=project,
                env={
                    **os.environ,
                    **SURROUNDINGS,
                    **(environment or {}),
                    "PYTHONPATH": os.pathsep.join([str(PLUGIN), str(CHECKOUT)]),
                },
                stdin=inside,
                stdout=inside,
                stderr=inside,
                start_new_session=True,
                preexec_fn=lambda: fcntl.ioctl(inside, termios.TIOCSCTTY, 0),
            )
        self.text = ""

    def until(self, words: str) -> None:
        """Read until the terminal shows these words behind what was read before."""
        start = len(self.text)
        while words not in self.text[start:]:
            assert self.process.poll() is None or select.select([self.terminal], [], [], 0)[0], self.text
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.text += os.read(self.terminal, 4096).decode()

    def type(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def end(self) -> int:
        """The exit code; the terminal must be as it was."""
        import termios

        code = self.process.wait(LONG)
        assert termios.tcgetattr(self.inside) == self.before
        os.close(self.inside)
        os.close(self.terminal)
        return code


def test_keys_that_arrive_together(monkeypatch: pytest.MonkeyPatch) -> None:
    pty = pytest.importorskip("pty")
    import termios

    terminal, inside = pty.openpty()
    before = termios.tcgetattr(inside)
    with os.fdopen(inside, "rb", closefd=False) as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", stream)
        patch.setattr(sys, "stderr", stream)
        assert interactive.has_terminal()
        with interactive.keys() as key:
            assert termios.tcgetattr(inside) != before
            os.write(terminal, "ny\u00fc\x1b[1;5Aa".encode())
            assert [key() for _ in range(4)] == ["n", "y", "\u00fc", "a"]
        assert termios.tcgetattr(inside) == before
    os.close(terminal)
    os.close(inside)


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return write(tmp_path / "plain", {"a.py": "old_one(1)\nold_one(2)\n"})


def test_on_a_real_terminal(plain: Path) -> None:
    """An arrow is no answer, keys need no Return, and several may be typed ahead."""
    session = Session(plain)
    session.until("Fix it? [y n a e q ?] ")
    session.type("\x1b[A\x1bOAny")
    session.until("the same without questions: fixer apply --only ")
    assert session.end() == 0
    assert (plain / "a.py").read_text() == "old_one(1)\nnew_one(2)\n"


def test_ctrl_c_writes_nothing(plain: Path) -> None:
    session = Session(plain)
    session.until("Fix it? ")
    session.type("y")
    session.until("Fix it? ")
    session.type("\x03")
    assert session.end() == 130
    assert (plain / "a.py").read_text() == "old_one(1)\nold_one(2)\n"


def test_an_editor_has_the_terminal(plain: Path, tmp_path: Path) -> None:
    """It reads lines as usual, with echo; afterwards keys need no Return again."""
    program = 'text = text.replace("new_one(1)", input("instead? "))'
    session = Session(plain, {"EDITOR": editor(tmp_path, program), "VISUAL": ""})
    session.until("Fix it? ")
    session.type("e")
    session.until("instead? ")
    session.type("mimic\x7f\x7f\x7fne(1)\r")
    session.until("Fix it? ")
    session.type("n")
    session.until("what you have edited (a.py:1) is repeated by no command")
    assert session.end() == 0
    assert (plain / "a.py").read_text() == "mine(1)\nold_one(2)\n"
    assert fixer("undo", at=plain).code == 0
    assert (plain / "a.py").read_text() == "old_one(1)\nold_one(2)\n"
