"""Raising the least version that a project allows, without changing anything else it says, and never to a release
that was taken over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from codemods.project.ranges import every, possible, verdict
from codemods.project.versions import surely
from codemods.sources.files import is_manifest
from codemods.sources.manifest import Manifest, Requirement
from codemods.sources.manifest.specifiers import CLAUSE, alternatives, split, standard

if TYPE_CHECKING:
    from codemods.model.plan import Target
    from codemods.rules.file_context import FileContext
    from codemods.rules.rule import Remedy

COMPROMISED: Mapping[str, tuple[str, ...]] = {
    "lightning": ("2.6.2", "2.6.3"),
    "pytorch-lightning": ("2.6.2", "2.6.3"),
}
"""Releases published by an intruder (advisory GHSA-w37p-236h-pfx3)."""

CLEAN = {"lightning": "2.6.6", "pytorch-lightning": "2.6.6"}
"""A later release that is known to be the maintainers' own: where it is allowed, pip takes it or a newer one."""

COMPANIONS: Mapping[str, tuple[str, ...]] = {
    "torch": (
        *("torchvision", "torchaudio", "torchtext", "torchdata", "functorch", "triton", "xformers"),
        *("pytorch-cuda", "pytorch-mutex", "cudatoolkit"),
    ),
}
"""Packages each release of which goes with one release (or few) of another: pinned, they hold that one where it is."""


def satisfied(target: Target | None, floor: str) -> bool:
    """Whether every version that the project allows is at least `floor`; unknown versions are not."""
    return surely(target, f">={floor}")


def compromised(package: str, spec: str) -> bool:
    """Whether pip may settle on a release that was taken over: one is allowed, and none that is surely newer."""
    for option in alternatives(spec) or ():
        allowed = SpecifierSet(option)
        if any(allowed.contains(bad, prereleases=True) for bad in COMPROMISED.get(package, ())):
            if not allowed.contains(CLEAN[package], prereleases=True):
                return True
    return False


def raised(requirement: Requirement, floor: str) -> str | None:
    """The constraint with its floor raised and nothing else changed, for `Manifest.edits`; None: a person must decide.

    `>=2.0` becomes `>=2.0.7`; a pin stays a pin, within its major version; `^` and `~=` stay where they can. What asks
    for `floor` already stays as it is. Never anything that lets pip install a compromised release.
    """
    if requirement.specs is None or floor in COMPROMISED.get(requirement.package, ()):
        return None
    if every(requirement.specs, f">={floor}"):
        new: str | None = requirement.written
    elif not requirement.editable or len(requirement.specs) > 1:
        return None
    else:
        new = _raised(requirement.written, requirement.specs[0], floor)
    return None if new is None or compromised(requirement.package, new) else new


def _raised(written: str, spec: str, floor: str) -> str | None:
    if not possible(spec):
        return None
    clauses: list[str] = []
    for clause in split(written):
        if (higher := _higher(clause, floor)) is None:
            return None
        clauses += (each for each in higher if each not in clauses)
    new = ",".join(clauses)
    if not every(alternatives(new), f">={floor}"):
        new = ",".join([f">={floor}", *clauses])
    (said,) = alternatives(new) or ("",)
    if not possible(said):
        return None
    pinned = any(clause.startswith("==") and not clause.endswith(".*") for clause in spec.split(","))
    meant = said if pinned else f"{spec},>={floor}".strip(",")
    same = verdict(said, meant)[1] and verdict(meant, said)[1]
    return new if same and every((said,), f">={floor}") else None


def _higher(clause: str, floor: str) -> list[str] | None:
    """One comparison with its floor raised, as one or more comparisons; None where that is not ours to do."""
    match, said = CLAUSE.fullmatch(clause), standard(clause)
    assert match is not None
    operator, version = match[1] or "", match[3]
    if said[0].startswith(("<", "!=")) or every((",".join(said),), f">={floor}"):
        return [clause]
    if said[0].startswith("==") and not said[0].endswith(".*"):
        return _pin(operator, version, floor)
    if said[0].startswith(">"):
        return [f">={floor}"] if len(said) == 1 else _kept(operator, floor, said)
    release = Version(said[0].removeprefix("~=").removeprefix("==").removesuffix(".*")).release
    if said[0].startswith("~="):
        above = (*release[:-2], release[-2] + 1)
        if (fitting := _as_long(floor, len(release))) is not None:
            return [f"~={fitting}"]
    else:
        above = (*release[:-1], release[-1] + 1)
    return [f">={floor}", f"<{'.'.join(map(str, above))}"]


def _pin(operator: str, version: str, floor: str) -> list[str] | None:
    old, new = Version(version), Version(floor)
    if old.local or old.is_prerelease or old.major != new.major or old.epoch:
        return None
    return [operator + (_as_long(floor, len(old.release)) or floor)]


