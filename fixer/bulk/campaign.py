"""A campaign: which repositories, which rules, how fast. Read strictly from a CAMPAIGN.toml."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from codemods import __version__
from codemods.model.edits import Skip
from codemods.sources.config import Config, Table, plain, read
from codemods.transforms import load
from fixer.errors import Refusal
from fixer.git.message import Wording, fill
from fixer.output.split import Split
from fixer.project import selectors
from fixer.project.configuration import COMMIT, CommitSettings, flag, table_of_texts, text, texts, unknown
from fixer.project.globs import matcher
from fixer.run.request import Request
from fixer.run.upgrading import upgrading

ENGINES = ("local", "ray")
BRANCH = "fixer/{campaign}"
TITLE = "{title}"
TITLE_FIELDS = ("title", "campaign", "repository", "part", "codes", "count")


@dataclass(frozen=True, slots=True)
class CampaignLimits:
    """How much at a time."""

    concurrent: int = 0
    """Repositories worked on at once; 0 means one for each processor."""
    per_hour: int | None = None
    """Branches delivered within any sixty minutes."""
    open_at_once: int | None = None
    """Branches that wait for review."""
    minutes: int = 30
    """For one repository."""
    memory: int | None = None
    """Megabytes, for one repository."""


@dataclass(frozen=True, slots=True)
class VerifyLimits:
    """How far the command that verifies may go, and what it needs beside the repository."""

    steps: int = 0
    """Of one optimizer; 0 means no limit."""
    timeout: int = 600
    """Seconds."""
    memory: int | None = None
    """Megabytes."""
    link: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PullRequests:
    """How pull requests are opened."""

    open: bool = False
    title: str = TITLE
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    codeowners: bool = True
    """Ask the owners that CODEOWNERS names for a review."""
    draft: bool = False
    forge: str | None = None
    """Which kind of forge it is, or `KIND=URL`, where the URLs do not say."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """Everything a CAMPAIGN.toml says."""

    file: Path
    name: str
    repositories: tuple[str, ...]
    """Paths, globs and URLs as they were written, those of `repositories-from` included."""
    request: Request
    state: Path
    branch: str = BRANCH
    base: str | None = None
    """The branch to start from; None: the one that a repository itself calls its default."""
    split: Split | None = None
    verify: str | None = None
    verify_limits: VerifyLimits = field(default_factory=VerifyLimits)
    commit: CommitSettings = field(default_factory=CommitSettings)
    pull_requests: PullRequests = field(default_factory=PullRequests)
    limits: CampaignLimits = field(default_factory=CampaignLimits)
    engine: str = "local"

    @property
    def branch_name(self) -> str:
        """The branch, with the name of the campaign in it."""
        return fill(self.branch, {"campaign": self.name}, "branch")

    @property
    def mark(self) -> str:
        """Changes with whatever decides what is planned, so that an unchanged repository need not be planned again."""
        checked = (self.verify, self.verify_limits)
        parts = (self.request, self.branch_name, self.base, self.split, checked, self.commit, self.pull_requests)
        return hashlib.sha256(repr((__version__, *parts)).encode()).hexdigest()[:16]


def load_campaign(file: Path) -> Campaign:
    """The campaign that a file describes.

    Raises:
        Refusal: if it cannot be read or says something that means nothing; the text names the line.
    """
    values = _Reader(file).values()
    for name in ("name", "repositories"):
        if name not in values and not (name == "repositories" and "repositories-from" in values):
            raise Refusal(f"{file}: `{name}` is missing: {_MISSING[name]}")
    if "verify-limits" in values and "verify" not in values:
        raise Refusal(f"{file}: `verify-limits` requires `verify`")
    split, most = values.get("split"), values.get("max-files")
    if most is not None and split is None:
        raise Refusal(f"{file}: `max-files` requires `split`")
    request = {key.replace("-", "_"): values[key] for key in _REQUEST if key in values}
    request["strategies"] = tuple(f"{name}={value}" for name, value in values.get("strategies", {}).items())
    texts = (selectors.target_text(name, spec) for name, spec in values.get("targets", {}).items())
    request["targets"] = selectors.targets(texts, source=file.name)
    return Campaign(
        file=file,
        name=values["name"],
        repositories=(*values.get("repositories", ()), *values.get("repositories-from", ())),
        # What is fixed, how, and by whom is the campaign's to say, not each repository's.
        request=upgrading(
            Request(**{"unsafe_fixes": False, **request, "jobs": 1, "only_ignores": True}), values.get("upgrade", ())
        ),
        state=(file.parent / values["state"]) if "state" in values else file.with_suffix(".sqlite"),
        split=Split.parse(split, most) if split is not None else None,
        commit=CommitSettings(**values.get("commit", {})),
        pull_requests=PullRequests(**{"open": "pull-request" in values, **values.get("pull-request", {})}),
        limits=CampaignLimits(**values.get("limits", {})),
        verify_limits=VerifyLimits(**values.get("verify-limits", {})),
        **{key: values[key] for key in ("branch", "base", "verify", "engine") if key in values},
    )


_MISSING = {
    "name": 'call the campaign something, as in name = "amp-2026"',
    "repositories": "list paths, globs or URLs, or name a file that does with `repositories-from`",
}
_REQUEST = ("select", "ignore", "unsafe-fixes", "exclude", "include-vendored")


class _Reader:
    """One campaign file, and the lines of what stands in it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            self._text = file.read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise Refusal(f"{file}: {error.strerror}; name a CAMPAIGN.toml") from error
        except UnicodeDecodeError as error:
            raise Refusal(f"{file}: is not UTF-8 text ({error.reason} at byte {error.start})") from error
        # The name decides the format, and a campaign is TOML whatever it is called.
        document = read("CAMPAIGN.toml", self._text)
        if isinstance(document, Skip):
            raise Refusal(f"{file}: not valid TOML: {document.detail}")
        self._document: Config = document

    def values(self) -> dict[str, Any]:
        return self._table(cast("Table", self._document.roots[0]), KEYS, "")

    def _table(self, table: Table, keys: Mapping[str, Any], prefix: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for entry in table.entries:
            key, where = str(entry.key.value), f"{self._file}:{self._text.count(chr(10), 0, entry.start) + 1}"
            if key not in keys:
                raise Refusal(f"{where}: {_unknown(key, keys, prefix)}")
            check, name = keys[key], key if not prefix else key.replace("-", "_")
            if isinstance(check, Mapping):
                if not isinstance(entry.value, Table):
                    raise Refusal(f"{where}: `{prefix}{key}` must be a table")
                values[name] = self._table(entry.value, check, f"{prefix}{key}.")
                continue
            try:
                values[name] = check(plain(entry.value))
                if key == "repositories-from":
                    values[name] = _listed(self._file.parent / str(values[name]))
            except ValueError as error:
                raise Refusal(f"{where}: `{prefix}{key}` must be {error}") from error
            except Refusal as refusal:
                raise Refusal(f"{where}: {refusal}") from refusal
        return values


def _unknown(key: str, keys: Mapping[str, Any], prefix: str) -> str:
    """That there is no such key, and which one comes close, here or in another table."""
    tables = {"": KEYS, **{f"{name}.": inner for name, inner in KEYS.items() if isinstance(inner, Mapping)}}
    elsewhere = {name: table for table, names in tables.items() for name in names}
    if not difflib.get_close_matches(key, keys) and (close := difflib.get_close_matches(key, elsewhere, n=1)):
        return f"unknown key `{prefix}{key}`: did you mean `{elsewhere[close[0]]}{close[0]}`?"
    return unknown(key, keys, prefix)


def _listed(file: Path) -> tuple[str, ...]:
    """The lines of a file, without blank ones and those that begin with `#`."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"`repositories-from`: {file} cannot be read ({error}): one repository per line") from error
    return tuple(line.strip() for line in lines if line.strip() and not line.strip().startswith("#"))


def _name(value: Any) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", text(value)) or ".." in value:
        raise ValueError("letters, digits, `-`, `_` and `.` (it becomes part of branch names)")
    return text(value)


def _filled(value: Any) -> str:
    """Text that says something."""
    if not text(value).strip():
        raise ValueError("a string that is not empty")
    return text(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("a whole number above 0")
    return value


def _codes(value: Any) -> tuple[str, ...]:
    codes = selectors.split_codes(texts(value))
    selectors.check_codes(codes, load(), "the campaign")
    return codes


def _strategies(value: Any) -> dict[str, str]:
    selectors.check_strategies(table_of_texts(value), load(), "the campaign")
    return table_of_texts(value)


def _targets(value: Any) -> dict[str, str]:
    selectors.targets((selectors.target_text(*pair) for pair in table_of_texts(value).items()), "`targets`")
    return table_of_texts(value)


def _upgrade(value: Any) -> tuple[str, ...]:
    upgrading(Request(), texts(value))
    return texts(value)


def _patterns(value: Any) -> tuple[str, ...]:
    try:
        matcher(texts(value))
    except ValueError as error:
        raise Refusal(str(error)) from error
    return texts(value)


def _split(value: Any) -> str:
    try:
        Split.parse(text(value))
    except Refusal as refusal:
        raise Refusal(str(refusal).replace("--split", "`split`")) from refusal
    return text(value)


def _template(*fields: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        fill(_filled(value), dict.fromkeys(fields, ""), "the")
        return text(value)

    return check


def _engine(value: Any) -> str:
    if text(value) not in ENGINES:
        raise ValueError(f"one of {', '.join(ENGINES)}")
    return text(value)


def _trailers(value: Any) -> tuple[str, ...]:
    return Wording(trailers=texts(value)).trailers


KEYS: dict[str, Any] = {
    "name": _name,
    "repositories": texts,
    "repositories-from": _filled,
    "branch": _template("campaign"),
    "base": _filled,
    "state": _filled,
    "engine": _engine,
    "select": _codes,
    "ignore": _codes,
    "unsafe-fixes": flag,
    "strategies": _strategies,
    "targets": _targets,
    "upgrade": _upgrade,
    "exclude": _patterns,
    "include-vendored": flag,
    "split": _split,
    "max-files": _whole,
    "verify": _filled,
    "commit": {**COMMIT, "trailers": _trailers},
    "pull-request": {
        "open": flag,
        "title": _template(*TITLE_FIELDS),
        "labels": texts,
        "reviewers": texts,
        "codeowners": flag,
        "draft": flag,
        "forge": _filled,
    },
    "verify-limits": {"steps": _whole, "timeout": _whole, "memory": _whole, "link": texts},
    "limits": {
        "concurrent": _whole,
        "per-hour": _whole,
        "open-at-once": _whole,
        "minutes": _whole,
        "memory": _whole,
    },
}
