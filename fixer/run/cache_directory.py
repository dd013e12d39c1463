"""Where the cache lies."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def directory() -> Path:
    """`FIXER_CACHE_DIR`, or the user's directory for such files."""
    given = os.environ.get("FIXER_CACHE_DIR")
    return Path(given) if given else platformdirs.user_cache_path("fixer", appauthor=False)
