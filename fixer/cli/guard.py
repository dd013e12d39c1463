"""`fixer guard`: write what keeps new bugs out, for pre-commit, GitHub or GitLab."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fixer.cli import completion
from fixer.cli.help import GroupedCommand
from fixer.cli.options import FailOn
from fixer.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemods.model.edits import Finding
    from fixer.cli.screen import Screen
    from fixer.output.guards import GuardFile

EXAMPLES = """\b
Examples:
  fixer guard pre-commit                     # a hook that runs the installed fixer
  fixer guard github --from git+https://git.example.org/you/fixer@COMMIT
  fixer guard gitlab --from ./wheels/ampfix-0.1.0-py3-none-any.whl
"""
guard = typer.Typer(
    name="guard",
    help="Write a hook or a workflow that keeps new bugs out. A baseline names those of now.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
)

Select = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CODES",
        help="Check these rules or consequences.",
        show_default="all rules",
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


def _guard(select: Sequence[str] | None, made: Callable[[Path, Sequence[str]], GuardFile], *, dry_run: bool) -> None:
    """Write what `made` makes of the options of the check, and the baseline; or print both.

    Raises:
        Refusal: if this is no repository, or a file cannot be made.
    """
    from fixer.cli.screen import Screen
    from fixer.git.command import top
    from fixer.output.guards import BASELINE
    from fixer.project import selectors
    from fixer.report.patch import created, patch
    from fixer.run import cache_directory
    from fixer.run.rule_index import rule_infos

    screen, root = Screen(), top(Path.cwd())
    if root is None:
        raise Refusal("guard: not in a git repository; change to the one that is to be guarded")
    made(root, ())  # refuse before the repository is checked
    codes = selectors.split_codes(select or ())
    selectors.check_codes(codes, rule_infos(cache_directory.directory()), "--select")
    chosen = ("--select", ",".join(codes)) if codes else ()
    findings = _found(screen, root, codes)
    known = _baseline(screen, root, findings, chosen)
    guarded = made(root, (*chosen, *(("--baseline", BASELINE) if findings else ())))
    if dry_run:
        files = [each for each in (guarded, known) if each is not None]
        screen.result(b"".join(patch([f.plan]) if f.before is not None else created(f.plan) for f in files))
        return
    if known is not None:
        known.write(root)
        screen.result(f"{known.path}: written\n".encode())
    guarded.write(root)
    screen.result(f"{guarded.path}: {'written' if guarded.before is None else 'a hook was added'}\n".encode())
    screen.note("commit what was written; new bugs are refused from then on")


def _found(screen: Screen, root: Path, codes: tuple[str, ...]) -> tuple[Finding, ...]:
    """What the check finds now; nothing if none of it fails the check.

    Raises:
        Refusal: if not all files could be looked at.
    """
    from fixer.run.request import Request, plan_directory

    outcome = plan_directory(Request(select=codes), root, fix=False, progress=screen.progress)
    if outcome.failed:
        screen.errors(outcome.problems)
        raise Refusal("guard: not all files could be looked at; nothing was written")
    return tuple(outcome.plan.findings) if any(map(FailOn.deprecated.counts, outcome.plan.findings)) else ()


def _baseline(screen: Screen, root: Path, findings: Sequence[Finding], chosen: Sequence[str]) -> GuardFile | None:
    """The baseline of what is found now; None where none is needed, or there is one for which the check passes.

    Raises:
        Refusal: if there is one for which it fails.
    """
    from fixer.output.guards import BASELINE, GuardFile
    from fixer.project.baseline import Baseline
    from fixer.report.tally import plural

    if not findings:
        return None
    anew = " ".join(("fixer check", *chosen, "--write-baseline", BASELINE))
    if not (root / BASELINE).exists():
        counts = Counter(finding.code for finding in findings)
        each = ", ".join(f"{code}: {number}" for code, number in sorted(counts.items()))
        many, them = plural(len(findings), "finding"), "it" if len(findings) == 1 else "them"
        screen.note(
            f"{BASELINE} names {many} of now ({each}): the check leaves {them} out, and fails for every new one"
        )
        screen.note(f"to shrink it, repair some, then run `{anew}` in {root}")
        return GuardFile(BASELINE, None, Baseline.of(findings, BASELINE).text)
    known = {entry.fingerprint for entry in Baseline.read(root / BASELINE, BASELINE).findings}
    new = [finding for finding in findings if FailOn.deprecated.counts(finding) and finding.fingerprint not in known]
    if new:
        codes = ", ".join(sorted({finding.code for finding in new}))
        raise Refusal(
            f"{BASELINE} exists and does not name {plural(len(new), 'finding')} of {codes}: repair what it does not "
            f"name with `fixer apply --baseline {BASELINE}`, or accept it with `{anew}`; then run this again"
        )
    screen.note(f"{BASELINE} exists and names what fails the check now: it is used as it is")
    return None
