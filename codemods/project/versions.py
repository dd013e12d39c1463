"""Which versions of torch, Lightning, transformers and friends a project allows, and whether a range holds for them.

Files are reached through a `Reader`; nothing is imported or executed. The nearest project that mentions a package
decides. In one project a lock file outweighs everything; a pin outweighs the ranges it lies in (`torch==2.4.1` in
requirements.txt, `torch>=2.0` in pyproject.toml); what contradicts it, or holds only under a marker, an extra or a
group, stays beside it as an alternative, for any version that some file allows may be the one in use.
"""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from packaging.utils import canonicalize_name

from codemods.model.edits import Skip
from codemods.model.plan import UPGRADE, Project, Target
from codemods.project.pins import TWINS, Mention, settled
from codemods.project.ranges import possible, verdict
from codemods.sources import files, manifest
from codemods.sources.document import Reader
from codemods.sources.manifest import Manifest, Requirement
from codemods.sources.manifest.installs import installs
from codemods.sources.manifest.requirement import CONDA, PACKAGES, Include
from codemods.sources.manifest.script import asked_by_script, may_ask
from codemods.sources.manifest.specifiers import alternatives

__all__ = ["PACKAGES", "Reader", "Versions", "may", "parse_target", "project_root", "surely", "targets"]

_ORDER = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
"""What is named as the source where several files say the same; the others follow by name."""

_RUNNING = frozenset(
    {
        "requirements",
        "requirement",
        "constraints",
        "environment",
        "env",
        "conda",
        "pip",
        "base",
        "core",
        "main",
        "common",
    }
    | {"prod", "production", "runtime", "run", "train", "training", "gpu", "cuda", "cu", "cpu", "rocm", "full", "all"}
    | {"install", "py", "python", "torch", "pytorch", "linux", "win", "windows", "mac", "local", "freeze", "frozen"}
    | {"lock", "pinned", "deploy", "deployment"}
)
"""Words in the name of a requirements file that is for running the project; any other word is a condition."""


@runtime_checkable
class PackagingReader(Protocol):
    """A reader that finds the packaging files of one directory without listing all files."""

    def packaging(self, directory: str, /) -> Sequence[str]:
        """Those directly in the directory, sorted: what `files` has there."""


