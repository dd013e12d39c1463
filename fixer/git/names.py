"""What git calls the content of files, known without reading them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from fixer.git.command import GitFailed, begin, git

_BENDS = re.compile(rb"\b(?:filter|eol|crlf|text|ident|working-tree-encoding)\b")
"""Attributes by which the file on disk may hold other bytes than git's object."""


def names(root: Path, attributes: Iterable[bytes]) -> dict[str, str]:
    """Path → object name of the tracked files whose bytes on disk are those of the object; the others are left out.

    Args:
        attributes: the contents of the `.gitattributes` files of the tree.
    """
    try:
        changed = begin("diff-files", "-z", "--name-only", "--ignore-submodules", at=root)
        listed = git("ls-files", "-z", "--cached", "--stage", "-v", at=root)
        if any(map(_BENDS.search, attributes)) or _converts(root):
            changed()
            return {}
        gone = set(os.fsdecode(changed()).split("\0"))
    except GitFailed:
        return {}
    found: dict[str, str] = {}
    for line in os.fsdecode(listed).split("\0")[:-1]:
        about, _, path = line.partition("\t")
        tag, mode, name, stage = about.split(" ")
        # A lower-case letter: git was told to assume that the file does not change. S: it need not be there.
        if tag == "H" and mode.startswith("100") and stage == "0" and path not in gone:
            found[path] = name
    return found


def _converts(root: Path) -> bool:
    """Whether git changes line ends on the way to the disk, or attributes stand outside of the tree."""
    try:
        said = git("config", "--get-regexp", r"^core\.(autocrlf|attributesfile|eol)$", at=root)
    except GitFailed:
        said = b""
    values = dict(line.partition(b" ")[::2] for line in said.lower().splitlines())
    if values.pop(b"core.autocrlf", b"false") not in (b"false", b"no", b"off", b"0") or values:
        return True
    return (root / ".git" / "info" / "attributes").exists()
