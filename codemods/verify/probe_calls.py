"""In which order modules are called, and whether one runs with weights that autocast cast before they were stepped.

Loaded by `probe.py`; Python 3.9 and later.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemods.verify.probe import Record
    from codemods.verify.probe_names import Member


class Calls:
    """A hook that torch runs before the forward pass of any module; it only takes note."""

    def __init__(self, torch: Any, record: Record, quietly: Any) -> None:
        self._torch = torch
        self._record = record
        self._first: dict[int, int] = {}
        self._device = ""
        """The device of the autocast region that was entered last."""
        self._cache = 0
        """Counts how often the copies that autocast keeps were thrown away."""
        self._ran: dict[int, int] = {}
        self._stepped: dict[int, int] = {}
        """Modules that ran with a cache, and those among them whose weights were stepped then."""
        self._hook = torch.nn.modules.module.register_module_forward_pre_hook(quietly(self._called))

    @property
    def watching(self) -> bool:
        return self._hook is not None

    def forget(self) -> None:
        """Watch no longer, and know of no order."""
        self._first.clear()
        self.end()

    def end(self) -> None:
        """Watch no longer."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def order(self, member: Member) -> int | None:
        """When a parameter was first used, by the calls of the modules that hold it; None if they were not called."""
        if not self._first:
            return member.position
        return max((self._first[owner] for owner in member.owners if owner in self._first), default=None)

    def entered_autocast(self, autocast: Any) -> None:
        self._device = autocast.device

    def cleared(self, *_args: Any) -> None:
        self._cache += 1

    def stepped(self, weights: Iterable[tuple[Any, Any]]) -> None:
        """An optimizer has changed these weights, each given with where it lies."""
        if not self._casting():
            return
        for weight, member in weights:
            if member is not None and _is_cast(weight, self._torch):
                for owner in member.owners:
                    if self._ran.get(owner) == self._cache:
                        self._stepped[owner] = self._cache

    def _called(self, module: Any, *_args: Any) -> None:
        key = id(module)
        if key not in self._first:
            self._first[key] = len(self._first)
        if not self._device or not self._casting():
            return
        if self._stepped.get(key) == self._cache:
            if any(weight is not None and _is_cast(weight, self._torch) for weight in module._parameters.values()):
                self._record.odd("stale-autocast")
                del self._stepped[key]
        if self._torch.is_grad_enabled() and not isinstance(module, self._torch.nn.Embedding):
            self._ran[key] = self._cache

    def _casting(self) -> bool:
        """Whether autocast is on here, and keeps what it has cast."""
        torch = self._torch
        if not self._device or not torch.is_autocast_cache_enabled():
            return False
        try:
            return bool(torch.is_autocast_enabled(self._device))
        except TypeError:  # before torch 2.4
            return bool(torch.is_autocast_cpu_enabled() if self._device == "cpu" else torch.is_autocast_enabled())


def _is_cast(weight: Any, torch: Any) -> bool:
    """Whether autocast keeps a copy of a weight: of matrices in float32 that are trained."""
    return bool(weight.dim() >= 2 and weight.requires_grad and weight.dtype == torch.float32)
