"""Releases that code installs: `session.install("pytorch-lightning==1.9.5")`, as for nox or an image."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Evidence
from codemods.model.plan import Target
from codemods.project import versions
from codemods.project.index import Index
from codemods.project.pins import TWINS

_SUFFIXES = (".py", ".sh", ".yml", ".yaml", ".ini", "Dockerfile", "Makefile")


@question
def no_code_pins_another_release(ctx: PythonContext, affected: Mapping[str, str]) -> Answer:
    """Whether no script of the project installs a release of a library out of a range (`pinned_by_nox`).

    Args:
        affected: package → the range that something holds for.
    """
    return unless(place for package, range in affected.items() for place in pins(ctx.index, ctx.path, package, range))


def pins(index: Index, path: str, package: str, range: str) -> Iterator[Evidence]:
    """The places of other files in the project of a file that install a release of a package out of a range."""
    asked = TWINS if package in TWINS else (package,)
    names = dict.fromkeys(name for each in asked for name in (each, each.replace("-", "_")))
    for other in index.search(path, tuple(f"{name}==".encode() for name in names), suffixes=_SUFFIXES):
        text = index.text(other) or "" if other != path else ""
        for found in re.finditer(rf"(?<![\w-])(?:{'|'.join(names)})==(\d[\d.]*)", text):
            release = Target(package, f"=={found[1].rstrip('.')}", other)
            written = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
            if not written.lstrip().startswith("#") and not versions.may(release, range):  # a record of a run (cli)
                line = text.count("\n", 0, found.start()) + 1
                yield Evidence(other, line, f"{package} {found[1]} may be installed for this")
