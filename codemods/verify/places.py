"""Where fixtures and evidence lie: in a checkout, or beside this file in an installed package (see pyproject.toml)."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]
_INSTALLED = (_PACKAGE / "before_after").is_dir()

FIXTURES = _PACKAGE / "before_after" if _INSTALLED else _CHECKOUT / "tests" / "before_after"
EXAMPLE = "example"
"""The case of each rule that `fixer explain` shows, and the only one that an installed package carries."""
DOCS = _PACKAGE if _INSTALLED else _CHECKOUT / "docs"
RECORD = DOCS / "evidence.json"
