"""Version constraints in the dialects of pip, Poetry, Pipenv and conda: read as PEP 440, and written back."""

from __future__ import annotations

import enum
import re
from functools import lru_cache

from packaging.specifiers import SpecifierSet
from packaging.version import Version

LONGEST = 400
"""Characters of one constraint; a longer one is taken for unknown (hundreds of clauses are nobody's own writing)."""


class Dialect(enum.Enum):
    """Who reads a constraint."""

    PIP = "pip"
    """PEP 440: pip, and every table of PEP 621 and PEP 735."""
    POETRY = "Poetry"
    PIPENV = "Pipenv"
    CONDA = "conda"


CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>|=|\^|~)?(\s*)v?([^\s=<>!~^,;|]+)")
"""Operator, the space after it, version."""

_GAP = re.compile(r"(?<=[\w.*])\s+(?=[<>=!~^\d])")
_FOREIGN = {
    Dialect.PIP: ("=", "^", "~", ""),
    Dialect.PIPENV: ("=", "^", "~"),
    Dialect.POETRY: ("===",),
    Dialect.CONDA: ("===", "^", "~"),
}
"""Operators that a dialect does not know; "" is none at all."""


@lru_cache(maxsize=4096)
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
        for clause in split(option):
            try:
                clauses += standard(clause)
            except ValueError:
                return None
        found.append(",".join(sorted(dict.fromkeys(clauses), key=lambda clause: clause[0] in "<!")))
    return tuple(dict.fromkeys(found))


def split(option: str) -> list[str]:
    """The comparisons of one alternative; those that say nothing left out."""
    parts = _GAP.sub(",", option.strip().removeprefix("(").removesuffix(")")).split(",")
    return [part.strip() for part in parts if part.strip() not in ("", "*", "==*")]


def standard(clause: str) -> list[str]:
    """One comparison, in any dialect, as PEP 440 comparisons.

    Raises:
        ValueError: if it is none.
    """
    match = CLAUSE.fullmatch(clause)
    if not match:
        raise ValueError(clause)
    operator, version = match[1] or "==", match[3].partition("+")[0]
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


def is_native(constraint: str, dialect: Dialect) -> bool:
    """Whether the tool whose dialect it is reads a constraint at all."""
    if dialect in (Dialect.PIP, Dialect.PIPENV) and "|" in constraint:
        return False
    for option in re.split(r"\|\|?", constraint):
        for clause in split(option):
            match = CLAUSE.fullmatch(clause)
            if not match or (match[1] or "") in _FOREIGN[dialect]:
                return False
            if dialect is Dialect.CONDA and match[1] == "==" and match[3].endswith(".*"):
                return False
    return True


def rendered(new: str, dialect: Dialect, like: str) -> str | None:
    """A constraint as it is written in a dialect, in the manner of the one that it replaces; None: it cannot be.

    Operators of another dialect are spelled out (`^2.0` as `>=2.0,<3` for pip), a bare version stays one, `=2.4` stays
    one for conda, spaces after operators and commas stay.
    """
    wanted = alternatives(new)
    if wanted is None or len(wanted) > 1:
        return None
    old = [match for clause in split(like) if (match := CLAUSE.fullmatch(clause))]
    manner = old[0][1] or "" if len(old) == 1 else None
    own = split(new) if is_native(new, dialect) else [clause for clause in wanted[0].split(",") if clause]
    clauses = [match for clause in own if (match := CLAUSE.fullmatch(clause))]
    if not clauses:
        return "*" if dialect in (Dialect.POETRY, Dialect.PIPENV) else ""
    after_operator = " " if old and all(match[2] for match in old) else ""
    after_comma = " " if re.search(r",\s", like) or (after_operator and "," not in like) else ""
    parts = []
    for match in clauses:
        operator, version = match[1] or "==", match[3]
        if operator == "==" and dialect is Dialect.CONDA:
            operator, version = _by_conda(version, len(clauses) == 1, manner)
        elif len(clauses) == 1 and operator == "==" and manner == "" and dialect is Dialect.POETRY:
            operator = ""
        parts.append(operator + (after_operator if operator else "") + version)
    result = f",{after_comma}".join(parts)
    return result if alternatives(result) == wanted and is_native(result, dialect) else None


def _by_conda(version: str, alone: bool, manner: str | None) -> tuple[str, str]:
    """Operator and version for `==version`: conda overlooks a `.*` behind two equals signs, and `=2.4` is any 2.4."""
    prefix = version.removesuffix(".*")
    if prefix != version:
        return ("=", prefix) if alone else ("", version)
    if alone and manner == "=" and len(Version(version).release) > 2:
        return "=", version
    return ("" if alone and manner == "" else "=="), version