def _kept(operator: str, floor: str, said: list[str]) -> list[str]:
    """`^` or `~` with a higher floor, if that leaves the ceiling where it is; else both bounds."""
    higher = operator + floor
    return [higher] if standard(higher)[1:] == said[1:] else [f">={floor}", *said[1:]]


def _as_long(version: str, length: int) -> str | None:
    """The version with as many parts, where only zeros are added or taken away."""
    release = list(Version(version).release)
    while len(release) > length and release[-1] == 0:
        release.pop()
    release += [0] * (length - len(release))
    return ".".join(map(str, release)) if len(release) == length else None


def with_floor(ctx: FileContext, package: str, remedy: Remedy) -> Remedy:
    """The remedy, with the floor of a package raised to what it requires where the project's requirements can hold it.

    Its title says so.
    """
    floor = remedy.requires.get(package, "").removeprefix(">=")
    raised = floor_edits(ctx, package, floor) if floor else {}
    return replace(remedy, title=f"{remedy.title}, and ask for {package} {floor}", also=raised) if raised else remedy


def floor_edits(ctx: FileContext, package: str, floor: str) -> dict[str, dict[Requirement, str]] | None:
    """What a fix must carry in `also=` so that the project asks for at least `floor`; {} where it does already.

    None where that cannot be had by editing: no file names the package, or a lock file, hashes, an address, a pinned
    companion or an included file of an odd name decide. Pins are raised before ranges, ranges before bare names, and no
    more than it takes.
    """
    target = ctx.target(package)
    if satisfied(target, floor):
        return {}
    versions, root = ctx.index.versions, ctx.index.root(ctx.path)
    if target is not None and target.given:
        return None
    if any(_holds(each) for name in COMPANIONS.get(package, ()) for _, each in versions.requirements(root, name)):
        return None
    edits: dict[str, dict[Requirement, str]] = {}
    supposed: dict[Requirement, tuple[str, ...]] = {}
    mentions = versions.requirements(root, package)
    for group in (_pinned, _bounded, _bare):
        for path, each in mentions:
            if group(each) and not every(each.specs, f">={floor}"):
                new, read = raised(each, floor), versions.manifest(path)
                if new is None or not is_manifest(path) or not isinstance(read, Manifest) or not read.edits(each, new):
                    return None
                edits.setdefault(path, {})[each] = new
                supposed[each] = alternatives(new) or ()
        if satisfied(versions.supposing(root, package, supposed), floor):
            return edits
    return None


def carried(requirement: Requirement, version: str) -> str | None:
    """The constraint of a project that is carried to a release, for `Manifest.edits`; None: a person must decide.

    A pin becomes a pin of that release, `^` and `~=` stay what they are, a floor is raised to it, a ceiling that
    forbids it goes, and what asks for anything asks for at least that release.
    """
    if requirement.specs is None or not requirement.editable or len(requirement.specs) > 1:
        return None
    if version in COMPROMISED.get(requirement.package, ()):
        return None
    clauses: list[str] = []
    for clause in split(requirement.written):
        match, said = CLAUSE.fullmatch(clause), standard(clause)
        assert match is not None
        operator, old = match[1] or "", match[3]
        if said[0].startswith("!=") or (said[0].startswith("<") and every((f"=={version}",), ",".join(said))):
            clauses.append(clause)
        elif said[0].startswith(("==", "~=")) or operator in ("^", "~"):
            wild = old.endswith(".*")
            parts = max(len(Version(old.removesuffix(".*")).release), 2 if said[0].startswith("~=") else 1)
            kept = version if said[0].startswith("==") and not wild else ".".join(version.split(".")[:parts])
            clauses.append(f"{operator}{kept}{'.*' if wild else ''}")
        elif not said[0].startswith("<"):
            clauses.append(f">={version}")
    if all(clause.startswith(("<", "!=")) for clause in clauses):
        clauses.insert(0, f">={version}")
    new = ",".join(dict.fromkeys(clauses))
    return None if compromised(requirement.package, new) else new


def _clauses(each: Requirement) -> Iterator[str]:
    for option in each.specs or ():
        yield from filter(None, option.split(","))


def _pinned(each: Requirement) -> bool:
    return any(clause.startswith("==") for clause in _clauses(each))


def _bounded(each: Requirement) -> bool:
    return not _pinned(each) and any(True for _ in _clauses(each))


def _bare(each: Requirement) -> bool:
    return not any(True for _ in _clauses(each))


def _holds(each: Requirement) -> bool:
    """Whether a companion goes with some versions only: it is pinned, has a ceiling, or nobody knows."""
    return each.specs is None or any(clause.startswith(("==", "~=", "<")) for clause in _clauses(each))
