"""What the parameters of a person's program are called. Loaded by `probe.py`; Python 3.9 and later."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any


class Names:
    """What parameters are called: the class of the outermost module that holds them, and the path inside of it."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._known: dict[int, tuple[Any, str]] = {}
        self._given: dict[str, int] = {}

    def of(self, weights: list[Any], number: int) -> Iterator[tuple[str, Any]]:
        """The parameters of the optimizer `number`, each with its name, which stays the same."""
        if not all(self._name(weight) for weight in weights):
            paths = self._paths()
            for position, weight in enumerate(weights):
                if not self._name(weight):
                    name = paths.get(id(weight)) or f"optimizer {number}, parameter {position}"
                    self._given[name] = time = self._given.get(name, 0) + 1
                    self._known[id(weight)] = (weakref.ref(weight), name if time == 1 else f"{name} ({time})")
        for weight in weights:
            yield self._name(weight), weight

    def _name(self, weight: Any) -> str:
        """Nothing for a stranger, also for one that lives where another has lived."""
        alive, name = self._known.get(id(weight), (None, ""))
        return name if alive is not None and alive() is weight else ""

    def _paths(self) -> dict[int, str]:
        """The path of every parameter that a module holds; of several outermost modules the largest decides."""
        kind = self._torch.nn.Module
        modules = [thing for thing in gc.get_objects() if issubclass(type(thing), kind) and "_modules" in vars(thing)]
        inner = {id(child) for module in modules for child in vars(module)["_modules"].values()}
        holders = [
            (type(module).__name__, list(module.named_parameters())) for module in modules if id(module) not in inner
        ]
        paths: dict[int, str] = {}
        for name, parameters in sorted(holders, key=lambda holder: -len(holder[1])):
            for path, parameter in parameters:
                paths.setdefault(id(parameter), f"{name}.{path}")
        return paths