class Versions:
    """The projects of one tree and the versions they allow; each file is read once."""

    def __init__(self, reader: Reader, overrides: Mapping[str, str | Target] | None = None) -> None:
        self.notes: list[str] = []
        """A sentence for each packaging file that could not be read, and for each requirement that makes no sense."""
        self._reader = reader
        self._given = {name: _given(name, spec) for name, spec in (overrides or {}).items()}
        for name, twin in (TWINS, TWINS[::-1]):
            if name not in self._given and twin in self._given:
                self._given[name] = self._given[twin]
        self._directories: dict[str, tuple[str, ...]] = {}
        self._listed: dict[str, tuple[str, ...]] | None = None
        self._manifests: dict[str, Manifest | Skip | None] = {}
        self._own: dict[str, dict[str, Target]] = {}
        self._projects: dict[str, Project] = {}
        self._own_of: dict[str, dict[str, Target]] = {}

    def root(self, path: str) -> str:
        """The nearest directory above `path` that holds packaging metadata, or ""."""
        return next((directory for directory in _above(path) if self._files(directory)), "")

    def project(self, root: str) -> Project:
        """The project in the directory `root`, with what it and the projects around it say about each package."""
        if root not in self._projects:
            found: dict[str, Target] = {}
            for directory in self._around(root):
                found = {**self._targets(directory), **found}
            self._projects[root] = Project(root, {**found, **self._given})
        return self._projects[root]

    def roots(self) -> frozenset[str]:
        """The directories of all projects of the tree."""
        return frozenset(self.root(path) for path in self._reader.files() if files.is_manifest(path))

    def allowed(self, path: str) -> Mapping[str, Target]:
        """What holds for one file: what a notebook installs, or a script asks for itself, comes before its project.

        It also comes before a release that the project is carried to, and that these commands would not install.
        """
        home = files.container(path)
        project = self.project(self.root(home)).targets
        if home not in self._own_of:
            self._own_of[home] = settled([list(self._of_itself(home))])
        own = self._own_of[home]
        if not own:
            return project
        kept = {name for name, given in self._given.items() if given.source == UPGRADE and not _admits(own, given)}
        return {**project, **own, **{name: given for name, given in self._given.items() if name not in kept}}

    def manifests(self, root: str) -> Sequence[str]:
        """The packaging files of the project in `root`: its own, and those that they include, sorted."""
        return sorted({path for own in self._files(root) for path, _, _ in self._closure(own)})

    def manifest(self, path: str) -> Manifest | Skip | None:
        """A packaging file, read; None where there is no such file."""
        if path not in self._manifests:
            data = self._reader.read(path)
            source = files.decode(path, data) if data is not None else None
            read = manifest.read(path, source.text) if source and not isinstance(source, Skip) else source
            assert read is None or isinstance(read, Manifest | Skip)
            self._manifests[path] = read
            self.notes += (f"{path}: {note}" for note in _notes(read))
        return self._manifests[path]

    def requirements(self, root: str, package: str) -> list[tuple[str, Requirement]]:
        """Every mention of a package, or of its twin, in the nearest project that has one, each with its file."""
        return next((found for directory in self._around(root) if (found := self._naming(directory, package))), [])

    def further_out(self, root: str, package: str) -> Iterator[tuple[str, Requirement, Target]]:
        """Every mention of a package in the projects around the nearest one that has one, with what that one allows."""
        naming = [directory for directory in self._around(root) if self._naming(directory, package)]
        for directory in naming[1:]:
            if (target := self._targets(directory).get(package)) is not None:
                yield from ((path, each, target) for path, each in self._naming(directory, package))

    def supposing(self, root: str, package: str, specs: Mapping[Requirement, tuple[str, ...]]) -> Target | None:
        """What the project would allow if some requirements said something else."""
        for directory in self._around(root):
            if self._naming(directory, package):
                return settled([list(self._mentions(path, specs)) for path in self._files(directory)]).get(package)
        return None

    def _naming(self, directory: str, package: str) -> list[tuple[str, Requirement]]:
        names = TWINS if package in TWINS else (package,)
        return [
            (path, each)
            for path in self.manifests(directory)
            if isinstance(read := self.manifest(path), Manifest)
            for each in read.requirements
            if each.package in names
        ]

    def _around(self, root: str) -> Iterator[str]:
        """The directories of the projects that speak for `root`, nearest first."""
        return (directory for directory in (root, *_above(root)) if self._files(directory))

    def _files(self, directory: str) -> tuple[str, ...]:
        """The packaging files of a directory; those in `requirements/` belong to the directory above."""
        if directory not in self._directories:
            inside = self._in(posixpath.join(directory, "requirements"))
            own = () if posixpath.basename(directory) == "requirements" else self._in(directory)
            self._directories[directory] = tuple(sorted((*own, *inside), key=_rank))
        return self._directories[directory]

    def _in(self, directory: str) -> Sequence[str]:
        if isinstance(self._reader, PackagingReader):
            return self._reader.packaging(directory)
        if self._listed is None:
            self._listed = files.by_directory(filter(files.is_manifest, self._reader.files()))
        return self._listed.get(directory, ())

    def _targets(self, directory: str) -> dict[str, Target]:
        """What the packaging files of one directory say."""
        if directory not in self._own:
            said = [list(self._mentions(path)) for path in self._files(directory)]
            self._own[directory] = settled(said)
        return self._own[directory]

    def _mentions(
        self, path: str, supposed: Mapping[Requirement, tuple[str, ...]] = MappingProxyType({})
    ) -> Iterator[Mention]:
        """What a file says, with the files it includes."""
        for inner, read, condition in self._closure(path, _purpose(path)):
            for said in read.requirements:
                if said.package in PACKAGES:
                    specs = supposed.get(said, said.specs)
                    yield Mention(said.package, specs, inner, condition or said.condition, said.locked)

    def _of_itself(self, path: str) -> Iterator[Mention]:
        """What one notebook installs; what one script asks for in a comment (PEP 723), or pins in a text."""
        if not path.endswith((files.NOTEBOOK, *files.PYTHON)) or files.is_manifest(path):
            return  # setup.py asks for its project (setup_py)
        if (data := self._reader.read(path)) is None:
            return
        if path.endswith(files.NOTEBOOK):
            yield from self._installed(path, getattr(files.decode(path, data), "installs", ()))
        elif may_ask(data):
            source = files.decode(path, data)
            for each in asked_by_script(source.text) if not isinstance(source, Skip) else ():
                yield Mention(each.package, each.specs, path, each.condition)

    def _installed(self, notebook: str, commands: Sequence[str]) -> Iterator[Mention]:
        """What commands in a notebook install, also by way of requirements files."""
        for command in commands:
            for each in installs(command):
                if isinstance(each, Include):
                    path = posixpath.normpath(posixpath.join(posixpath.dirname(notebook), each.path))
                    yield from () if path.startswith(("/", "../")) else self._mentions(path)
                elif each.package in PACKAGES:
                    yield Mention(each.package, each.specs, notebook, each.condition)

    def _closure(self, path: str, condition: str = "") -> Iterator[tuple[str, Manifest, str]]:
        """A file and those it includes, each with the condition of its inclusion; none that lies outside the tree."""
        waiting, seen = [(path, condition)], {path}
        while waiting:
            path, condition = waiting.pop(0)
            if not isinstance(read := self.manifest(path), Manifest):
                continue
            yield path, read, condition
            for include in read.includes:
                inner = posixpath.normpath(posixpath.join(posixpath.dirname(path), include.path))
                if inner not in seen and "://" not in include.path and not inner.startswith(("/", "../")):
                    seen.add(inner)
                    waiting.append((inner, condition or include.condition))


