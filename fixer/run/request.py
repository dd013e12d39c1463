"""One run, from what a person asked for to a plan.

Nothing here needs a tree of Python, which takes long to import: git looks at the repository in the meantime.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemods.model.edits import Finding, Safety, Skip, SkipReason
from codemods.model.plan import Plan
from codemods.model.profile import SILENT, Recorder
from fixer.errors import Refusal
from fixer.git.changes import changes
from fixer.project.configuration import Settings, cascade, parse
from fixer.project.discover import arguments_inside, attributed, listing, root_of
from fixer.project.worktree import WorkTree, why_unreadable

if TYPE_CHECKING:
    from codemods.model.plan import Target
    from codemods.sources.document import Reader
    from fixer.project.baseline import Baseline
    from fixer.run.execute import Order, Progress


FAILURES = frozenset({SkipReason.UNREADABLE, SkipReason.CHANGED, SkipReason.OUTDATED})
"""Skips that mean the job could not be done, rather than that a file is not for us."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line says about which files are looked at, by which rules, and how."""

    paths: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    unsafe_fixes: bool | None = None
    strategies: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
    exclude: tuple[str, ...] = ()
    include_vendored: bool = False
    jobs: int = 0
    config: str | None = None
    isolated: bool = False
    only_ignores: bool = False
    """Of the settings of the tree only ignores and excludes count."""
    since: str | None = None
    """A commit: only what has changed since counts."""
    only: tuple[str, ...] = ()
    """Fingerprints, or how they begin: only these findings count."""
    baseline: Baseline | None = None
    """Findings that do not count."""
    silence: bool = False
    """Write comments that silence findings, instead of their fixes."""
    cache: bool = True
    """Look for what was found before, and keep what is found."""
    held: dict[bytes, Any] | None = field(default=None, compare=False, repr=False)
    """Holds what was read of the cache, for a process that checks again and again."""
    recorder: Recorder = field(default=SILENT, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A baseline, beside what was found."""

    name: str
    hidden: int
    """Findings that do not count, because it names them."""
    gone: int
    """Findings that it names, that were looked for and are not there."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A plan, and what else a person should hear about the run."""

    root: Path
    plan: Plan
    settings: Settings
    """Of the root."""
    parts: tuple[tuple[Order, Plan], ...] = ()
    """The plan by settings, for those who go on planning."""
    problems: tuple[str, ...] = ()
    """What could not be done, as sentences: exit code 2."""
    vendored: tuple[str, ...] = ()
    unsafe: frozenset[str] = frozenset()
    """The paths where unsafe fixes are wanted."""
    read: Callable[[str], bytes | None] = lambda path: None
    """The files as they were planned on."""
    known: Comparison | None = None
    """What became of the baseline."""

    @property
    def failed(self) -> bool:
        """Whether something that was asked for could not be done at all (exit code 2)."""
        return bool(self.problems) or any(skip.reason in FAILURES for skip in self.plan.skips)

    def left(self) -> tuple[Finding, ...]:
        """Findings whose fix is wanted and was not taken."""
        return tuple(f for f in self.plan.findings if f.fix and not f.applied and self.wanted(f))

    def after_writing(self, written: frozenset[str], skips: Sequence[Skip]) -> Outcome:
        """The same outcome, telling what was really written."""
        files = tuple(
            file
            if file.path in written or not file.changed
            else replace(
                file,
                after=file.before,
                findings=tuple(replace(finding, applied=False) for finding in file.findings),
                changes=(),
            )
            for file in self.plan.files
        )
        return replace(self, plan=replace(self.plan, files=files, skips=(*self.plan.skips, *skips)))

    def wanted(self, finding: Finding) -> bool:
        """Whether the chosen safety covers the finding's fix."""
        return finding.safety >= (Safety.UNSAFE if finding.path in self.unsafe else Safety.SAFE)


def plan_directory(request: Request, here: Path, *, fix: bool, progress: Progress) -> Outcome:
    """The plan of the files on disk.

    Raises:
        Refusal: if the command line, or the configuration of the root, cannot be understood.
    """
    recorder = request.recorder
    with recorder.phase("listing"):
        root = root_of(request.paths, here)
        arguments, problems = arguments_inside(request.paths, root, here)
        named = {path if (root / path).is_dir() else path.rpartition("/")[0] for path in arguments}
        reader = WorkTree(root, tuple(sorted(named)))
        looking = changes(root, request.since) if request.since is not None else None
    with recorder.phase("importing"):
        from fixer.run.planning import plan_listing
    with recorder.phase("listing"):
        changed = looking() if looking is not None else None

    def listed() -> Sequence[str]:
        with recorder.phase("listing"):
            return (reader.listing if changed is None else listing(root, changed.lines)).paths

    def vendored(paths: Sequence[str]) -> frozenset[str]:
        few = changed is not None
        speaking = few or any(b"linguist" in (reader.read(path) or b"") for path in reader.listing.attributes)
        return attributed(paths, at=root) if speaking else frozenset()

    outcome = plan_listing(
        request,
        arguments,
        reader,
        listed=listed,
        changed=changed,
        root=root,
        configuration=configuration(request, reader, root, here),
        is_file=lambda path: (root / path).is_file(),
        vendored=vendored,
        why=lambda path: why_unreadable(root, path),
        fix=fix,
        progress=progress,
    )
    below = tuple(f"{argument}/" if argument else "" for argument in arguments if not (root / argument).is_file())
    if not below or changed is not None:
        return replace(outcome, problems=(*problems, *outcome.problems))
    stray = (path for path in reader.listing.outside if path.startswith(below))
    why = f"is a link that leads out of {root}"
    return replace(
        outcome,
        plan=replace(
            outcome.plan, skips=(*outcome.plan.skips, *(Skip(path, SkipReason.UNSAFE_PATH, why) for path in stray))
        ),
        problems=(*problems, *reader.listing.problems, *outcome.problems),
    )


def configuration(request: Request, reader: Reader, root: Path, here: Path) -> Callable[[str], Settings]:
    """Where settings come from: `--config`, nowhere (`--isolated`), or the files of the tree itself."""
    if request.isolated:
        nothing = Settings()
        return lambda directory: nothing
    if request.config is None:
        return cascade(reader, only_ignores=request.only_ignores)
    file = here / request.config
    try:
        data = file.read_bytes()
    except OSError as error:
        raise Refusal(f"--config {request.config}: {error.strerror}; name a pyproject.toml or a fixer.toml") from error
    real = file.resolve()
    directory = real.parent.relative_to(root).as_posix() if real.is_relative_to(root) else ""
    settings = parse(data, request.config, "" if directory == "." else directory, Settings())
    if settings is None:
        raise Refusal(f"--config {request.config}: has no [tool.fixer] table")
    return lambda directory: settings
