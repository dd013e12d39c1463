"""How git is called: in an environment that points nowhere else, with settings that run nothing of the repository's."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

LOCATION = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)
"""Variables that a hook or an alias sets for its own repository; we look at the one we were pointed at."""

HARMLESS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    "core.ignoreCase=false",
    "core.precomposeUnicode=false",
    "index.sparse=false",
    "core.quotePath=true",
    "protocol.ext.allow=never",
    "i18n.commitEncoding=utf-8",
    "user.useConfigOnly=true",
    "gc.auto=0",
)
"""Settings that keep a repository's own configuration from running programs or bending what is read and written."""


class GitFailed(Exception):
    """A git command that ended badly; the text is git's own last line."""


def forget_location() -> None:
    """Drop the variables of LOCATION from this process, so that GitPython and every child inherit a clean state."""
    for name in LOCATION:
        os.environ.pop(name, None)
    os.environ["GIT_OPTIONAL_LOCKS"] = "0"
    os.environ["GIT_TERMINAL_PROMPT"] = "0"
    os.environ["LC_ALL"] = "C.UTF-8"


def git(
    *arguments: str,
    at: Path,
    data: bytes | None = None,
    index: Path | None = None,
    seconds: float | None = None,
    variables: Mapping[str, str] | None = None,
) -> bytes:
    """Run git in the directory `at`, on its own index or another; its standard output.

    Args:
        variables: of the environment, on top of ours.

    Raises:
        GitFailed: if git is not there, ends with an error, or takes longer than `seconds`.
    """
    return begin(*arguments, at=at, data=data, index=index, seconds=seconds, variables=variables)()


def begin(
    *arguments: str,
    at: Path,
    data: bytes | None = None,
    index: Path | None = None,
    seconds: float | None = None,
    variables: Mapping[str, str] | None = None,
) -> Callable[[], bytes]:
    """The same, started now and waited for when the result is called."""
    options = [part for setting in HARMLESS for part in ("-c", setting)]
    try:
        started = subprocess.Popen(
            ["git", "--no-pager", *options, *arguments],
            cwd=at,
            env={**os.environ, **(variables or {}), **({"GIT_INDEX_FILE": str(index)} if index else {})},
            stdin=subprocess.DEVNULL if data is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise GitFailed(f"git cannot be run: {error.strerror}") from error

    def answer() -> bytes:
        with started:
            try:
                said, complaint = started.communicate(data, timeout=seconds)
            except subprocess.TimeoutExpired as error:
                started.kill()
                raise GitFailed(f"git {arguments[0]} was not answered within {seconds:g} seconds") from error
            except BaseException:
                started.kill()
                raise
        if started.returncode:
            message = complaint.decode("utf-8", "replace").strip()
            message = message.removeprefix("fatal: ").removeprefix("error: ")
            raise GitFailed(message or f"git ended with {started.returncode}")
        return said

    return answer


def top(directory: Path) -> Path | None:
    """The root of the work tree that `directory` lies in; None outside of one (or where git will not say).

    A repository may claim a work tree elsewhere (`core.worktree`); that is not where we were asked to work.
    """
    try:
        answer = git("rev-parse", "--show-toplevel", at=directory)
    except GitFailed:
        return None
    root = Path(os.fsdecode(answer.removesuffix(b"\n")))
    return root if directory.resolve().is_relative_to(root) else None
