"""Finds and repairs mixed-precision and gradient-flow bugs in PyTorch training code.

`fixer.check`, `fixer.apply` and `fixer.undo` are the Python interface (`fixer/api.py`), loaded when they are asked for.
The package is the world around the pure core `codemods`: files, processes, git and the terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemods.model.edits import Finding
    from codemods.model.plan import Plan
    from fixer.api import apply, check, undo
    from fixer.errors import Refusal

__all__ = ["Finding", "Plan", "Refusal", "apply", "check", "undo"]

COLLECT = 100_000, 20, 100
"""When to look for garbage: seldom, for lists of files and trees are many objects that live and die together."""


def __getattr__(name: str) -> Any:
    import importlib

    rooms = {"Finding": "codemods.model.edits", "Plan": "codemods.model.plan", "Refusal": "fixer.errors"}
    if name not in __all__:
        raise AttributeError(f"module 'fixer' has no attribute {name!r}")
    return getattr(importlib.import_module(rooms.get(name, "fixer.api")), name)
