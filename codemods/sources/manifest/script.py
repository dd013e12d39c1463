"""What a script asks for: in the comment that PEP 723 defines (`# /// script`, TOML behind `# `, `# ///`), or by pins
in texts, as functions take them that build an image: `image.pip_install("torch==2.4.1")`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from codemods.sources.manifest import pip
from codemods.sources.manifest.requirement import PACKAGES, Piece, Requirement, RequirementList

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

_SIGNS = ("# /// script", *(f"{each}==" for each in PACKAGES), "pytorch_lightning==")
_BLOCK = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
"""As the specification has it: https://packaging.python.org/en/latest/specifications/inline-script-metadata/"""
_NAMES = "|".join(each.replace("-", "[-_]") for each in PACKAGES)
_PIN = re.compile(rf"""(?<=["'])(?:{_NAMES})==[\d.]+(?=["'])""")


def may_ask(data: bytes) -> bool:
    """Whether a script may ask for something, without reading it as text."""
    return any(sign.encode() in data for sign in _SIGNS)


def asked_by_script(text: str) -> Iterator[Requirement]:
    """The requirements of a script about packages that count, which cannot be edited."""
    site = RequirementList(place="script", why_not="a script asks for it")
    for written in (*_of_comment(text), *_PIN.findall(text)):
        piece = Piece(written, 0, 0, verbatim=False)
        yield from (
            each for each in pip.item(piece, site) if isinstance(each, Requirement) and each.package in PACKAGES
        )


def _of_comment(text: str) -> list[str]:
    """The dependencies in the comment; none where it is no TOML."""
    block = _BLOCK.search(text.replace("\r\n", "\n"))
    lines = block["content"].splitlines() if block else ()
    try:
        asked = tomllib.loads("\n".join(line[2:] for line in lines)).get("dependencies", [])
    except tomllib.TOMLDecodeError:
        return []
    return list(map(str, asked)) if isinstance(asked, list) else []
