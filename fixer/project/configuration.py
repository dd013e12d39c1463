"""Settings from `[tool.fixer]` of the nearest pyproject.toml, or fixer.toml; those of outer directories show through.

The nearer file wins key by key. Tables (`strategies`, `targets`) merge; `exclude` and `per-file-ignores` add up, each
pattern being read from the directory of the file that holds it.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fixer.errors import Refusal
from fixer.project.globs import anchored, matcher
from fixer.project.selectors import target_text, targets

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from codemods.model.plan import Target
    from codemods.sources.document import Reader


@dataclass(frozen=True, slots=True)
class CommitSettings:
    """How commits made by `apply --branch` read: `[tool.fixer.commit]`."""

    subject: str | None = None
    body: str | None = None
    author: str | None = None
    signoff: bool = False
    trailers: tuple[str, ...] = ()
    ticket: str | None = None
    ignore_in_blame: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """What configuration files may say; options of the command line come on top."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    unsafe_fixes: bool = False
    strategies: Mapping[str, str] = field(default_factory=dict)
    targets: Mapping[str, Target] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    """Patterns of the root."""
    include_vendored: bool = False
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Patterns of the root, with the codes that are not reported there."""
    commit: CommitSettings = field(default_factory=CommitSettings)
    sources: tuple[str, ...] = ()
    """The files read, outermost first."""

    def only_ignores(self) -> Settings:
        """What of the settings says that something is to be left alone."""
        return Settings(
            ignore=self.ignore,
            exclude=self.exclude,
            per_file_ignores=self.per_file_ignores,
            sources=self.sources,
        )


def text(value: Any) -> str:
    """A string. Raises ValueError with what it should be."""
    if isinstance(value, str):
        return value
    raise ValueError("a string")


def flag(value: Any) -> bool:
    """True or false. Raises ValueError with what it should be."""
    if isinstance(value, bool):
        return value
    raise ValueError("true or false")


def texts(value: Any) -> tuple[str, ...]:
    """A list of strings. Raises ValueError with what it should be."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ValueError("a list of strings")


def table_of_texts(value: Any) -> dict[str, str]:
    """A table of strings. Raises ValueError with what it should be."""
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return dict(value)
    raise ValueError("a table of strings")


def _ignores(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if isinstance(value, dict):
        return tuple((pattern, texts(codes)) for pattern, codes in value.items())
    raise ValueError("a table of path patterns, each with a list of codes")


COMMIT: dict[str, Callable[[Any], Any]] = {
    "subject": text,
    "body": text,
    "author": text,
    "signoff": flag,
    "trailers": texts,
    "ticket": text,
    "ignore-in-blame": flag,
}


def _commit(value: Any) -> CommitSettings:
    if not isinstance(value, dict):
        raise ValueError("a table")
    return CommitSettings(**_read(value, COMMIT, "commit."))


KEYS: dict[str, Callable[[Any], Any]] = {
    "select": texts,
    "ignore": texts,
    "unsafe-fixes": flag,
    "strategies": table_of_texts,
    "targets": table_of_texts,
    "exclude": texts,
    "include-vendored": flag,
    "per-file-ignores": _ignores,
    "commit": _commit,
}


def unknown(key: str, keys: Iterable[str], prefix: str = "") -> str:
    """That there is no such key, and which one comes close."""
    keys = list(keys)
    close = difflib.get_close_matches(key, keys, n=1)
    known = f"did you mean `{prefix}{close[0]}`?" if close else f"known keys are {', '.join(keys)}"
    return f"unknown key `{prefix}{key}`: {known}"


def _targets(table: Mapping[str, str], source: str) -> dict[str, Target]:
    """The versions of a table by package, with where they stand."""
    where = f"[tool.fixer] of {source}" if source.rpartition("/")[2] == "pyproject.toml" else source
    texts = (target_text(package, spec) for package, spec in table.items())
    return {target.package: target for target in targets(texts, "targets", where)}


def _read(table: Mapping[str, Any], keys: Mapping[str, Callable[[Any], Any]], prefix: str = "") -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in keys:
            raise Refusal(unknown(key, keys, prefix))
        try:
            values[key.replace("-", "_")] = keys[key](value)
        except ValueError as error:
            raise Refusal(f"`{prefix}{key}` must be {error}") from error
    return values


def parse(
    data: bytes, source: str, directory: str, outer: Settings, advice: str = ", or run with --isolated"
) -> Settings | None:
    """The settings of one file on top of `outer`; None if it is a pyproject.toml without `[tool.fixer]`.

    Args:
        advice: what else can be done where it is no TOML.

    Raises:
        Refusal: if the file is not TOML, or says something that is not a setting.
    """
    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(f"{source} is not valid TOML ({error}): repair it{advice}") from error
    table: Any = document
    if source.rpartition("/")[2] == "pyproject.toml":
        tool = document.get("tool", {})
        table = tool.get("fixer") if isinstance(tool, dict) else None
        if table is None:
            return None
    try:
        if not isinstance(table, dict):
            raise Refusal("`fixer` must be a table")
        values = _read(table, KEYS)
        values["exclude"] = tuple(anchored(pattern, directory) for pattern in values.get("exclude", ()))
        values["per_file_ignores"] = tuple(
            (anchored(pattern, directory), codes) for pattern, codes in values.get("per_file_ignores", ())
        )
        matcher([*values["exclude"], *(pattern for pattern, _ in values["per_file_ignores"])])
        values["targets"] = _targets(values.get("targets", {}), source)
    except (Refusal, ValueError) as error:
        raise Refusal(f"{source}: {error}") from error
    values["exclude"] = outer.exclude + values["exclude"]
    values["per_file_ignores"] = outer.per_file_ignores + values["per_file_ignores"]
    for key in ("strategies", "targets"):
        values[key] = {**getattr(outer, key), **values.get(key, {})}
    return replace(outer, **values, sources=(*outer.sources, source))


def cascade(reader: Reader, *, only_ignores: bool = False) -> Callable[[str], Settings]:
    """A function from a directory (relative to the root, `""` for the root) to the settings of its files.

    It raises Refusal where a configuration file on the way is broken; other directories are not affected.

    Args:
        only_ignores: of all that the files say, only what is to be left alone counts.
    """
    found: dict[str, Settings | Refusal] = {}

    def load(directory: str) -> Settings:
        outer = of(directory.rpartition("/")[0]) if directory else Settings()
        for name in ("fixer.toml", "pyproject.toml"):
            source = f"{directory}/{name}" if directory else name
            data = reader.read(source)
            # A nested pyproject.toml that never says "fixer" cannot hold our table, however broken it is.
            if data is None or (directory and name == "pyproject.toml" and b"fixer" not in data):
                continue
            advice = ("",) if only_ignores else ()  # a campaign has no such option
            if (settings := parse(data, source, directory, outer, *advice)) is not None:
                return settings.only_ignores() if only_ignores else settings
        return outer

    def of(directory: str) -> Settings:
        if directory not in found:
            try:
                found[directory] = load(directory)
            except Refusal as refusal:
                found[directory] = refusal
        if isinstance(settings := found[directory], Refusal):
            raise settings
        return settings

    return of
