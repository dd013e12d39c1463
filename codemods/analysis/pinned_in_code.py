"""Releases that code installs: `session.install("pytorch-lightning==1.9.5")`, as for nox or an image."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Evidence
from codemods.model.plan import Target
from codemods.project import versions
from codemods.project.index import Index
from codemods.project.pins import TWINS

_IMAGES = {"transformers": ("transformers_version=",), "torch": ("pytorch_version=", "pytorch/pytorch:")}
"""By which code, or a definition of an image, chooses a release of a library (`image_of_a_service`, `base_image`)."""
_SUFFIXES = (".py", ".sh", ".yml", ".yaml", ".ini", ".def", "Dockerfile", "Makefile")
_BESIDE = ("Makefile", "makefile", "GNUmakefile", "justfile", "tox.ini", "Dockerfile", "docker/Dockerfile")
"""Files that install, and that are looked for by name, in the directories above a file: they are no sources."""


@question
def no_code_pins_another_release(ctx: PythonContext, affected: Mapping[str, str]) -> Answer:
    """Whether no script of the project installs a release of a library out of a range (`pinned_by_nox`).

    Args:
        affected: package → the range that something holds for.
    """
    return unless(place for package, range in affected.items() for place in pins(ctx.index, ctx.path, package, range))


def keeps(answer: Answer) -> bool:
    """Whether code, a script or an image installs a release, which stays whatever packaging files say."""
    return answer.is_unknown and any(each.path.endswith((".py", ".sh", ".def", "Dockerfile")) for each in answer.places)


def pins(index: Index, path: str, package: str, range: str) -> Iterator[Evidence]:
    """The places in the project of a file that install a release of a package out of a range."""
    asked = TWINS if package in TWINS else (package,)
    names = dict.fromkeys(name for each in asked for name in (each, each.replace("-", "_")))
    words = [*(f"{name}==" for name in names), *_IMAGES.get(package, ())]
    pinned = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, words))})[\"']?(\d[\d.]*)")
    addressed = re.compile(rf"(?:git\+|@)\S+/(?:{'|'.join(map(re.escape, names))})(?:\.git)?(?=[@#\s\"']|$)")
    found = index.search(path, tuple(word.encode() for word in (*words, "git+")), suffixes=_SUFFIXES)
    for other in dict.fromkeys((path, *found, *_beside(index, path))):
        text = index.text(other) or ""
        for pin in pinned.finditer(text):
            release = Target(package, f"=={pin[1].rstrip('.')}", other)
            written = text[text.rfind("\n", 0, pin.start()) + 1 : pin.start()]
            if not written.lstrip().startswith("#") and not versions.may(release, range):  # a record of a run (cli)
                line = text.count("\n", 0, pin.start()) + 1
                yield Evidence(other, line, f"{package} {pin[1]} may be installed for this")
        for place in addressed.finditer(text):  # a commit of any age, of any copy (by_address_in_a_script)
            written = text[text.rfind("\n", 0, place.start()) + 1 : place.start()]
            if "install" in written and not written.lstrip().startswith("#"):
                line = text.count("\n", 0, place.start()) + 1
                yield Evidence(other, line, f"a commit of {package} may be installed for this")


def _beside(index: Index, path: str) -> Iterator[str]:
    """The files that install, in the directories between a file and the root of its project."""
    root, folder = index.root(path), posixpath.dirname(path)
    while True:
        yield from (place for name in _BESIDE if index.exists(place := posixpath.join(folder, name)))
        if folder in ("", root) or not folder.startswith(root):
            return
        folder = posixpath.dirname(folder)