def _notes(read: Manifest | Skip | None) -> Iterator[str]:
    if isinstance(read, Skip):
        yield f"its versions cannot be read: {read.detail}"
    elif read:
        yield from read.notes()


def _purpose(path: str) -> str:
    """What a requirements file is for, by its name, where that is not just running the project: a condition."""
    name = posixpath.basename(path)
    if name.endswith((".txt", ".in", ".yml", ".yaml")):
        words = re.findall(r"[A-Za-z]+", posixpath.splitext(name)[0])
        if odd := [word for word in words if word.lower() not in _RUNNING]:
            return f"{' '.join(odd)} requirements"
    return ""


def _rank(path: str) -> tuple[int, str]:
    name = posixpath.basename(path)
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), path)


def project_root(reader: Reader, path: str) -> str:
    """The nearest directory above `path` that holds packaging metadata, or "" (the root)."""
    return Versions(reader).root(path)


def targets(
    reader: Reader, path_or_root: str, overrides: Mapping[str, str | Target] | None = None
) -> dict[str, Target]:
    """Package → allowed versions for a file, or for the directory of a project; `overrides` come before all files.

    A package that no file mentions is absent. `Target.spec` is a PEP 440 specifier set, several joined with ` || `
    where any of them may be in force (so of `lightning` and `pytorch-lightning` with versions that contradict), or ""
    where the package is mentioned and any version will do or none can be told (an address instead of a version).
    """
    versions = Versions(reader, overrides)
    path = _normal(path_or_root)
    return dict(versions.project(path if versions.manifests(path) else versions.root(path)).targets)


def parse_target(text: str, option: str = "--target", source: str = "--target") -> Target:
    """`torch=2.4` (any 2.4), `torch==2.4.1`, `torch>=2.3,<3` as a target.

    Args:
        option: what the person wrote it in.
        source: what it is said to be from.

    Raises:
        ValueError: with a sentence, if it is not a package whose versions count, with versions that can exist.
    """
    match = re.fullmatch(r"\s*([A-Za-z0-9][\w.-]*?)\s*([<>=!~^].*)", text)
    if not match:
        bare = re.fullmatch(r"\s*([A-Za-z][A-Za-z_-]*)[\s:@]*(\d[\w.]*)\s*", text)
        near = f"; did you mean {_nearest(bare[1])}={bare[2]}?" if bare and _nearest(bare[1]) else ""
        raise ValueError(f"{option} {text!r}: {_WRITE}{near or _SUCH_AS}")
    written, constraint = match[1], match[2].strip()
    name: str = canonicalize_name(written)
    if name not in PACKAGES:
        near = _nearest(written)
        which = f"did you mean {near}{constraint}?" if near else f"give one of {', '.join(PACKAGES)}"
        raise ValueError(f"{option} {text!r}: nothing depends on the version of {written}; {which}")
    specs = alternatives(constraint)
    if not specs or not all(specs):
        raise ValueError(f"{option} {text!r}: {constraint.lstrip('=')!r} is no version; {_WRITE}{_SUCH_AS}")
    if not any(map(possible, specs)):
        raise ValueError(f"{option} {text!r}: no version is in {constraint}")
    return Target(name, " || ".join(specs), source, given=True)


_WRITE, _SUCH_AS = "write PACKAGE=VERSION", ", such as torch=2.4 or 'torch>=2.4,<3'"


def _nearest(name: str) -> str:
    """The package that somebody may have meant, or ""."""
    known: str = canonicalize_name(name)
    if known in CONDA or known in PACKAGES:
        return CONDA.get(known, known)
    return next(iter(difflib.get_close_matches(known, PACKAGES, n=1, cutoff=0.7)), "")


def _given(package: str, spec: str | Target) -> Target:
    return spec if isinstance(spec, Target) else Target(package, spec, "--target", given=True)


def _admits(allowed: Mapping[str, Target], given: Target) -> bool:
    """Whether a release that was given is among the allowed ones of its package."""
    return may(allowed.get(given.package), given.spec)


def may(target: Target | None, range: str) -> bool:
    """Whether any allowed version is in `range`: the question for `bites`. Unknown versions are."""
    return target is None or verdict(target.spec, range)[0]


def surely(target: Target | None, range: str) -> bool:
    """Whether every allowed version is in `range`: the question for `needs`. Unknown versions are not."""
    return target is not None and verdict(target.spec, range)[1]


def _normal(path: str) -> str:
    """The path without `.` and `..`; one that leads outside becomes the root."""
    path = posixpath.normpath(path) if path else ""
    return "" if path in (".", "..") or path.startswith(("/", "../")) else path


def _above(path: str) -> Iterator[str]:
    """The directories above a path, nearest first, the root last."""
    path = _normal(path)
    while path:
        path = posixpath.dirname(path)
        yield path
