"""A clone that left contents behind (`git clone --filter`): what a run will read comes in one go.

Left alone, git fetches such contents when they are read, each with a connection and a pack of its own.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable

from fixer.errors import Refusal
from fixer.git.repository import Repository


def fetch_missing(repository: Repository, commit: str, paths: Iterable[str]) -> int:
    """Fetch those of the files of a commit that this clone does not have, from where git would; how many.

    What cannot be fetched stays missing: whoever reads it is told.
    """
    remote = promisor(repository)
    if remote is None:
        return 0
    listed = repository.ask("rev_list", "--objects", "--missing=print", "--no-object-names", f"{commit}^{{tree}}") or ""
    missing = {line[1:] for line in listed.split("\n") if line.startswith("?")}
    entries = repository.entries(commit)
    wanted = sorted({entries[path].oid for path in paths} & missing)
    if not wanted:
        return 0
    options = ("--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none", "--stdin")
    with tempfile.TemporaryFile() as stream:
        stream.write("".join(f"{oid}\n" for oid in wanted).encode())
        stream.seek(0)
        try:
            repository.call("fetch", "--quiet", *options, remote, istream=stream)
        except Refusal:
            return 0
    return len(wanted)


def promisor(repository: Repository) -> str | None:
    """The remote that has promised to have what this clone left out."""
    found = repository.ask("config", "--get-regexp", r"^remote\..*\.promisor$", "^true$") or ""
    match = re.search(r"^remote\.(.+)\.promisor ", found, re.MULTILINE)
    return match[1] if match and not match[1].startswith("-") else None
