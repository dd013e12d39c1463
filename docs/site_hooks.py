"""What the site has beside the pages of `docs/`: CONTRIBUTING.md, and a menu of the rules. Called by mkdocs.

The pages are written for forges too, which read Markdown in a slightly other way than mkdocs.
"""

from __future__ import annotations

import functools
import posixpath
import re
from itertools import groupby
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

DOCS = Path(__file__).resolve().parent
RULES, CONTRIBUTING = "rules.md", "contributing.md"
NAMED_BY_FILE = re.compile(r"\[[\w/-]+\.md\]\(([\w./-]+\.md)(?=[#)])")
"""A link whose text is the name of the file that it leads to."""
CODE_IN_LIST = re.compile(r"((?:^|(?<=\n))(?:- |  )\S[^\n]*\n\n)((?: {6}[^\n]*\n)+)")
"""The end of an item of a list, and lines of code that belong to it."""


def on_config(config: MkDocsConfig) -> None:
    """Put the pages of the rules into the menu, by family, as the list of the rules names them."""
    families = re.findall(r"^## (\w+: .*)$", (DOCS / RULES).read_text(encoding="utf-8"), re.MULTILINE)
    menu: list[Any] = []
    for letters, group in groupby(sorted((DOCS / "rules").glob("*.md")), lambda page: page.stem.rstrip("0123456789")):
        family = next(family for family in families if family.startswith(f"{letters}:"))
        menu.append({family: [{_title(f"rules/{page.name}"): f"rules/{page.name}"} for page in group]})
    for section in config.nav or []:
        [(_, entries)] = section.items()
        if RULES in entries:
            entries[1:1] = menu


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add CONTRIBUTING.md, which lies above `docs/`."""
    text = _text(CONTRIBUTING).replace("](docs/", "](")
    files.append(File.generated(config, CONTRIBUTING, content=text))


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Name linked pages by their titles, lead to the page of CONTRIBUTING.md, and indent as mkdocs wants it."""
    there = posixpath.dirname(page.file.src_uri)
    text = markdown.replace("](../CONTRIBUTING.md", f"]({CONTRIBUTING}")
    text = NAMED_BY_FILE.sub(lambda link: f"[{_title(posixpath.join(there, link[1]))}]({link[1]}", text)
    return CODE_IN_LIST.sub(lambda found: found[1] + re.sub(r"^ {6}", " " * 8, found[2], flags=re.MULTILINE), text)


def _text(name: str) -> str:
    path = DOCS.parent / "CONTRIBUTING.md" if name == CONTRIBUTING else DOCS / name
    return path.read_text(encoding="utf-8")


@functools.cache
def _title(name: str) -> str:
    heading = re.search(r"^# (.*)$", _text(posixpath.normpath(name)), re.MULTILINE)
    assert heading, f"{name} has no heading"
    return heading[1]
