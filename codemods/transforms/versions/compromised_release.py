"""A release of Lightning that an intruder published.

On 30 April 2026 versions 2.6.2 and 2.6.3 of `lightning` and `pytorch-lightning` were uploaded with stolen credentials
(advisory GHSA-w37p-236h-pfx3). They start a hidden process on `import lightning` that collects tokens, keys and
environment variables and sends them away.

## Why is this bad?
Whoever installs what this file asks for runs that program. PyPI has withdrawn the two releases, so that installing
from there fails:

    ERROR: No matching distribution found for lightning==2.6.3

Mirrors, caches, container images and wheel folders may still hold them. Where one was ever imported, treat every
credential that the machine could reach as known to others; changing this file does not undo that.

## Fix safety
Unsafe: another release is installed. A pin becomes 2.6.6; 2.6.4 and 2.6.5 are clean of this, but fall under another
advisory (GHSA-qqmf-gpg7-g8gw).

Possible for a build of somebody's own (`2.6.3+local`), in a file that code of the project reads, and in a file that
asks for two releases of the package at once: these may be lists of what is forbidden.

## When it is not offered
Reported only: lock files (with the command that refreshes them), addresses, requirements with hashes, and ranges whose
ceiling forbids 2.6.6. Silent where a range allows any other release as well: installers then find one.
"""

from __future__ import annotations

import ast
import fnmatch
import posixpath
import re
from collections.abc import Iterator

from codemods.analysis import pinned_in_code
from codemods.analysis.python_context import program
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks import minimum_versions
from codemods.frameworks.versions.messages import why_not
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.project import ranges
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.files import PYTHON
from codemods.sources.manifest import Requirement

CLEAN = "2.6.6"

rule = Rule(
    code="VER005",
    name="compromised-release",
    summary="an intruder published Lightning 2.6.2 and 2.6.3, which steal credentials",
    fix_title="Ask for a release that is clean",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    elsewhere=(b"2.6.2", b"2.6.3", b"2.6.1", b"2.6.4"),
    errors=(
        "No matching distribution found for lightning==2.6.2",
        "No matching distribution found for lightning==2.6.3",
        "No matching distribution found for pytorch-lightning==2.6.2",
        "No matching distribution found for pytorch-lightning==2.6.3",
    ),
    references=(
        "https://github.com/Lightning-AI/pytorch-lightning/security/advisories/GHSA-w37p-236h-pfx3",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/21691",
    ),
)


@rule.on(Requirement)
def compromised_release(requirement: Requirement, ctx: FileContext) -> Iterator[Draft]:
    bad = minimum_versions.COMPROMISED.get(requirement.package)
    if not bad:
        return
    if requirement.specs is None:
        here = next((v for v in bad if f"-{v}-" in ctx.text[requirement.start : requirement.end]), "")
    elif ranges.every(requirement.specs, f">={bad[0]},<={bad[-1]}"):
        here = next((v for v in bad if ranges.every(requirement.specs, f"=={v}")), " and ".join(bad))
    else:
        return
    if not here:
        return
    verb = "is a malicious release" if here in bad else "are malicious releases"
    message = f"{requirement.package} {here} {verb} (GHSA-w37p-236h-pfx3): importing it gives credentials away"
    new = minimum_versions.raised(requirement, CLEAN)
    is_bug = [is_the_published_one(requirement, ctx), only_installers_read_it(ctx)]
    if new is None:
        yield rule.finding(requirement, message=f"{message}; {why_not(requirement, CLEAN)}", is_bug=is_bug)
        return
    yield rule.finding(requirement, fix={requirement: new}, message=message, title=f"Ask for {CLEAN}", is_bug=is_bug)


@question
def only_installers_read_it(ctx: FileContext) -> Answer:
    """Whether no code of the project reads the file: it may list releases that must not be installed (`denied`).

    Code that reads requirements, or files that are called alike, may stand anywhere (`denied_in_a_folder`).
    """
    name = posixpath.basename(ctx.path)
    pattern = f"*{posixpath.splitext(name)[1]}"
    reading = ctx.index.holding("", (pattern.encode(),), PYTHON)
    naming = dict.fromkeys((*ctx.index.search(ctx.path, (name.encode(),)), *reading))
    found = (path for path in naming if posixpath.basename(path) != "setup.py")
    scripts = ctx.index.holding("", (name.encode(),), _SCRIPTS)
    read = [place for path in scripts if (place := _read_by_a_script(ctx, path, name)) is not None]
    read += pinned_in_code.by_commands(ctx.index, ctx.index.root(ctx.path))  # (denied_by_a_pattern)
    read += _parsed(ctx)
    if read:
        return unknown(*read)
    return unless(
        there.evidence(text, f"`{name}` is read here")
        for path in found
        if (there := program(ctx.index, path)) is not None
        for text in there.all(ast.Constant)
        if isinstance(text.value, str) and (name in text.value or _fits(name, text.value, pattern))
    )


def _fits(name: str, text: str, pattern: str) -> bool:
    """Whether a text is a pattern of this file's name, and not of any file."""
    last = posixpath.basename(text)
    return last.endswith(pattern) and last != pattern and fnmatch.fnmatch(name, last)


def _parsed(ctx: FileContext) -> Iterator[Evidence]:
    """Where code reads requirements, whatever files it finds them in (`denied_in_any_file`)."""
    for path in ctx.index.holding("", (b"Requirement(", b"parse_requirements("), PYTHON):
        there = program(ctx.index, path) if posixpath.basename(path) != "setup.py" else None
        for call in there.all(ast.Call) if there is not None else ():
            if there is not None and there.origin(call.func) & _PARSERS:
                yield there.evidence(call, "requirements are read here")


_PARSERS = frozenset(
    {"packaging.requirements.Requirement", "pkg_resources.parse_requirements", "pkg_resources.Requirement.parse"}
)
_SCRIPTS = (".sh", ".yml", ".yaml", "Makefile", "Dockerfile", ".ini", ".toml")
_INSTALLED = re.compile(r"(?:-r|-c|--requirement|--constraint|COPY|ADD|cache-dependency-path)\b|requirements?\b.*:")


def _read_by_a_script(ctx: FileContext, path: str, name: str) -> Evidence | None:
    """The first line of a script that names a file of requirements, and hands it to no installer (`denied_by_grep`)."""
    for number, line in enumerate((ctx.index.text(path) or "").splitlines(), start=1):
        before, named, _ = line.partition(name)
        if named and not _INSTALLED.search(before):
            return Evidence(path, number, f"`{name}` is read here")
    return None


@question
def is_the_published_one(requirement: Requirement, ctx: FileContext) -> Answer:
    """Whether a release is the one on PyPI: a local version is somebody's own build."""
    if "+" in ctx.text[requirement.start : requirement.end]:
        return unknown(ctx.shown_at(requirement.start, "this is a build of somebody's own"))
    others = [each for path, each in ctx.requirements(requirement.package) if path == ctx.path]
    pins = {each.specs for each in others if each.package == requirement.package}
    if len(pins) > 1 and all(specs and specs[0].startswith("==") for specs in pins) and requirement.editable:
        return unknown(ctx.shown_at(requirement.start, "a file that asks for two releases may be a list of them"))
    return yes()
