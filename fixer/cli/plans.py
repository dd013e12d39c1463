"""Plans and baselines in files: `check --write-plan`, `apply --plan`, `check --write-baseline`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fixer.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fixer.cli.screen import Screen
    from fixer.run.request import Outcome

WritePlan = Annotated[
    str | None, typer.Option(metavar="FILE", help="Save what `apply` would do now, for `apply --plan FILE`.")
]
Apply = Annotated[
    str | None, typer.Option("--plan", metavar="FILE", help="Apply this plan, saved by `check --write-plan FILE`.")
]


def write(screen: Screen, outcome: Outcome, name: str) -> None:
    """Save what a run would change.

    Raises:
        Refusal: if the file cannot be written.
    """
    from fixer.output.saved import SavedPlan
    from fixer.report.tally import plural

    try:
        Path(name).write_bytes(SavedPlan.of(outcome.plan).to_bytes())
    except OSError as error:
        raise Refusal(f"--write-plan {name}: {error.strerror}") from error
    changed = outcome.plan.changed
    fixes = sum(finding.applied for file in changed for finding in file.findings)
    number = f"{plural(fixes, 'fix', 'fixes')} in {plural(len(changed), 'file')}"
    screen.note(f"{name} holds {number}; `fixer apply --plan {name}` applies it")


def read(screen: Screen, name: str, here: Path) -> Outcome:
    """A saved plan, as the outcome of a run that had been made now.

    Raises:
        Refusal: if the file holds no plan for what is here.
    """
    from codemods.model.edits import Safety
    from fixer.output.saved import SavedPlan
    from fixer.project.configuration import Settings
    from fixer.project.discover import root_of
    from fixer.project.worktree import WorkTree
    from fixer.report.tally import plural
    from fixer.run.request import Outcome

    try:
        data = (here / name).read_bytes()
    except OSError as error:
        raise Refusal(f"--plan {name}: {error.strerror}") from error
    saved = SavedPlan.read(data, f"--plan {name}")
    root = root_of((), here)
    if saved.files and not any((root / file.path).exists() for file in saved.files):
        number = "its file" if len(saved.files) == 1 else f"any of its {len(saved.files):,} files"
        raise Refusal(f"--plan {name}: was made in another repository or directory: {root} does not hold {number}")
    try:
        fitted = saved.fitted(root, "the plan was made")
    except Refusal as refusal:
        raise Refusal(f"--plan {name}: {refusal}") from refusal
    if fitted.done:
        hold = "holds" if len(fitted.done) == 1 else "hold"
        screen.note(f"{plural(len(fitted.done), 'file')} {hold} already what the plan makes of them")
    if not saved.files:
        screen.note(f"{name} changes nothing")
    unsafe = frozenset(f.path for f in fitted.plan.findings if f.safety is Safety.UNSAFE)
    plan = replace(fitted.plan, skips=fitted.skips)
    return Outcome(root, plan, Settings(), unsafe=unsafe, read=WorkTree(root).read)


def check_alone(paths: Sequence[str] | None, **others: object) -> None:
    """Refuse what would make a saved plan another one.

    Args:
        others: options that a plan leaves no choice about, by name.

    Raises:
        Refusal: if there is such an option.
    """
    if paths:
        raise Refusal("--plan says which files are fixed: leave the paths out")
    for name, value in others.items():
        if value not in (None, False):
            raise Refusal(f"--plan says what is fixed, in place: leave --{name.replace('_', '-')} out")


def write_baseline(screen: Screen, outcome: Outcome, name: str) -> None:
    """Name what was found in a file.

    Raises:
        Refusal: if not everything could be looked at, or the file cannot be written.
    """
    from fixer.project.baseline import Baseline
    from fixer.report.tally import plural

    if outcome.failed:
        screen.errors(outcome.problems)
        raise Refusal(f"--write-baseline {name}: not all files could be looked at; nothing was written")
    known = Baseline.of(outcome.plan.findings, name)
    known.write(Path(name))
    them = "it" if len(known.findings) == 1 else "them"
    number = plural(len(known.findings), "finding")
    screen.note(f"{name} names {number}; `fixer check --baseline {name}` leaves {them} out")
    if skipped := len({skip.path for skip in outcome.plan.skips}):
        screen.note(f"{plural(skipped, 'file')} could not be looked at: `fixer check` tells why")
