"""Releases that stand beside the name of a library, in no form that an installer reads.

`TRANSFORMERS_VERSION=4.41.2`, `- name: transformers` above `version: 4.41.2`, `("transformers", "4.41.2")`,
`huggingface/transformers-pytorch-gpu:4.41.2`: whatever reads that may install it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_PROSE = (".md", ".rst", ".html", ".tex", ".org")
_CODE = (".py", ".ipynb", ".js", ".ts")
_NUMBER = (
    r"(?P<release>\d+\.\d+(?:\.\d+)*)(?!\.?\d)(?![\w.]*\.(?:py|so)\b)"
    r"(?!\+| (?:or|and) (?:higher|later|newer|above|up)\b)"
)
_BETWEEN = r"(?:[^\w\n]|_|version|tag|rev|ref|branch|release|pytorch|gpu|cuda|cpu|spec|py|v(?=[\d_]))"
"""What may stand between a name and its release; other words are another thing's name."""
_BELOW = r"(?:[^\w]{1,60}|[^\n]{1,60}\W)(?:version|rev|tag)\b[^\w]{1,6}"
"""A key in the next line, or in the same."""
_IN_CODE = (
    r"_version[\"']?\s*[:=]\s*[\"']"
    r"|\.__version__\s*(?:==|\.startswith\()\s*[\"']"
    r"|[\"']\s*[:,]\s*(?:[\"']?version[\"']?\s*[:=]\s*)?[\"']"
)
"""The same in code: between its quotes, or as the name of a setting; what is told to people there is about them."""
_PREFIX = r"(?:py|python3?|hf)-|[\w.-]+/"
"""What may stand before a name, of a package for another installer or of an image."""


def beside(text: str, path: str, names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Where a text has the name of a library beside a release, each with that release; nothing of prose."""
    if not path.endswith(_PROSE):
        for found in _pattern(tuple(names), path.endswith(_CODE)).finditer(text):
            yield found.start(), found["release"]


def signs(names: Iterable[str]) -> tuple[str, ...]:
    """Literals of which code that says so holds one."""
    forms = ('"{}"', "'{}'", "{}_version", "{}.__version__")
    return tuple(form.format(name) for name in names for form in forms) + tuple(f"{n.upper()}_VERSION" for n in names)


@lru_cache(maxsize=64)
def _pattern(names: tuple[str, ...], is_code: bool) -> re.Pattern[str]:
    name = "|".join(map(re.escape, names))
    if is_code:
        return re.compile(rf"(?i:(?<![\w.])(?:{name})(?:{_IN_CODE})){_NUMBER}")
    return re.compile(rf"(?i:(?<![\w])(?:{_PREFIX})?(?:{name})(?:{_BETWEEN}{{1,40}}?|{_BELOW})){_NUMBER}")
