"""A requirement that forbids, or does not ask for, the release to which `fixer upgrade` carries a project.

## Why is this bad?
Code that was carried to a newer release fails with the older one, and the requirement still asks for that.

Found by `fixer upgrade` only, in every packaging file of the project, together with requirements of other packages that
the release cannot be installed with, packages that its classes need and nothing asks for, environments of conda in
files that are called otherwise, and pins in other configuration files and in scripts that install.

## Fix safety
Safe: the release is the one that was asked for. A pin becomes a pin of that release, a floor is raised to it, and a
ceiling that forbids it goes.

## When it is not offered
For other packages, where a person chooses the version. For lock files, hashes and addresses, which the tool that wrote
them makes anew; for alternatives (`1.x || 2.x`). A notebook that installs another release itself is named, and what
uses it there stays as it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.minimum_versions import carried
from codemods.frameworks.removed_names.drafts import PACKAGES as IMPORTED_AS
from codemods.frameworks.removed_names.tables import LIBRARIES, companions, needs, required, requirements
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.project import ranges
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.config import Config, Scalar
from codemods.sources.manifest import Requirement, conda
from codemods.sources.manifest.requirement import CONDA, PACKAGES
from codemods.sources.shell import Command

_PIN = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_.-]*)(?P<pin>==\d[A-Za-z0-9_.+!]*)")
_DISTRIBUTIONS = {name: name for name in LIBRARIES} | {"pytorch_lightning": "lightning"}
"""What is imported → the distribution whose version counts."""

rule = Rule(
    code="VER007",
    name="requirement-below-upgrade",
    summary="this requirement does not ask for the release that the project is carried to",
    fix_title="Ask for the release",
    safety=Safety.SAFE,
    consequence=Consequence.STYLE,
    effect=Effect.NUMBERS,
    triggers=(tuple(_DISTRIBUTIONS),),
    elsewhere=tuple(name.encode() for name in (*PACKAGES, *required()) if name != "python"),
    upgrading=True,
    references=("https://packaging.python.org/en/latest/specifications/version-specifiers/",),
)


@rule.on(Requirement)
def below_upgrade(requirement: Requirement, ctx: FileContext) -> Iterator[Draft]:
    version = ctx.upgrade(requirement.package)
    if version is None:
        return
    if requirement.specs is not None and ranges.every(requirement.specs, f">={version}"):
        return
    asked = f"`{requirement.package}{requirement.written}`" if requirement.written else f"`{requirement.package}`"
    message = f"{asked} becomes {version}"
    new = carried(requirement, version)
    if new is None or new == requirement.written:
        yield rule.finding(requirement, message=f"{message}: {requirement.why_not or 'a person has to change it'}")
    else:
        yield rule.finding(requirement, fix={requirement: new}, message=message, title=f"Ask for {version}")


@rule.on(Requirement)
def beside_upgrade(requirement: Requirement, ctx: FileContext) -> Iterator[Draft]:
    """A requirement that leaves no version which the release could be installed with."""
    if requirement.specs is None or requirement.locked or ctx.upgrade(requirement.package) is not None:
        return
    written = f"`{requirement.package}{requirement.written}`"
    for library in LIBRARIES:
        version = ctx.upgrade(library)
        if version is None or not _is_asked_for(ctx, library):
            continue
        asked = requirements(library, version).get(requirement.package, "")
        if asked and not any(ranges.verdict(each, asked)[0] for each in requirement.specs):
            message = f"{written} does not go with {library} {version}, which asks for {requirement.package}{asked}"
            yield rule.finding(requirement, message=message)
        built = companions(library, version).get(requirement.package, "")
        if built and not any(ranges.verdict(each, built)[0] for each in requirement.specs):
            message = f"{written} does not go with {library} {version}, for which {requirement.package}{built} is built"
            yield rule.finding(requirement, message=message)


def _is_asked_for(ctx: FileContext, library: str) -> bool:
    """Whether a file asks for a library, or no file does and the code uses it (`of_another_environment`)."""
    paths = {path for path, _ in ctx.requirements(library)}
    return ctx.path in paths if paths else any(ctx.index.using(ctx.path, IMPORTED_AS.get(library, (library,))))


@rule.on(Requirement)
def not_asked_for(requirement: Requirement, ctx: FileContext) -> Iterator[Draft]:
    """What a class of the release cannot be made without, and nothing in the project asks for."""
    library, version = requirement.package, ctx.upgrade(requirement.package)
    if (
        requirement.locked
        or version is None
        or library not in LIBRARIES
        or "[" in ctx.text[requirement.start : requirement.end]
    ):
        return
    for name, packages in needs(library).items():
        missing = [package for package in packages if not ctx.requirements(package)]
        if missing and ctx.index.search(ctx.path, (name.encode(),)):
            asked = ", ".join(f"`{package}{packages[package]}`" for package in missing)
            message = f"`{name}` of {library} {version} needs {asked}, which no packaging file asks for"
            yield rule.finding(requirement, message=message)
            return


@rule.on(Config)
def of_another_name(config: Config, ctx: FileContext) -> Iterator[Draft]:
    """What a configuration file asks for: an environment of conda under another name, packages of an image."""
    listed = [each for root in config.roots[:1] for each in conda.requirements(config.text, root)]
    for each in listed:
        yield from _elsewhere(each, each.package, each.specs, each.written, ctx)
    if not listed:
        for node in config.nodes():
            if isinstance(node, Scalar) and isinstance(node.value, str):
                yield from _pinned(node, node.value, ctx)


@rule.on(Command)
def by_a_script(command: Command, ctx: FileContext) -> Iterator[Draft]:
    """What a script installs: `conda install pytorch==1.12.1`."""
    words = [word.text for word in command.words]
    if "install" in words[:4]:
        for word in command.words[words.index("install") + 1 :]:
            yield from _pinned(word, word.text, ctx)


def _pinned(node: object, text: str, ctx: FileContext) -> Iterator[Draft]:
    """A pin in a text, `torch==1.12.1`, of a package that is carried to another release."""
    if match := _PIN.fullmatch(text):
        package = CONDA.get(match["name"], match["name"])
        yield from _elsewhere(node, package, (match["pin"],), match["pin"], ctx)


def _elsewhere(
    node: object, package: str, specs: tuple[str, ...] | None, written: str, ctx: FileContext
) -> Iterator[Draft]:
    version = ctx.upgrade(package)
    if version is not None and not (specs and ranges.every(specs, f">={version}")):
        message = f"`{package}{written}` does not ask for {version}: if something installs it, change it here"
        yield rule.finding(node, message=message)


@rule.on(ast.Import, ast.ImportFrom)
def installed_by_a_notebook(statement: ast.Import | ast.ImportFrom, ctx: PythonContext) -> Iterator[Draft]:
    names = (
        [statement.module or ""] if isinstance(statement, ast.ImportFrom) else [each.name for each in statement.names]
    )
    for package in {_DISTRIBUTIONS.get(name.partition(".")[0], "") for name in names} - {""}:
        if (kept := ctx.kept(package)) is not None:
            message = f"this file installs `{package}{kept.spec}` itself: what uses it stays as it is"
            yield rule.finding(statement, message=message)
