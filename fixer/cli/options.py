"""The options that commands share, each with its one explanation."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from codemods.model.profile import SILENT, Recorder

if TYPE_CHECKING:
    from fixer.run.request import Request


class Color(str, Enum):
    """When to colour."""

    auto = "auto"
    always = "always"
    never = "never"


class FailOn(str, Enum):
    """Which findings fail a check: those that cost at least this."""

    silent = "silent"
    raises = "raises"
    warns = "warns"
    deprecated = "deprecated"
    fixable = "fixable"
    never = "never"


class CheckFormat(str, Enum):
    """How findings are shown."""

    terminal = "terminal"
    json = "json"
    html = "html"


class RulesFormat(str, Enum):
    """How the list of rules is shown."""

    terminal = "terminal"
    json = "json"
    markdown = "markdown"


class ApplyFormat(str, Enum):
    """How a plan is shown."""

    terminal = "terminal"
    json = "json"
    markdown = "markdown"


class VerifyFormat(str, Enum):
    """How a verification is shown."""

    terminal = "terminal"
    json = "json"
    markdown = "markdown"
    html = "html"


Paths = Annotated[list[str] | None, typer.Argument(help="Files and directories.", show_default="the current directory")]
Select = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CODES",
        help="Only these rules (AMP or AMP001,PL) or consequences (silent,raises).",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="CODES", help="Not these rules or consequences (style,deprecated)."),
]
UnsafeFixes = Annotated[
    bool | None,
    typer.Option(
        "--unsafe-fixes/--no-unsafe-fixes",
        help="Also take fixes that change numerics or behaviour beyond the bug.",
        show_default=False,
    ),
]
Strategy = Annotated[
    list[str] | None,
    typer.Option(metavar="CODE=NAME", help="How a rule repairs, where it offers a choice."),
]
Target = Annotated[
    list[str] | None,
    typer.Option(metavar="PACKAGE=VERSION", help="The version in use, such as torch=2.4."),
]
Exclude = Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Leave these paths out.")]
IncludeVendored = Annotated[
    bool,
    typer.Option("--include-vendored", help="Also read vendored and generated files."),
]
Config = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Settings from this file instead of the nearest."),
]
Isolated = Annotated[bool, typer.Option("--isolated", help="Ignore all configuration files.")]
Since = Annotated[
    str | None,
    typer.Option(metavar="REF", help="Only what touches lines changed since that commit, or not committed."),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        min=0,
        metavar="N",
        help="Processes at most.",
        show_default="one per processor",
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Look at everything anew, and keep nothing.")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the result there."),
]
Statistics = Annotated[bool, typer.Option("--statistics", help="Count findings by rule, and name the versions found.")]
Profiled = Annotated[
    bool, typer.Option("--profile", help="Say on standard error where the time goes; made for bug reports.")
]
Fail = Annotated[
    FailOn,
    typer.Option(
        "--fail-on",
        help="Exit with 1 for findings that cost at least this much; fixable: that have a fix; never: exit with 0.",
    ),
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 even when there are findings.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No summary and no notes, errors only.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="List everything that was skipped or left out.")]
ColorOption = Annotated[Color, typer.Option("--color", help="When to colour.")]


def request(
    paths: list[str] | None,
    select: list[str] | None,
    ignore: list[str] | None,
    unsafe_fixes: bool | None,
    strategy: list[str] | None,
    target: list[str] | None,
    exclude: list[str] | None,
    include_vendored: bool,
    jobs: int,
    config: str | None,
    isolated: bool,
    since: str | None = None,
    no_cache: bool = False,
    recorder: Recorder = SILENT,
) -> Request:
    """What the shared options ask for."""
    from fixer.errors import Refusal
    from fixer.project.selectors import split_codes, targets
    from fixer.run.request import Request

    if config is not None and isolated:
        raise Refusal("--config and --isolated contradict each other: give one of them")
    return Request(
        paths=tuple(paths or ()),
        select=split_codes(select or ()),
        ignore=split_codes(ignore or ()),
        unsafe_fixes=unsafe_fixes,
        strategies=tuple(strategy or ()),
        targets=targets(target or ()),
        exclude=tuple(exclude or ()),
        include_vendored=include_vendored,
        jobs=jobs,
        config=config,
        isolated=isolated,
        since=since,
        cache=not no_cache,
        recorder=recorder,
    )
