"""Everyday runs: nothing has changed, one comment, one function, one base class; one file; fifteen files."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks import planted
from benchmarks.corpora import git, python_files
from benchmarks.measure import Contestant, once
from benchmarks.pins import LARGE, SMALL
from benchmarks.setting import Goal, Row, Setting

Change = Callable[[str, int], str]
"""The text of a file for the run of a number."""

COMMENTED = {SMALL: "timm/models/_registry.py", LARGE: "transformers/utils/generic.py"}
"""Files that others import much from."""
BASES = {
    SMALL: ("timm/layers/mlp.py", "class Mlp(nn.Module):", "class Mlp(nn.Module, {}):"),
    LARGE: ("transformers/modeling_utils.py", "class ModuleUtilsMixin:", "class ModuleUtilsMixin({}):"),
}
"""Classes with descendants in other files: the file, how the class begins, and with a base more."""
WARM = {SMALL: Goal(0.7), LARGE: Goal(0.25)}


def commented(text: str, number: int) -> str:
    """A comment on top."""
    return f"# run {number}\n{text}"


def extended(text: str, number: int) -> str:
    """A new function at the end."""
    return f"{text}\n\ndef added_in_run_{number}(x):\n    return x\n"


def rebased(begins: str, begun: str) -> Change:
    """A class with a base more, of another name each time."""

    def changed(text: str, number: int) -> str:
        assert begins in text, begins
        base = f"Added{number}"
        return text.replace(begins, f"class {base}:\n    pass\n\n\n{begun.format(base)}", 1)

    return changed


def editing(at: Path, name: str, change: Change) -> Callable[[], None]:
    """Makes a change to a committed file that no earlier run has met."""
    git("checkout", "-q", "--", name, at=at)
    original, numbers = (at / name).read_text(), count(time.time_ns())

    def edit() -> None:
        (at / name).write_text(change(original, next(numbers)))

    return edit


def warm(package: str, setting: Setting) -> Row:
    """Nothing has changed since the last check."""
    ours, title = _known(setting, package)
    theirs = setting.ruff(ours.at, cached=True, rules=())
    once(theirs, setting.environment)
    return Row(f"warm-{package}", f"warm check, nothing changed, {title}", ours, theirs, WARM[package])


def comment(package: str, setting: Setting) -> Row:
    """A comment in a file that others import from, beside the same run again."""
    known, title = _known(setting, package)
    name = COMMENTED[package]
    ours = _after_edits(known, name, commented)
    return Row(f"comment-{package}", f"warm check, a comment on top of `{name}`, {title}", ours, known, Goal(1.3))


def function(package: str, setting: Setting) -> Row:
    """A new function in a file that others import from, beside a cold check."""
    known, title = _known(setting, package)
    name = COMMENTED[package]
    ours, cold = _after_edits(known, name, extended), setting.check(known.at)
    return Row(f"function-{package}", f"warm check, a new function in `{name}`, {title}", ours, cold)


def base_class(package: str, setting: Setting) -> Row:
    """Another base of a class that classes of other files descend from, beside a cold check."""
    known, title = _known(setting, package)
    name, begins, begun = BASES[package]
    ours, cold = _after_edits(known, name, rebased(begins, begun)), setting.check(known.at)
    title = f"warm check, another base of a class in `{name}`, {title}"
    return Row(f"base-class-{package}", title, ours, cold, Goal(0.2))


def one_innocent_file(setting: Setting) -> Row:
    """A file that no rule concerns."""
    ours = setting.check(setting.corpora.fifteen, planted.INNOCENT_FILE, cached=True)
    return Row("one-file", "check of one file without candidates", ours, setting.version, Goal(1.5))


def one_wrong_file(setting: Setting) -> Row:
    """A file with a finding, edited since the last check."""
    plain = setting.check(setting.corpora.fifteen, planted.WRONG_FILE, cached=True)
    ours = _after_edits(plain, planted.WRONG_FILE, commented)
    return Row("one-wrong-file", "check of one edited file with a finding", ours, setting.version, Goal(4.0))


def fifteen_files(setting: Setting) -> Row:
    """A small repository, as the first check finds it."""
    ours = setting.check(setting.corpora.fifteen)
    return Row("fifteen", "cold check of a repository of 15 files, 5 of them wrong", ours, setting.version, Goal(5.0))


def _after_edits(plain: Contestant, name: str, change: Change) -> Contestant:
    return Contestant(f"{plain.name} after an edit", plain.command, plain.at, before=editing(plain.at, name, change))


def _known(setting: Setting, package: str) -> tuple[Contestant, str]:
    """The check of a repository that was checked before, and how to call it."""
    at = setting.corpora.alone[package]
    ours = setting.check(at, cached=True)
    once(ours, setting.environment)
    return ours, f"{package} ({python_files(at):,} files)"


ROWS: dict[str, Callable[[Setting], Row]] = {
    **{f"warm-{package}": partial(warm, package) for package in (SMALL, LARGE)},
    **{f"comment-{package}": partial(comment, package) for package in (SMALL, LARGE)},
    **{f"function-{package}": partial(function, package) for package in (SMALL, LARGE)},
    **{f"base-class-{package}": partial(base_class, package) for package in (SMALL, LARGE)},
    "one-file": one_innocent_file,
    "one-wrong-file": one_wrong_file,
    "fifteen": fifteen_files,
}
