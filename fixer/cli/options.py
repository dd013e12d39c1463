"""The options that commands share, each declared once, and the groups in which commands take them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, cast, get_args, get_type_hints

import typer

from codemods.model.profile import SILENT, Recorder
from fixer.cli import completion

if TYPE_CHECKING:
    from codemods.model.edits import Finding
    from fixer.cli.screen import Screen
    from fixer.run.request import Request
    from fixer.verify.sandbox.command import Limits


class Color(str, Enum):
    """When to colour."""

    auto = "auto"
    always = "always"
    never = "never"


class FailOn(str, Enum):
    """Which findings fail a check: those that certainly cost at least this."""

    silent = "silent"
    raises = "raises"
    warns = "warns"
    deprecated = "deprecated"
    possible = "possible"
    fixable = "fixable"
    never = "never"

    def counts(self, finding: Finding) -> bool:
        """Whether a finding fails the check."""
        from codemods.model.edits import Consequence

        if self is FailOn.never or not (finding.is_certain or self is FailOn.possible):
            return False
        if self is FailOn.fixable:
            return finding.fix is not None
        least = "deprecated" if self is FailOn.possible else self.value
        return finding.consequence >= Consequence[least.upper()]


class CheckFormat(str, Enum):
    """How findings are shown."""

    terminal = "terminal"
    json = "json"
    html = "html"
    sarif = "sarif"
    github = "github"
    gitlab = "gitlab"
    junit = "junit"
    markdown = "markdown"


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


class ExplainFormat(str, Enum):
    """How an explanation of a place is shown."""

    terminal = "terminal"
    json = "json"


class DiagnoseFormat(str, Enum):
    """How a diagnosis is shown."""

    terminal = "terminal"
    json = "json"


Paths = Annotated[list[str] | None, typer.Argument(help="Files and directories.", show_default="the current directory")]
Select = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CODES",
        help="Only these rules (AMP or AMP001,PL) or consequences (silent,raises).",
        autocompletion=completion.codes_and_consequences,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CODES",
        help="Not these rules or consequences (style,deprecated).",
        autocompletion=completion.codes_and_consequences,
    ),
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
    typer.Option(
        metavar="CODE=NAME",
        help="How a rule repairs, where it offers a choice.",
        autocompletion=completion.strategies,
    ),
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
    typer.Option(
        metavar="REF",
        help="Only what touches lines changed since that commit, or not committed.",
        rich_help_panel="Rules and files",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(metavar="FINGERPRINTS", help="Only these findings; the first digits are enough."),
]
BaselineFile = Annotated[
    str | None,
    typer.Option("--baseline", metavar="FILE", help="Leave out the findings that `check --write-baseline` put there."),
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
Statistics = Annotated[
    bool,
    typer.Option("--statistics", help="Count findings by rule, and name the versions found.", rich_help_panel="Output"),
]
Profiled = Annotated[
    bool,
    typer.Option(
        "--profile", help="Say on standard error where the time goes; made for bug reports.", rich_help_panel="Output"
    ),
]
Fail = Annotated[
    FailOn,
    typer.Option(
        "--fail-on",
        help="Exit with 1 for certain findings that cost at least this much; possible: also for those that are only "
        "possible; fixable: for those that have a fix; never: exit with 0.",
        rich_help_panel="Exit code",
    ),
]
ExitZero = Annotated[
    bool, typer.Option("--exit-zero", help="Exit with 0 even when there are findings.", rich_help_panel="Exit code")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No summary and no notes, errors only.")]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="List everything that was skipped or left out.", rich_help_panel="Output"),
]
ColorOption = Annotated[Color, typer.Option("--color", help="When to colour.")]


Command = TypeVar("Command", bound=Callable[..., None])


Steps = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="End a run before an optimizer takes its step N + 1; what was seen counts."),
]
Timeout = Annotated[
    float | None,
    typer.Option(min=0.1, metavar="SECONDS", help="How long one run may take.", show_default="600"),
]
Memory = Annotated[float | None, typer.Option(min=0.01, metavar="GB", help="What one run may hold in memory.")]
Link = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH",
        help="Put this into the copies too, up to 200 MB as a copy, else as a link; for data that git ignores.",
    ),
]
Strict = Annotated[
    bool | None,
    typer.Option(
        "--strict",
        help="Exit with 2 if the command writes into the checkout itself; apply: if a file was skipped, too.",
    ),
]
Report = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="Also write the whole report there: as .html, .json or .md, by the name's end."),
]


def _titled(hint: Any, panel: str) -> Any:
    """An option of a group, which `--help` shows under the group's title."""
    value, option = get_args(hint)
    option = copy(option)
    option.rich_help_panel = panel
    return Annotated[value, option]


