"""What the values of parameters without a gradient go into. Loaded by `probe.py` where there are some; Python 3.9.

Autograd's graph knows nothing of what was cut off, and the order of calls does not tell what depends on what. So for a
few steps each function of torch that the program calls is followed, by a mode of `torch.overrides`, and the tensors
that it makes are marked by their storages. The functions, their arguments and their results are left as they are.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode

LEAVING = frozenset({"numpy", "__array__", "data_ptr", "__int__", "__index__", "__bool__"})
"""Give what can no longer be followed: arrays, and numbers that choose."""
NUMBERS = frozenset({"item", "tolist", "__float__"})
"""Give numbers, most of them for a log."""
ENTRIES = frozenset({"tensor", "as_tensor", "asarray", "new_tensor", "full", "fill_"})
"""Take numbers."""


class Mark(NamedTuple):
    """What went into a tensor; of parameters without a gradient one bit for each."""

    given: int = 0
    entered: int = 0
    """Those that then went into an operation with a parameter that has a gradient."""
    weight: bool = False
    """It was made of such parameters alone."""
    unsure: bool = False
    """It was not seen how something that went into it was made."""


class Flow(TorchFunctionMode):  # type: ignore[misc]
    """Follows functions of torch from `start` to `stop`."""

    def __init__(self) -> None:
        super().__init__()
        self._marks: dict[int, tuple[StorageWeakRef, Mark]] = {}
        self._bits: dict[str, int] = {}
        self._trained: set[str] = set()
        self._leaves: dict[int, tuple[Any, str]] = {}
        self._places: dict[tuple[int, str], tuple[Any, str]] = {}
        self._used = self._lost = self._entered = 0
        self._numbers = 0
        """Those that numbers were made of since the last backward pass."""
        self._doubtful = False

    def start(self) -> None:
        """Follow, unless another mode is at work, whose place must not change."""
        if not torch.overrides._len_torch_function_stack():
            self.__enter__()

    def stop(self) -> None:
        """Take this mode from among those that the program has entered since."""
        modes = [torch.overrides._pop_mode() for _ in range(torch.overrides._len_torch_function_stack())]
        for mode in reversed(modes):
            if mode is not self:
                torch.overrides._push_mode(mode)

    def meet(self, parameters: Iterable[tuple[str, Any, Any]], pages: Mapping[str, Any]) -> None:
        """Parameters with their names and places, and what is known of their gradients."""
        for name, weight, member in parameters:
            self._leaves[id(weight)] = weakref.ref(weight), name
            for module, attribute in member.places if member is not None else ():
                self._places[id(module()), attribute] = module, name
            if pages[name]["present"] > pages[name]["zero"]:
                self._trained.add(name)
            elif pages[name]["trainable"] and not pages[name]["present"]:
                self._bits.setdefault(name, 1 << len(self._bits))
        self._marks = {key: known for key, known in self._marks.items() if not known[0].expired()}

    def differentiated(self, losses: Iterable[Any]) -> None:
        """A backward pass begins at these."""
        for loss in losses:
            mark = self._quietly(self._mark, loss)
            self._doubtful = self._doubtful or mark is None or mark.unsure
            self._entered |= mark.entered if mark is not None else 0
        self._numbers = 0

    def feeds(self, name: str) -> bool | None:
        """Whether a parameter goes into a loss through one that has a gradient; None if that is not known."""
        bit = self._bits.get(name, 0)
        if bit & self._entered:
            return True
        return None if self._doubtful or not bit & self._used or bit & self._lost else False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        ours = sys._getframe(1).f_globals.get("__name__", "").startswith("_fixer_")
        given = None if ours or self._doubtful else self._quietly(self._together, func, args, kwargs)
        output = func(*args, **kwargs)
        if given is not None:
            self._quietly(self._write_down, func, given, args, output)
        return output

    def _quietly(self, look: Any, *args: Any) -> Any:
        try:
            return look(*args)
        except Exception:
            self._doubtful = True  # a tensor without a storage, as below `vmap`
            return None

    def _together(self, func: Any, args: Any, kwargs: Any) -> Mark:
        """What goes into a call."""
        name = getattr(func, "__name__", "")
        if name.endswith("_like") or (name.startswith("new_") and name != "new_tensor"):
            return Mark()
        given = entered = plain = 0
        trained = unsure = False
        for tensor in _tensors((args, kwargs)):
            parameter = self._parameter(tensor)
            mark = Mark() if parameter else self._mark(tensor)
            if parameter in self._bits:
                self._used |= self._bits[parameter]
                mark = Mark(self._bits[parameter])
            if mark is None:
                mark = Mark(unsure=tensor.grad_fn is not None)
            weight = mark.weight or parameter in self._trained
            trained, plain = trained or weight, plain + (not weight)
            given, entered, unsure = given | mark.given, entered | mark.entered, unsure or mark.unsure
        if name in LEAVING or (name in NUMBERS and not args[0].is_floating_point()):
            self._lost |= given
        elif name in NUMBERS:
            self._numbers |= given
        elif name in ENTRIES:
            self._lost |= self._numbers
        return Mark(given, entered | given * trained, trained and not plain, unsure)

    def _write_down(self, func: Any, given: Mark, args: Any, output: Any) -> None:
        if func is torch.Tensor.grad.__get__:
            return
        changed = args[:1] if getattr(func, "__name__", "") == "__setitem__" else ()
        for tensor in _tensors((output, changed)):
            if self._parameter(tensor):
                continue  # a parameter that is changed in place stays one
            before = self._mark(tensor) or given
            mark = Mark(
                before.given | given.given,
                before.entered | given.entered,
                before.weight and given.weight,
                before.unsure or given.unsure,
            )
            storage = tensor.untyped_storage()
            self._marks[storage._cdata] = StorageWeakRef(storage), mark

    def _mark(self, tensor: Any) -> Mark | None:
        known = self._marks.get(tensor.untyped_storage()._cdata)
        return known[1] if known is not None else None

    def _parameter(self, tensor: Any) -> str:
        """The name of a parameter, also of one that a module holds in its place, as FSDP2 does while it runs."""
        if not tensor.requires_grad or tensor.grad_fn is not None:
            return ""
        if (name := self._known(tensor)) is None:
            for (_, attribute), (module, held) in self._places.items():
                weight = getattr(module(), "_parameters", {}).get(attribute)
                if weight is not None:
                    self._leaves[id(weight)] = weakref.ref(weight), held
            name = self._known(tensor)
        return name or ""

    def _known(self, tensor: Any) -> str | None:
        alive, name = self._leaves.get(id(tensor), (None, None))
        return name if alive is not None and alive() is tensor else None


def _tensors(value: Any, depth: int = 0) -> Iterator[Any]:
    """The tensors in nested lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple, dict)) and depth < 5:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _tensors(each, depth + 1)
