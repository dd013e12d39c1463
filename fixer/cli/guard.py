"""`fixer guard`: write what keeps repaired bugs out, for pre-commit, GitHub or GitLab."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fixer.cli import completion
from fixer.cli.help import GroupedCommand
from fixer.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fixer.cli.screen import Screen
    from fixer.output.guards import Guard

EXAMPLES = """\b
Examples:
  fixer guard pre-commit                     # a hook that runs the installed fixer
  fixer guard github --from git+https://git.example.org/you/fixer@COMMIT
  fixer guard gitlab --from ./wheels/ampfix-0.1.0-py3-none-any.whl
"""
guard = typer.Typer(
    name="guard",
    help="Write a hook or a workflow that keeps repaired bugs out.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
)

Select = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CODES",
        help="Check these rules or consequences.",
        show_default="all but the rules that find something now",
        autocompletion=completion.codes_and_consequences,
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the patch; write nothing.")]
Source = Annotated[
    str | None,
    typer.Option("--from", metavar="SPEC", help="What pip installs there: a URL or a wheel.  [required]"),
]


@guard.command("pre-commit", cls=GroupedCommand)
def pre_commit(
    select: Select = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="git+URL@COMMIT",
            help="Let pre-commit install fixer from this repository.",
            show_default="run the fixer of the active environment",
        ),
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Add a hook to .pre-commit-config.yaml. What is there stays as it is."""
    from fixer.output import guards

    _guard(select, lambda root, options: guards.pre_commit(root, options, source), dry_run=dry_run)


@guard.command(cls=GroupedCommand)
def github(source: Source = None, select: Select = None, dry_run: DryRun = False) -> None:
    """Write .github/workflows/fixer.yml, which annotates pull requests and fails."""
    from fixer.output import guards

    _guard(select, lambda root, options: guards.github(root, options, source), dry_run=dry_run)


@guard.command(cls=GroupedCommand)
def gitlab(source: Source = None, select: Select = None, dry_run: DryRun = False) -> None:
    """Write .gitlab/fixer.yml, a job with a code quality report, for .gitlab-ci.yml to include."""
    from fixer.output import guards

    _guard(select, lambda root, options: guards.gitlab(root, options, source), dry_run=dry_run)
    if not dry_run:
        typer.echo("note: let .gitlab-ci.yml include it:\n\ninclude:\n  - local: .gitlab/fixer.yml", err=True)


def _guard(select: Sequence[str] | None, made: Callable[[Path, Sequence[str]], Guard], *, dry_run: bool) -> None:
    """Write what `made` makes of the options of the check, or print it.

    Raises:
        Refusal: if this is no repository, or the file cannot be made.
    """
    from fixer.cli.screen import Screen
    from fixer.git.command import top
    from fixer.report.patch import created, patch

    screen, root = Screen(), top(Path.cwd())
    if root is None:
        raise Refusal("guard: not in a git repository; change to the one that is to be guarded")
    made(root, ())  # refuse before the repository is checked
    guarded = made(root, _options(screen, select, root))
    if dry_run:
        screen.result(patch([guarded.plan]) if guarded.before is not None else created(guarded.plan))
        return
    guarded.write(root)
    screen.result(f"{guarded.path}: {'written' if guarded.before is None else 'a hook was added'}\n".encode())
    screen.note("commit it; new code of these kinds is refused from then on")


def _options(screen: Screen, select: Sequence[str] | None, root: Path) -> tuple[str, ...]:
    """The options of the check: `--select` as it was given, else all rules but those that find something now."""
    from codemods.model.edits import Consequence
    from fixer.project import selectors
    from fixer.run import cache_directory
    from fixer.run.request import Request, plan_directory
    from fixer.run.rule_index import rule_infos

    if select:
        codes = selectors.split_codes(select)
        selectors.check_codes(codes, rule_infos(cache_directory.directory()), "--select")
        return ("--select", ",".join(codes))
    outcome = plan_directory(Request(), root, fix=False, progress=screen.progress)
    if outcome.problems:
        raise Refusal(outcome.problems[0])
    found = [finding for finding in outcome.plan.findings if finding.consequence > Consequence.STYLE]
    codes = tuple(sorted({finding.code for finding in found}))
    if not codes:
        return ()
    many = f"{len(found):,} finding{'s' if len(found) > 1 else ''}"
    screen.note(f"{many} of {', '.join(codes)}: left out until `fixer apply`, or you, have repaired them")
    return ("--ignore", ",".join(codes))
