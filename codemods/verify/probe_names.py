"""What the parameters of a person's program are called, and who holds them. Loaded by `probe.py`; Python 3.9."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any


class Member:
    """A parameter of a module: where it lies."""

    def __init__(
        self, weight: Any, path: str, outermost: Any, root: int, position: int, places: list[tuple[Any, str]]
    ) -> None:
        self.weight = weakref.ref(weight)
        self._outermost = weakref.ref(outermost)
        self.path = path
        self.root = root
        """The number of the outermost module."""
        self.position = position
        """In the order in which the outermost module holds its parameters."""
        self.places = [(weakref.ref(module), attribute) for module, attribute in places]
        """The modules that hold it themselves, and the names that it has there: several where it is shared."""
        self.owners = tuple(id(module) for module, _ in places)

    def training(self) -> bool:
        """Whether the outermost module is in training mode."""
        return bool(getattr(self._outermost(), "training", True))


class Names:
    """What parameters are called: the class of the outermost module that holds them, and the path inside of it."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._known: dict[int, tuple[Any, str]] = {}
        self._given: dict[str, int] = {}
        self._members: dict[int, Member] = {}
        self._roots: dict[int, int] = {}
        self._optimizers: Any = weakref.WeakSet()

    def of(self, weights: list[Any], number: int) -> Iterator[tuple[str, Any]]:
        """The parameters of the optimizer `number`, each with its name, which stays the same."""
        self.meet(weights)
        for position, weight in enumerate(weights):
            member = self.member(weight)
            yield self._named(weight, member.path if member else f"parameter {position} of optimizer {number}"), weight

    def meet(self, weights: list[Any]) -> None:
        """Look for the modules that hold these parameters, unless they are known."""
        if not all(self._name(weight) or self.member(weight) for weight in weights):
            self._look_around()

    def member(self, weight: Any) -> Any:
        """Where a parameter lies; None for one of no module."""
        member = self._members.get(id(weight))
        return member if member is not None and member.weight() is weight else None

    def members(self) -> Iterator[tuple[str, Any, Member]]:
        """The parameters of all modules that no living optimizer holds, each with its name."""
        held = {id(weight) for each in self._optimizers for group in each.param_groups for weight in group["params"]}
        for member in list(self._members.values()):
            weight = member.weight()
            if weight is not None and id(weight) not in held:
                yield self._named(weight, member.path), weight, member

    def _named(self, weight: Any, path: str) -> str:
        name = self._name(weight)
        if not name:
            self._given[path] = time = self._given.get(path, 0) + 1
            name = path if time == 1 else f"{path} ({time})"
            self._known[id(weight)] = (weakref.ref(weight), name)
        return name

    def _name(self, weight: Any) -> str:
        """Nothing for a stranger, also for one that lives where another has lived."""
        alive, name = self._known.get(id(weight), (None, ""))
        return name if alive is not None and alive() is weight else ""

    def _look_around(self) -> None:
        """Find the parameters of all modules, and all optimizers; of several outermost modules the largest decides."""
        modules, optimizers = self._torch.nn.Module, self._torch.optim.Optimizer
        alive = []
        for thing in gc.get_objects():
            if issubclass(type(thing), modules) and "_modules" in vars(thing):
                alive.append(thing)
            elif issubclass(type(thing), optimizers) and "param_groups" in vars(thing):
                self._optimizers.add(thing)
        inner = {id(child) for module in alive for child in vars(module)["_modules"].values()}
        places: dict[int, list[tuple[Any, str]]] = {}
        for module in alive:
            for attribute, weight in vars(module)["_parameters"].items():
                if weight is not None:
                    places.setdefault(id(weight), []).append((module, attribute))
        outermost = [(module, list(module.named_parameters())) for module in alive if id(module) not in inner]
        for module, parameters in sorted(outermost, key=lambda pair: -len(pair[1])):
            root = self._roots.setdefault(id(module), len(self._roots))
            for position, (path, weight) in enumerate(parameters):
                if self.member(weight) is None:
                    name, held = f"{type(module).__name__}.{path}", places.get(id(weight), [])
                    self._members[id(weight)] = Member(weight, name, module, root, position, held)
