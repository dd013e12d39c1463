"""`fixer check`: report findings; nothing is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fixer.cli import options, plans
from fixer.cli.options import CheckFormat, FailOn
from fixer.errors import Refusal

EXAMPLES = """\
fixer check src train.py                     # these only
fixer check --since origin/main              # what a pull request changes
fixer check --select silent --fail-on silent # bugs that print nothing
fixer check --format sarif -o fixer.sarif    # for code scanning
"""
SETTINGS = {"epilog": EXAMPLES}
"""How Typer makes this command."""


@options.grouped
def check(
    *,
    paths: options.Paths = None,
    rules: options.Rules,
    counting: options.Counting,
    running: options.Running,
    format: Annotated[
        CheckFormat,
        typer.Option(
            help="json: for programs. html: a page. sarif: code scanning. github: annotations of a workflow. "
            "gitlab: a code quality report. junit: a test report. markdown: a table."
        ),
    ] = CheckFormat.terminal,
    statistics: options.Statistics = False,
    profile: options.Profiled = False,
    fail_on: options.Fail = FailOn.deprecated,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit with 2 if a file is skipped, with 1 if a suppression names no rule.",
            rich_help_panel="Exit code",
        ),
    ] = False,
    exit_zero: options.ExitZero = False,
    write_plan: plans.WritePlan = None,
    write_baseline: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Name the findings of now there, for `--baseline FILE`.", rich_help_panel="Output"
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Check again whenever a file changes, until Ctrl-C.")] = False,
    showing: options.Showing,
    verbose: options.Verbose = False,
) -> None:
    """Report findings. Nothing is written.

    Exit code 0: nothing at or above --fail-on (by default every certain finding but matters of style);
    1: such findings; 2: could not do the job, or, with --strict, a file was skipped.
    """
    from fixer.cli.profiling import Profiling

    profiling = Profiling.start(profile)
    with profiling.recorder.phase("importing"):
        from fixer.cli.show import findings
        from fixer.output.journal import interrupted
        from fixer.run.request import plan_directory

    request = running.request(paths, rules, counting, profiling.recorder)
    if watch:
        request = replace(request, held={})
    screen = showing.screen(verbose=verbose)
    here = Path.cwd()
    if write_baseline is not None:
        if counting != options.Counting():
            raise Refusal("--write-baseline names all findings: leave --since, --only and --baseline out")
        if watch or write_plan is not None:
            raise Refusal(f"--write-baseline and {'--watch' if watch else '--write-plan'}: give one of them")

    def look() -> int:
        outcome = plan_directory(request, here, fix=False, progress=screen.progress)
        if write_baseline is not None:
            plans.write_baseline(screen, outcome, write_baseline)
            return 0
        if write_plan is not None:
            plans.write(screen, plan_directory(request, here, fix=True, progress=screen.progress), write_plan)
        with profiling.recorder.phase("reporting"):
            findings(screen, outcome, here, format=format, statistics=statistics, profile=profiling.values())
            screen.summary(outcome, "found")
            half = interrupted(outcome.root)
            screen.errors((*outcome.problems, *half))
        profiling.tell()
        failing = any(map(fail_on.counts, outcome.plan.findings))
        if strict:
            failing = failing or not all(each.known for each in outcome.plan.unused)
        could_not = outcome.failed or half or (strict and outcome.plan.skips)
        return 2 if could_not else int(failing and not exit_zero)

    if not watch:
        raise typer.Exit(look())
    if format is not CheckFormat.terminal or showing.output is not None or profile or write_plan:
        raise Refusal(
            "--watch shows findings on the terminal: leave --format, --output, --write-plan and --profile out"
        )
    from fixer.cli.watch import check_on_changes
    from fixer.project.discover import root_of

    check_on_changes(root_of(request.paths, here), screen, look)
