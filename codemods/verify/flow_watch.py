"""Watching every layer of a module while it runs. Loaded in the child process only; needs torch.

Layers are watched through `nn.Module.__call__`, not through hooks: a hook on a module switches off the fused path of
`nn.TransformerEncoder`, and with it the bug that is looked for.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any

import torch

from codemods.verify.flow import Cut, FlowRun, Seen, Stranger

MOST = 50
"""Cuts and strangers that are kept."""
LONGEST = 1000
"""Items of a list that are looked at; more are data."""


def tensors(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    """The tensors in what a layer takes or gives: nested tuples, lists, mappings and dataclasses."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth < 6:
        parts: Any = ()
        if isinstance(value, Mapping):
            parts = value.values()
        elif isinstance(value, (tuple, list)):
            parts = value
        elif is_dataclass(value) and not isinstance(value, type):
            parts = [getattr(value, item.name, None) for item in fields(value)]
        for part in parts:
            yield from tensors(part, depth + 1)


def floating(value: Any) -> list[torch.Tensor]:
    """Those that can carry a gradient."""
    return [tensor for tensor in tensors(value) if tensor.is_floating_point() or tensor.is_complex()]


def finite(found: list[torch.Tensor]) -> bool:
    """Whether no value of these is inf or nan."""
    return all(bool(torch.isfinite(tensor.detach()).all()) for tensor in found if _dense(tensor))


def sound(found: list[torch.Tensor]) -> bool:
    """Whether these hold neither nan nor +inf; -inf alone is how masks are written."""
    dense = [tensor.detach() for tensor in found if _dense(tensor)]
    return not any(bool((tensor.isnan() | tensor.isposinf()).any()) for tensor in dense if not tensor.is_complex())


def _dense(tensor: torch.Tensor) -> bool:
    """Whether its values can be looked at: not inside of `torch.vmap` and the like."""
    plain = tensor.layout is torch.strided and not tensor.is_nested and tensor.device.type != "meta"
    return plain and not transformed(tensor)


def transformed(tensor: torch.Tensor) -> bool:
    """Whether it stands for others, inside of a transformation of `torch.func`."""
    return bool(torch._C._functorch.is_functorch_wrapped_tensor(tensor))


