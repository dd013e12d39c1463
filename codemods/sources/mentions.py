"""One line of a packaging file: its package and versions, in the dialects of pip, Poetry and conda."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

PACKAGES = ("torch", "lightning", "pytorch-lightning", "transformers", "accelerate", "peft", "trl", "python")
"""The distributions whose versions are read, and Python itself."""

CONDA = {"pytorch": "torch", "pytorch-gpu": "torch", "pytorch-cpu": "torch"}
"""What conda calls some of them."""

LONGEST = 400
"""Characters of one constraint; a longer one is taken for unknown (hundreds of clauses are nobody's own writing)."""

LONGEST_LINE = 2_000
"""Characters of one requirement without its options; a longer one is passed over."""


@dataclass(frozen=True, slots=True)
class Mention:
    """What one place of a packaging file says about one package."""

    package: str
    specs: tuple[str, ...] | None
    """Alternatives, each a PEP 440 specifier set ("" is any version); None where the version cannot be told."""
    source: str
    """The path of the file."""
    condition: str = ""
    """What must hold for it to count (a marker, an extra, a group); "" if it always counts."""
    locked: bool = False
    """Whether a lock file says so."""


@dataclass(frozen=True, slots=True)
class Include:
    """Another requirements file that counts as part of this one."""

    path: str
    """As written, relative to the directory of the including file."""
    condition: str = ""


_OPERATOR = re.compile(r"(===|==|~=|!=|<=|>=|<|>|=|\^|~)?\s*v?([^\s=<>!~^,;|]+)")
_GAP = re.compile(r"(?<=[\w.*])\s+(?=[<>=!~^\d])")
_OPTION = re.compile(r"\s-{1,2}[A-Za-z].*")
_INCLUDE = re.compile(r"(?:-r|--requirement|-c|--constraint)(?:\s*=\s*|\s*)(\S+)")
_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*([^;]*)(?:;(.*))?")
_CONDA = re.compile(r"(?:[^\s:]*::)?([A-Za-z0-9][\w.-]*)(.*)")
_BUILD = re.compile(r"(={1,2}\s*[^=,|<>!~\s]+)(?:=\S*)?")
_ADDRESS = re.compile(r"[\w.+-]+:|git@")
_NAMED_BY_ADDRESS = (
    re.compile(r"[#&]egg=([\w.-]+)"),
    re.compile(r"/([\w.-]+?)\.git(?:[@#]|$)"),
    re.compile(r"/(\w+)-\d[^/]*\.(?:whl|zip|tar\.gz)"),
    re.compile(r"/([\w.-]+)(?:@[^/]*)?$"),
)


@lru_cache(maxsize=2048)
def alternatives(text: str) -> tuple[str, ...] | None:
    """The constraint as PEP 440 specifier sets of which any may hold, or None if it cannot be told.

    Besides PEP 440 it reads `^2.1`, `~2.1`, `2.1` (exactly), `=2.4` (any 2.4), `*`, and `a || b`. Local versions are
    dropped: `==2.4.1+cu121` says `==2.4.1`.
    """
    if len(text) > LONGEST:
        return None
    found = []
    for option in re.split(r"\|\|?", text):
        clauses: list[str] = []
        for clause in _GAP.sub(",", option.strip().removeprefix("(").removesuffix(")")).split(","):
            if clause.strip() in ("", "*", "==*"):
                continue
            try:
                clauses += _standard(clause.strip())
            except ValueError:
                return None
        found.append(",".join(sorted(dict.fromkeys(clauses), key=lambda clause: clause[0] in "<!")))
    return tuple(dict.fromkeys(found))


def _standard(clause: str) -> list[str]:
    """One comparison, in any dialect, as PEP 440 comparisons."""
    match = _OPERATOR.fullmatch(clause)
    if not match:
        raise ValueError(clause)
    operator, version = match[1] or "==", match[2].partition("+")[0]
    if operator in ("=", "===", ">=", "<", "^", "~"):
        version = version.removesuffix(".*")
    release = Version(version.removesuffix(".*")).release
    if operator in ("^", "~"):
        kept = next((i for i, part in enumerate(release) if part), len(release) - 1) if operator == "^" else 1
        kept = min(kept, len(release) - 1)
        return [f">={version}", "<" + ".".join(map(str, (*release[:kept], release[kept] + 1)))]
    if operator == "=" and len(release) < 3 and re.fullmatch(r"[\d.]+", version):
        version += ".*"
    written = ("==" if operator in ("=", "===") else operator) + version
    SpecifierSet(written)
    return [written]


def requirement(line: str, source: str, condition: str = "") -> Iterator[Mention | Include]:
    """One line of a requirements file, or one string of a dependency list: at most one mention or include."""
    line = _OPTION.sub("", re.sub(r"(^|\s)#.*", "", line).strip())
    if len(line) > LONGEST_LINE:
        return
    if include := _INCLUDE.fullmatch(line):
        yield Include(include[1].strip("'\""), condition)
        return
    line = re.sub(r"^(?:-e|--editable)[\s=]+", "", line)
    if line.startswith("-"):
        return
    if _ADDRESS.match(line):
        address, _, marker = line.partition(" ;")
        names = (found[1] for pattern in _NAMED_BY_ADDRESS if (found := pattern.search(address.strip().rstrip("/"))))
        if package := _known(next(names, "")):
            yield Mention(package, None, source, condition or marker.strip())
    elif re.fullmatch(r"[\w.-]+=[^=\s]+=[^=\s]+", line):
        yield from conda(line, source, condition)
    elif (match := _REQUIREMENT.fullmatch(line)) and (package := _known(match[1])):
        specs = None if match[2].startswith("@") else alternatives(match[2].strip())
        yield Mention(package, specs, source, condition or (match[3] or "").strip())


def conda(item: str, source: str, condition: str = "") -> Iterator[Mention]:
    """One item of a conda environment: `channel::name`, with `=2.4`, `==2.4.1`, `=2.4.1=build`, `>=2,<3` or nothing."""
    if match := _CONDA.fullmatch(item.strip()):
        name = canonicalize_name(match[1])
        if package := _known(CONDA.get(name, name), python=True):
            constraint = match[2].strip()
            build = _BUILD.fullmatch(constraint)
            yield Mention(package, alternatives(build[1] if build else constraint), source, condition)


def _known(name: str, python: bool = False) -> str | None:
    canonical = canonicalize_name(name)
    return canonical if canonical in PACKAGES and (python or canonical != "python") else None
