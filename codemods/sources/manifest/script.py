"""What a script asks for in the comment that PEP 723 defines: `# /// script`, TOML behind `# `, `# ///`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from codemods.sources.manifest import pip
from codemods.sources.manifest.requirement import PACKAGES, Piece, Requirement, RequirementList, python

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

SCRIPT = "# /// script"
_BLOCK = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
"""As the specification has it: https://packaging.python.org/en/latest/specifications/inline-script-metadata/"""


def asked_by_script(text: str) -> Iterator[Requirement]:
    """The requirements of a script about packages that count, which cannot be edited; nothing where it is no TOML."""
    block = _BLOCK.search(text.replace("\r\n", "\n"))
    lines = block["content"].splitlines() if block else ()
    try:
        table = tomllib.loads("\n".join(line[2:] for line in lines))
    except tomllib.TOMLDecodeError:
        return
    site = RequirementList(place="script", why_not="a comment of a script asks for it")
    if isinstance(version := table.get("requires-python"), str):
        yield python(Piece(version, 0, 0, verbatim=False), site)
    asked = table.get("dependencies", ())
    for written in asked if isinstance(asked, list) else ():
        piece = Piece(str(written), 0, 0, verbatim=False)
        yield from (
            each for each in pip.item(piece, site) if isinstance(each, Requirement) and each.package in PACKAGES
        )