class Watch:
    """What happens to the layers of `root`, written into `run`.

    Args:
        place: says for a code object's file whether it belongs to the project, and how to name it there.
    """

    def __init__(self, root: torch.nn.Module, run: FlowRun, place: Callable[[str], str | None]) -> None:
        self.unsound = self.infinite = ""
        """Where values first appeared that are nan or +inf, and that are not finite."""
        self._names: dict[int, str] = {}
        for name, module in root.named_modules():
            self._names.setdefault(id(module), name)
        self._registered = {id(parameter) for parameter in root.parameters()}
        self._met: dict[tuple[str, str, str], dict[int, Any]] = {}
        """Modules that are no part of the tree, by class, place and holder, in this pass."""
        self._root, self._run = root, run
        self._place = place
        self._local = threading.local()
        self._raised: dict[int, str] = {}
        self._kept: list[BaseException] = []
        """So that no other exception gets the identity of one that was seen."""
        self._pending: dict[str, Cut] = {}
        """The last cut of each layer in this pass."""
        self._baseline = run.mode == "train"
        """Whether gradients are on outside of all layers."""

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch for as long as the block runs."""
        original = torch.nn.Module.__call__

        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            return self._call(original, module, args, kwargs)

        torch.nn.Module.__call__ = call
        try:
            yield
        finally:
            torch.nn.Module.__call__ = original

    def raiser(self, error: BaseException) -> str | None:
        """The innermost layer that an exception came out of."""
        return self._raised.get(id(error))

    def layer(self) -> str:
        """The innermost layer that is being run."""
        stack: list[tuple[str | None, bool]] = self._local.__dict__.get("stack", [])
        return next((name for name, _ in reversed(stack) if name is not None), "")

    def _call(self, original: Any, module: Any, args: Any, kwargs: Any) -> Any:
        name = self._names.get(id(module))
        stack: list[tuple[str | None, bool]] = self._local.__dict__.setdefault("stack", [])
        grad = torch.is_grad_enabled()
        outer = stack[-1][1] if stack else self._baseline
        if name is None:
            self._meet_stranger(module, grad, inside=bool(stack) and stack[-1][0] is not None)
        entered = floating((args, kwargs))
        wanted = any(tensor.requires_grad for tensor in entered)
        clean = sound(entered)
        if not clean and not self.unsound and name is not None:
            self.unsound = f"the input of {name or 'the module'}"
        types = _types(entered)
        stack.append((name, grad))
        try:
            output = original(module, *args, **kwargs)
        except BaseException as error:
            if name is not None and id(error) not in self._raised:
                self._raised[id(error)] = name
                self._kept.append(error)
            raise
        finally:
            stack.pop()
        if name is not None:
            self._returned(name, module, floating(output), types, grad=grad, outer=outer, wanted=wanted, clean=clean)
        return output

    def _returned(
        self, name: str, module: Any, left: Any, types: Any, *, grad: bool, outer: bool, wanted: bool, clean: bool
    ) -> None:
        seen = self._run.layers.setdefault(name, Seen())
        again = seen.calls_without_grad > 0
        seen.calls += 1
        seen.calls_without_grad += not grad
        seen.inputs = sorted({*seen.inputs, *types})
        seen.outputs = sorted({*seen.outputs, *_types(left)})
        if left:
            seen.requires_grad = any(tensor.requires_grad for tensor in left)
            if not finite(left):
                seen.finite = False
                self.infinite = self.infinite or f"the output of {name or 'the module'}"
            if clean and not self.unsound and not sound(left):
                self.unsound = f"the output of {name or 'the module'}"
        if self._run.mode != "train" or not left or any(map(transformed, left)):
            return
        earlier = self._pending.pop(name, None)
        if seen.requires_grad:
            return  # also after a cut, as when checkpointing computes a layer again
        if not (wanted or any(parameter.requires_grad for parameter in module.parameters())):
            return
        if not grad:
            if outer:
                self._pending[name] = Cut(name, "called-without-grad", self._caller())
            elif earlier is not None:
                self._pending[name] = earlier
        elif not any(other.startswith(f"{name}." if name else "") for other in self._pending):
            cached = again and torch.is_autocast_enabled(left[0].device.type)
            place = self._caller() if cached else self._forward(module)
            self._pending[name] = Cut(name, "cached-without-grad" if cached else "inside", place)

    def end_pass(self) -> None:
        """What was cut in this pass, and never computed with gradients after all, is cut."""
        known = {cut.layer for cut in self._run.cuts}
        found = [cut for cut in self._pending.values() if cut.layer not in known]
        self._run.cuts += found[: MOST - len(self._run.cuts)]
        if self._run.mode == "train":
            self._meet_parameters()
        self._pending.clear()
        self._met.clear()

    def _meet_stranger(self, module: Any, grad: bool, *, inside: bool) -> None:
        """A module that is not in the tree: worth a word if it would be trained, were it there."""
        if not (grad and inside) or len(self._run.strangers) >= MOST:
            return
        if any(id(part) in self._names for part in module.modules()):
            return  # a wrapper around what is watched
        own = [parameter for parameter in module.parameters() if parameter.requires_grad]
        if not any(id(parameter) not in self._registered for parameter in own):
            return
        kind, place = type(module).__name__, self._caller()
        holder, container = self._holder(module)
        met = self._met.setdefault((kind, place, holder), {})
        met[id(module)] = module
        every = {id(p) for one in met.values() for p in one.parameters() if p.requires_grad} - self._registered
        strangers = self._run.strangers
        stranger = next((s for s in strangers if (s.kind, s.place, s.holder) == (kind, place, holder)), None)
        if stranger is None:
            strangers.append(stranger := Stranger(kind, 0, place, holder=holder, container=container))
        if len(every) > stranger.parameters:
            stranger.parameters, stranger.modules = len(every), len(met)

    def _held(self) -> Iterator[tuple[str, str, Any]]:
        """What the attributes of the tree's modules hold unregistered, with the attribute and its value's class."""
        for path, module in self._root.named_modules():
            for name, value in vars(module).items():
                if name not in ("_modules", "_parameters", "_buffers"):
                    for part in _parts(value):
                        yield f"{path or type(module).__name__}.{name}", type(value).__name__, part

    def _holder(self, stranger: Any) -> tuple[str, str]:
        """The attribute that holds a module that is not in the tree, and the class of its value."""
        found = ((holder, container) for holder, container, part in self._held() if part is stranger)
        return next(found, ("", ""))

    def _meet_parameters(self) -> None:
        """Parameters in lists and dicts that got a gradient: registered, they would be trained."""
        found: dict[tuple[str, str], set[int]] = {}
        for holder, container, part in self._held():
            if isinstance(part, torch.nn.Parameter) and part.grad is not None and id(part) not in self._registered:
                found.setdefault((holder, container), set()).add(id(part))
        known = {stranger.holder for stranger in self._run.strangers if not stranger.modules}
        for (holder, container), every in found.items():
            if holder not in known:
                self._run.strangers.append(Stranger("Parameter", len(every), "", 0, holder, container))

    def _caller(self) -> str:
        """The innermost line of the project that is being run."""
        frame = sys._getframe(2)
        while frame is not None:
            if (path := self._place(frame.f_code.co_filename)) is not None:
                return f"{path}:{frame.f_lineno}"
            frame = frame.f_back  # type: ignore[assignment]
        return ""

    def _forward(self, module: Any) -> str:
        code = getattr(getattr(type(module), "forward", None), "__code__", None)
        if code is None or (path := self._place(code.co_filename)) is None:
            return ""
        return f"{path}:{code.co_firstlineno}"


def _parts(value: Any, depth: int = 0) -> Iterator[Any]:
    """A value, or what is in it where it is a nested list, tuple or dict."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        yield value
    elif depth < 3:
        for part in value[:LONGEST]:
            yield from _parts(part, depth + 1)


def _types(found: list[torch.Tensor]) -> list[str]:
    return sorted({str(tensor.dtype).removeprefix("torch.") for tensor in found})