def grouped(command: Command) -> Command:
    """Show Typer the fields of a command's option groups (dataclasses) as options of the command itself."""
    plain: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if not is_dataclass(parameter.annotation):
            plain.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[parameter.name] = parameter.annotation
        hints = get_type_hints(parameter.annotation, include_extras=True)
        panel: str = vars(parameter.annotation)["PANEL"]
        for each in fields(parameter.annotation):
            made = inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default)
            plain.append(made.replace(annotation=_titled(hints[each.name], panel)))

    def call(**given: Any) -> None:
        made = {name: group(**{f.name: given.pop(f.name) for f in fields(group)}) for name, group in groups.items()}
        command(**given, **made)

    call.__name__, call.__doc__, call.__module__ = command.__name__, command.__doc__, command.__module__
    call.__signature__ = inspect.Signature(plain)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in plain}
    return cast("Command", call)


@dataclass(frozen=True)
class Rules:
    """Which rules run, on which files, and how they repair."""

    PANEL: ClassVar[str] = "Rules and files"

    select: Select = None
    ignore: Ignore = None
    unsafe_fixes: UnsafeFixes = None
    strategy: Strategy = None
    target: Target = None
    exclude: Exclude = None
    include_vendored: IncludeVendored = False

    def request(self) -> Request:
        """What these options ask for."""
        from fixer.project.selectors import split_codes, targets
        from fixer.run.request import Request

        return Request(
            select=split_codes(self.select or ()),
            ignore=split_codes(self.ignore or ()),
            unsafe_fixes=self.unsafe_fixes,
            strategies=tuple(self.strategy or ()),
            targets=targets(self.target or ()),
            exclude=tuple(self.exclude or ()),
            include_vendored=self.include_vendored,
        )


@dataclass(frozen=True)
class Counting:
    """Which findings count, whatever rule found them."""

    PANEL: ClassVar[str] = "Rules and files"

    since: Since = None
    only: Only = None
    baseline: BaselineFile = None

    def request(self, request: Request) -> Request:
        """The request with what these options ask for.

        Raises:
            Refusal: if a fingerprint or the baseline cannot be understood.
        """
        from fixer.project.selectors import fingerprints

        known = None
        if self.baseline is not None:
            from fixer.project.baseline import Baseline

            known = Baseline.read(Path(self.baseline), self.baseline)
        return replace(request, since=self.since, only=fingerprints(self.only or ()), baseline=known)


@dataclass(frozen=True)
class Running:
    """How a run goes: where its settings come from, in how many processes, with the cache or without."""

    PANEL: ClassVar[str] = "Run"

    jobs: Jobs = 0
    no_cache: NoCache = False
    config: Config = None
    isolated: Isolated = False

    def request(
        self,
        paths: Sequence[str] | None,
        rules: Rules,
        counting: Counting | None = None,
        recorder: Recorder = SILENT,
    ) -> Request:
        """The whole request of a command.

        Raises:
            Refusal: if options contradict each other.
        """
        from fixer.errors import Refusal

        if self.config is not None and self.isolated:
            raise Refusal("--config and --isolated contradict each other: give one of them")
        request = rules.request()
        return replace(
            counting.request(request) if counting is not None else request,
            paths=tuple(paths or ()),
            jobs=self.jobs,
            config=self.config,
            isolated=self.isolated,
            cache=not self.no_cache,
            recorder=recorder,
        )


@dataclass(frozen=True)
class Watching:
    """How far a command that is run may go, and which files it needs beside the copy of the project."""

    PANEL: ClassVar[str] = "Runs of your code"

    steps: Steps = None
    timeout: Timeout = None
    memory: Memory = None
    link: Link = None
    strict: Strict = None
    report: Report = None

    @property
    def limits(self) -> Limits:
        """What one run may use."""
        from fixer.verify.sandbox.command import Limits

        usual = Limits()
        seconds = usual.seconds if self.timeout is None else self.timeout
        return Limits(seconds, int((self.memory or 0) * 1e9), self.steps or 0)

    @property
    def linked(self) -> tuple[str, ...]:
        """The paths that the copies get too."""
        return tuple(self.link or ())

    @property
    def reports(self) -> tuple[str, ...]:
        """The files that the report is also written to.

        Raises:
            Refusal: if the name of one tells no format.
        """
        from fixer.cli import reports

        names = tuple(self.report or ())
        reports.check(names)
        return names

    def demand(self, touched: Sequence[str]) -> None:
        """Refuse what --strict does not allow.

        Raises:
            Refusal: if files of the checkout itself were written.
        """
        from codemods.verify.flow_symptoms import some
        from fixer.errors import Refusal

        if self.strict and touched:
            raise Refusal(f"--strict: the command wrote into the checkout itself: {some(touched)}")


@dataclass(frozen=True)
class Showing:
    """Where the result goes, and what is told beside it."""

    PANEL: ClassVar[str] = "Output"

    output: Output = None
    quiet: Quiet = False
    color: ColorOption = Color.auto

    def screen(self, *, verbose: bool = False) -> Screen:
        """The streams of the command."""
        from fixer.cli.screen import Screen

        return Screen(self.color, self.quiet, verbose, self.output)
