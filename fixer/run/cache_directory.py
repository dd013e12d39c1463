"""Where the cache lies."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def directory() -> Path:
    """`FIXER_CACHE_DIR`, or the user's directory for such files; where the user has no home, nothing can be kept."""
    if given := os.environ.get("FIXER_CACHE_DIR"):
        return Path(given)
    try:
        place = platformdirs.user_cache_path("fixer", appauthor=False)
    except RuntimeError:  # nobody knows where home is; older releases of platformdirs answer `~/.cache` then
        return Path(os.devnull)
    return place if place.is_absolute() else Path(os.devnull)
