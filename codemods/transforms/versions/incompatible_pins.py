"""Versions that the files of one project ask for together, and that cannot be had together.

## Why is this bad?
Where two files contradict each other, whoever installs from one of them trains with other versions than whoever
installs from the other; where both are installed, the installer refuses, or the later file wins:

    ERROR: Cannot install torch==2.4.1 and torch>=2.6 because these package versions have conflicting dependencies.

Every release of Lightning names the oldest torch and Python that it takes:

| lightning, pytorch-lightning | torch | Python |
| --- | --- | --- |
| 2.6.1 and newer | ≥ 2.1 | ≥ 3.10 |
| 2.4 – 2.6.0 | ≥ 2.1 | ≥ 3.9 |
| 2.3 | ≥ 2.0 | ≥ 3.8 |
| 2.2 | ≥ 1.13 | ≥ 3.8 |
| 2.1 | ≥ 1.12 | ≥ 3.8 |
| 2.0 | ≥ 1.11 | ≥ 3.8 |
| 1.9 | ≥ 1.10 | ≥ 3.7 |

The other way round only one bound is known to matter: torch 2.0 renamed the class of its schedulers, and Lightning
below 1.8.4 refuses all of them (run with torch 2.4.1: 1.5.10, 1.6.5, 1.7.7, 1.8.1, 1.8.2 and 1.8.3 fail, 1.8.4 trains):

    MisconfigurationException: The provided lr scheduler `StepLR` doesn't follow PyTorch's LRScheduler API.

## Fix safety
Nothing is edited: which of the two is right only a person can say.

## When it is not offered
Nor of a build of somebody's own (`lightning==2.3.3+ours`), whose metadata nobody knows.
Files that are alternatives to each other are not compared (`requirements-cpu.txt` and `requirements-gpu.txt`, extras,
groups, lines under a marker); nor are lock files, uv's overrides, addresses, and releases newer than those a table was
tested with. Files that do not take each other in may be two ways to install, pip may install over what conda has, and
Lightning tests the class of a scheduler only where it is given one as it is: such conflicts are possible.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator

from codemods.analysis import pinned_in_code
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks import minimum_versions
from codemods.frameworks.versions import compatibility
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.project import ranges
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.manifest import PACKAGES, Manifest, Requirement

rule = Rule(
    code="VER004",
    name="incompatible-pins",
    summary="the project asks for versions that cannot be had together",
    fix_title="Ask for versions that fit together",
    safety=Safety.DISPLAY,
    consequence=Consequence.RAISES,
    elsewhere=tuple(sorted({part for name in PACKAGES for part in (name.encode(), name.title().encode())})),
    errors=(
        "because these package versions have conflicting dependencies",
        "doesn't follow PyTorch's LRScheduler API",
        "ResolutionImpossible: for help visit https://pip.pypa.io/",
    ),
    references=(
        "https://lightning.ai/docs/pytorch/stable/versioning.html#compatibility-matrix",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/15912",
    ),
)

_MAIN = re.compile(r"pyproject\.toml|setup\.(?:py|cfg)|Pipfile|(requirements\.txt)|((?:conda|environment)\.ya?ml)")
"""Files by names that say of no variant; by group, what follows from the others and is spoken to."""
_CONDA = re.compile(r"(?:conda|environment).*\.ya?ml")
"""Files by names that are environments of conda."""


_UNRESOLVED = ("--no-deps", "--no-index", "--find-links")


@rule.on(Requirement)
def incompatible_pins(requirement: Requirement, ctx: FileContext) -> Iterator[Draft]:
    if requirement.package not in PACKAGES or not _counts(requirement):
        return
    spoken = _spoken(requirement)
    for path, other in _before(requirement, ctx):
        if not ranges.meet(requirement.specs, other.specs):
            message = f"{spoken} contradicts {_said(path, other, ctx)}"
            is_bug = [are_installed_together(ctx, path, other), is_no_list(ctx, path, requirement, other)]
            is_bug.append(pip_resolves_them(ctx))
            yield rule.finding(requirement, message=message, is_bug=is_bug)
            break
    if requirement.package not in minimum_versions.COMPROMISED:
        return
    for package in ("torch", "python"):
        for path, other in _beside(package, ctx):
            if needed := compatibility.required(requirement.specs, package, other.specs):
                message = f"{spoken} needs {package} {needed}, against {_said(path, other, ctx)}"
                is_bug = [are_installed_together(ctx, path, other), pip_resolves_them(ctx)]
                yield rule.finding(requirement, message=message, is_bug=is_bug)
                break
    if ranges.every(requirement.specs, compatibility.KNOWS_NO_TORCH_2) and _schedules(ctx):
        message = f"{spoken} refuses every scheduler of torch 2, which the project allows"
        yield rule.finding(requirement, message=message, is_bug=[a_scheduler_is_refused(ctx)], bites={"torch": ">=2.0"})


@question
def are_installed_together(ctx: FileContext, path: str, other: Requirement) -> Answer:
    """Whether two requirements are of one way to install: of one file, or of one that takes in the other.

    In an environment of conda, pip installs over what conda has installed.
    """
    if path == ctx.path and (other.package == "python" or not _CONDA.fullmatch(posixpath.basename(path))):
        return yes()
    if not (_includes(path, ctx.path, ctx) or _includes(ctx.path, path, ctx)):
        document = ctx.index.document(path)
        line = document.line(other) if isinstance(document, Manifest) else 1
        how = "pip may install over it" if path == ctx.path else "this may be another way to install"
        return unknown(Evidence(path, line, how))
    return yes()


@question
def pip_resolves_them(ctx: FileContext) -> Answer:
    """Whether nothing in the project installs packages without what they need (`no_deps`), or builds of its own.

    `pip install --no-deps`; wheels of a folder may ask for something else than the released ones (`own_wheels`); what
    is cut out of a list leaves the rest away (`sections_of_a_list`).
    """
    says = "this installs packages whatever the released ones need"
    found = [(path, each) for each in _UNRESOLVED for path in ctx.index.holding("", (each.encode(),), ("",))]
    by_commands = pinned_in_code.by_commands(ctx.index, ctx.index.root(ctx.path))
    return unless([*(ctx.shown_in(path, each, says) for path, each in found), *by_commands])


@question
def is_no_list(ctx: FileContext, path: str, requirement: Requirement, other: Requirement) -> Answer:
    """Whether a file cannot be a list of releases: it asks for two of one package, and for neither alone (`denied`)."""
    pinned = all((spec or "").startswith("==") for each in (requirement, other) for spec in each.specs or ("",))
    if path == ctx.path and pinned:
        return unknown(ctx.shown_at(requirement.start, "a file that asks for two releases may be a list of them"))
    return yes()


def _schedules(ctx: FileContext) -> list[str]:
    """The files of LightningModules that seem to have a scheduler."""
    modules = ctx.index.search(ctx.path, (b"LightningModule",))
    schedules = {*ctx.index.search(ctx.path, (b"lr_scheduler",))}
    return [path for path in modules if path in schedules]


def a_scheduler_is_refused(ctx: FileContext) -> Answer:
    """Whether Lightning is given a scheduler whose class it tests: not one in a dictionary, nor one of the project."""
    why = "`configure_optimizers` may give no scheduler whose class Lightning tests"
    for path in _schedules(ctx):
        module = ctx.index.syntax(path)
        for function in module.all(ast.FunctionDef) if module is not None else ():
            if function.name == "configure_optimizers":
                return unknown(Evidence(path, function.lineno, why))
    return unknown(Evidence(_schedules(ctx)[0], 1, why))


def _counts(requirement: Requirement) -> bool:
    overrides = "override" in requirement.place  # is there to contradict
    of_their_own = requirement.package != "torch" and "+" in requirement.written
    return bool(requirement.specs) and not (requirement.condition or requirement.locked or overrides or of_their_own)


def _before(requirement: Requirement, ctx: FileContext) -> Iterator[tuple[str, Requirement]]:
    """What else is asked of the package of `requirement`, by what it must agree with: each pair is told once."""
    for path, other in ctx.requirements(requirement.package):
        if path == ctx.path:
            comes_first = other.start < requirement.start
        else:
            follows = _among_main(path, ctx) and (_rank(path), path) < (_rank(ctx.path), ctx.path)
            comes_first = follows or _includes(ctx.path, path, ctx)
        if comes_first and _counts(other) and other.package == requirement.package:
            yield path, other


def _beside(package: str, ctx: FileContext) -> list[tuple[str, Requirement]]:
    """What is asked of another package in the same file, else in those installed with it."""
    found = [(path, other) for path, other in ctx.requirements(package) if _counts(other)]
    return [(path, other) for path, other in found if path == ctx.path] or [
        (path, other)
        for path, other in found
        if _among_main(path, ctx) or _includes(path, ctx.path, ctx) or _includes(ctx.path, path, ctx)
    ]


def _among_main(path: str, ctx: FileContext) -> bool:
    """Whether a file lies beside the one looked at, and neither is a variant."""
    same = posixpath.dirname(path) == posixpath.dirname(ctx.path)
    return same and _rank(path) >= 0 and _rank(ctx.path) >= 0


def _rank(path: str) -> int:
    """Where a file stands among those that say of no variant; -1: it is not one of them."""
    match = _MAIN.fullmatch(posixpath.basename(path))
    return match.lastindex or 0 if match else -1


def _includes(path: str, other: str, ctx: FileContext) -> bool:
    """Whether a file always takes in another one, with `-r`, `-c` or the like."""
    document = ctx.index.document(path)
    included = document.includes if isinstance(document, Manifest) else ()
    directory = posixpath.dirname(path)
    return other in (posixpath.normpath(posixpath.join(directory, i.path)) for i in included if not i.condition)


def _spoken(requirement: Requirement) -> str:
    return f"{requirement.package} {requirement.written.strip()}".strip()


def _said(path: str, requirement: Requirement, ctx: FileContext) -> str:
    document = ctx.index.document(path)
    line = f"line {document.line(requirement)}" if isinstance(document, Manifest) else ""
    return f"{_spoken(requirement)} in {line if path == ctx.path else f'{path}, {line}'}"
