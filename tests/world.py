"""Running `fixer` as a person does, in directories and repositories made for a test."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

PLUGIN = Path(__file__).parent / "plugin"
CHECKOUT = Path(__file__).parents[1]
SURROUNDINGS = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "NO_COLOR": "1",
    "TERM": "xterm",
}


LONG = 600.0
"""Seconds that nothing takes, however busy the machine is."""


@dataclass(frozen=True)
class Result:
    """What a command answered."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


def fixer(*arguments: str, at: Path, environment: Mapping[str, str] | None = None, real: bool = False) -> Result:
    """Run the command in this process, with the four rules of `plugin/old_calls.py`, or with the real ones."""
    from codemods import transforms
    from codemods.engine.prefilter import RuleInfo
    from fixer import cli
    from fixer.cli import skeleton
    from fixer.output import commits
    from fixer.run import planning, rule_index

    with ExitStack() as stack:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            stack.callback(signal.signal, number, signal.getsignal(number))
        stack.enter_context(mock.patch.object(sys, "path", [str(PLUGIN), *sys.path]))
        from old_calls import RULES  # type: ignore[import-not-found]

        for module in () if real else (transforms, commits, skeleton):
            stack.enter_context(mock.patch.object(module, "load", lambda: RULES))
        if not real:
            for module in (planning, rule_index):
                stack.enter_context(mock.patch.object(module, "rule_infos", lambda _: tuple(map(RuleInfo.of, RULES))))
        stack.enter_context(mock.patch.dict(os.environ, {**SURROUNDINGS, **(environment or {})}))
        stack.enter_context(standing_in(at))
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        stack.enter_context(mock.patch.multiple(sys, stdout=out, stderr=err, argv=["fixer", *arguments]))
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
        out.flush()
        err.flush()
        assert isinstance(out.buffer, io.BytesIO) and isinstance(err.buffer, io.BytesIO)
        return Result(code, out.buffer.getvalue(), err.buffer.getvalue().decode())


def process(*arguments: str, at: Path, environment: Mapping[str, str] | None = None) -> Result:
    """Run the command as its own process, with the plugin installed beside the real rules."""
    running = begun(*arguments, at=at, environment=environment)
    try:
        out, err = running.communicate(timeout=LONG)
    finally:
        running.kill()
    return Result(running.returncode, out, err.decode())


def begun(*arguments: str, at: Path, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """The same, while it runs."""
    started = "import sys; sys.path.pop(0); sys.argv[0] = 'fixer'; from fixer.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", started, *arguments],
        cwd=at,
        env={
            **os.environ,
            **SURROUNDINGS,
            "PYTHONPATH": os.pathsep.join([str(PLUGIN), str(CHECKOUT)]),
            **(environment or {}),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@contextmanager
def in_the_foreground() -> Iterator[None]:
    """What is started meanwhile is ended by SIGINT, as what a person starts, however the tests were started."""
    with _started_with(signal.default_int_handler):
        yield


@contextmanager
def in_the_background() -> Iterator[None]:
    """What is started meanwhile ignores SIGINT at first, as what a script starts with `&`."""
    with _started_with(signal.SIG_IGN):
        yield


Surroundings = Callable[[], AbstractContextManager[None]]


@contextmanager
def _started_with(handler: Callable[..., object] | signal.Handlers) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, handler), signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        yield
    finally:
        for number, old in zip((signal.SIGINT, signal.SIGHUP), before, strict=True):
            signal.signal(number, old)


@contextmanager
def standing_in(place: Path) -> Iterator[None]:
    """Change the current directory for a while."""
    before = Path.cwd()
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(before)


def wait_until(condition: Callable[[], object]) -> None:
    """Look again and again until it is so."""
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Files below `root`, by path."""
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def git(*arguments: str, at: Path, data: bytes | None = None) -> str:
    """Git's answer, without the last line end."""
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=at,
        env={**os.environ, **SURROUNDINGS},
        input=data,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr.decode()}"
    return os.fsdecode(done.stdout).removesuffix("\n")


def repository(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """A repository on the branch `main` with one commit that holds `files`."""
    root.mkdir(parents=True, exist_ok=True)
    git("init", "-q", "-b", "main", at=root)
    write(root, files)
    git("add", "-A", at=root)
    git("commit", "-q", "-m", "start", at=root)
    return root


def checkout_state(root: Path) -> dict[str, object]:
    """All that a person would notice: HEAD, the index byte for byte, every file with its mode."""
    directory = Path(git("rev-parse", "--absolute-git-dir", at=root))
    index = directory / "index"
    files = {
        str(file.relative_to(root)): (file.readlink() if file.is_symlink() else file.read_bytes(), file.lstat().st_mode)
        for file in sorted(root.rglob("*"))
        if ".git" not in file.relative_to(root).parts and not file.is_dir()
    }
    return {
        "HEAD": (directory / "HEAD").read_bytes(),
        "index": index.read_bytes() if index.exists() else None,
        "files": {} if root == directory else files,
    }
