"""Path patterns as people write them in `exclude` and `per-file-ignores`.

A pattern without a slash matches a name at any depth; one with a slash is read from the directory it was written in.
`*` and `?` stay within one name, `**` spans directories, and a directory that matches covers everything below it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable


def anchored(pattern: str, directory: str) -> str:
    """`pattern`, written in `directory` (relative to the root, `""` for the root), as a pattern of the root."""
    pattern = pattern.removeprefix("./").rstrip("/")
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    pattern = pattern.lstrip("/")
    return f"{directory}/{pattern}" if directory else pattern


def regex(pattern: str) -> str:
    """The regular expression that a whole path, or one of its parents, must match."""
    out: list[str] = []
    position = 0
    while position < len(pattern):
        rest = pattern[position:]
        if rest.startswith("**/"):
            out.append("(?:.*/)?")
            position += 3
        elif rest.startswith("**"):
            out.append(".*")
            position += 2
        elif rest[0] == "*":
            out.append("[^/]*")
            position += 1
        elif rest[0] == "?":
            out.append("[^/]")
            position += 1
        elif rest[0] == "[" and (end := rest.find("]", 2)) > 0:
            inside = rest[1:end].replace("\\", "\\\\")
            out.append(f"[{'^' + inside[1:] if inside[0] == '!' else inside}]")
            position += end + 1
        else:
            out.append(re.escape(rest[0]))
            position += 1
    return "".join(out) + "(?:/.*)?"


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """A test of root-relative paths against root patterns.

    Raises:
        ValueError: if a pattern holds a character range that means nothing, such as `[z-a]`.
    """
    expressions = []
    for pattern in patterns:
        try:
            expressions.append(re.compile(regex(pattern), re.DOTALL))
        except re.error as error:
            raise ValueError(f"{pattern!r} is not a path pattern: {error}") from error
    if not expressions:
        return lambda path: False
    return lambda path: any(expression.fullmatch(path) for expression in expressions)
