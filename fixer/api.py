"""The Python interface: what `fixer check`, `fixer apply` and `fixer undo` do, as functions that return the plan.

    import fixer

    for finding in fixer.check("src", targets={"torch": "2.4"}).findings:
        print(finding.path, finding.place.line, finding.code, finding.message)

Names, arguments and the fields of what is returned change by the rules of semantic versioning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from codemods.model.plan import Plan
from fixer.errors import Refusal
from fixer.output.journal import recover
from fixer.output.undo import LastApply
from fixer.project import selectors
from fixer.project.baseline import Baseline
from fixer.project.discover import root_of
from fixer.run.execute import no_progress
from fixer.run.request import Outcome, Request, plan_directory

if TYPE_CHECKING:
    from typing_extensions import Unpack


class RunOptions(TypedDict, total=False):
    """What `check` and `apply` take by name; each is what the option of the command line is."""

    select: Sequence[str]
    """Codes, prefixes of codes, or consequences (`silent`, `raises` …); by default all."""
    ignore: Sequence[str]
    unsafe_fixes: bool
    """Whether unsafe fixes are wanted; by default as the configuration says."""
    strategies: Mapping[str, str]
    """How rules repair, by code: `{"AMP001": "hoist"}`."""
    targets: Mapping[str, str]
    """Versions in use, by package: `{"torch": "2.4"}`."""
    exclude: Sequence[str]
    config: str
    """A file with settings, instead of the nearest."""
    isolated: bool
    """Ignore all configuration files."""
    since: str
    """A commit: only what has changed since counts."""
    only: Sequence[str]
    """Fingerprints, or how they begin: only these findings count."""
    baseline: str | PathLike[str]
    """A file of `fixer check --write-baseline`, relative to `root`: findings that it names do not count."""
    jobs: int
    """Processes, by default one; 0 means one for each processor. With several, guard the start of your program by
    `if __name__ == "__main__":`, as `multiprocessing` asks."""
    cache: bool
    """Look for what was found before, and keep what is found; by default yes."""


def check(*paths: str | PathLike[str], root: str | PathLike[str] = ".", **options: Unpack[RunOptions]) -> Plan:
    """What the rules find. Nothing is written.

    Args:
        paths: files and directories, relative to `root`; by default all of it.
        root: where the person would stand.
        options: see `RunOptions`.

    Raises:
        Refusal: if an argument or the configuration cannot be understood, or a path cannot be looked at.
    """
    return _outcome(paths, root, options, fix=False).plan


def apply(
    *paths: str | PathLike[str],
    root: str | PathLike[str] = ".",
    dry_run: bool = False,
    **options: Unpack[RunOptions],
) -> Plan:
    """Fix files in place; the plan tells which findings were repaired (`applied`) and what the files hold now.

    A file that has changed since it was read is left as it is, and in the plan's `skips`. What was written can be taken
    back once, by `undo` or `fixer undo`.

    Args:
        dry_run: write nothing; the plan is the same.

    The other arguments, and what is raised, are those of `check`.
    """
    if not dry_run:
        recover(root_of([str(Path(path)) for path in paths], Path(root)))
    outcome = _outcome(paths, root, options, fix=True)
    if dry_run:
        return outcome.plan
    written, skips, _ = LastApply(outcome.root).write(outcome.plan)
    return outcome.after_writing(written, skips).plan


def undo(*, root: str | PathLike[str] = ".") -> Plan:
    """Take back what the last `apply` wrote; the plan tells what the files hold now.

    A file that has changed since is left as it is, and in the plan's `skips`; it can be taken back later.

    Args:
        root: the `root` of that `apply`, or a directory below the same repository.

    Raises:
        Refusal: if there is nothing to take back.
    """
    place = root_of((), Path(root))
    recover(place)
    last = LastApply(place)
    fitted = last.fitted()
    restored, skips = last.undo(fitted)
    files = tuple(file for file in fitted.plan.files if file.path in restored)
    return replace(fitted.plan, files=files, skips=skips)


def _outcome(
    paths: Sequence[str | PathLike[str]], root: str | PathLike[str], options: RunOptions, *, fix: bool
) -> Outcome:
    if unknown := sorted(options.keys() - RunOptions.__annotations__.keys()):
        raise TypeError(f"no option {unknown[0]!r}: there are {', '.join(RunOptions.__annotations__)}")
    if options.get("config") is not None and options.get("isolated"):
        raise Refusal("config and isolated contradict each other: give one of them")
    targets = (selectors.target_text(package, spec) for package, spec in options.get("targets", {}).items())
    request = Request(
        paths=tuple(str(Path(path)) for path in paths),
        select=selectors.split_codes(options.get("select", ())),
        ignore=selectors.split_codes(options.get("ignore", ())),
        unsafe_fixes=options.get("unsafe_fixes"),
        strategies=tuple(f"{code}={name}" for code, name in options.get("strategies", {}).items()),
        targets=selectors.targets(targets, "targets", "targets"),
        exclude=tuple(options.get("exclude", ())),
        jobs=options.get("jobs", 1),
        config=options.get("config"),
        isolated=options.get("isolated", False),
        since=options.get("since"),
        only=selectors.fingerprints(options.get("only", ()), "only"),
        baseline=Baseline.read(Path(root, known), str(known)) if (known := options.get("baseline")) else None,
        cache=options.get("cache", True),
    )
    outcome = plan_directory(request, Path(root).absolute(), fix=fix, progress=no_progress)
    if outcome.problems:
        raise Refusal("; ".join(outcome.problems))
    return outcome
