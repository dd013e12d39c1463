"""Where the graph of a loss ends before it reaches a parameter. Loaded in the child process only; needs torch.

Autograd's own graph says what a gradient reaches and nothing of what it does not: behind `.detach()` there is no node.
So every function of torch that the program calls is written down with what went in and what came out, by a mode of
`torch.overrides` (<https://docs.pytorch.org/docs/stable/torch.overrides.html>). From the loss one walks back to the
calls whose result has no `grad_fn` though something that went in requires grad.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils.weak import WeakIdKeyDictionary

from codemods.verify.flow import GraphEnd
from codemods.verify.flow_watch import finite, floating, tensors, transformed

EXITS = frozenset({"item", "tolist", "numpy", "__float__", "__array__"})
"""Give Python's or numpy's numbers."""
ENTRIES = frozenset({"tensor", "as_tensor", "asarray", "from_numpy", "__array_wrap__", "new_tensor"})
"""Make a tensor of such numbers."""
DETACHING = frozenset({"detach", "detach_", "detach_copy", ".data", *ENTRIES})
UNRELATED = frozenset({"requires_grad_", "retain_grad", "register_hook", "__set__", ".grad", "backward", "grad"})
"""Results that share no value with what went in, or that are no results."""
IN_PLACE = frozenset({"__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__imatmul__", "__ipow__"})
SHOWN = {
    "gt": "the comparison >",
    "lt": "the comparison <",
    "ge": "the comparison >=",
    "le": "the comparison <=",
    "eq": "the comparison ==",
    "ne": "the comparison !=",
    "__setitem__": "the assignment to elements",
    "__float__": "float()",
    "__array__": "numpy.asarray()",
}
"""Functions that a program does not call by their name."""
OURS = (__file__, torch.overrides.__file__, torch._tensor.__file__, torch.functional.__file__)
SWITCHES = ("autograd/grad_mode.py", "torch/utils/_contextlib.py")
MOST = 10_000
"""Numbers of one list that are compared."""


@dataclass(slots=True)
class Call:
    """One result of a function of torch. A parameter, and what was there before, are calls without inputs."""

    inputs: tuple[int, ...] = ()
    parameters: int = 0
    """Those whose values went into it, one bit for each."""
    ends: bool = False
    """It has no `grad_fn`, though something that went in requires grad."""
    site: GraphEnd | None = None
    """Where, if it ends the graph."""
    unknown: bool = False
    """It was not seen how it, or something that went into it, was made."""
    guessed: tuple[int, ...] = ()
    """Calls that gave numbers of which it may be made."""


@dataclass(slots=True)
class _Known:
    """What went into a call."""

    inputs: list[int] = field(default_factory=list)
    given: list[torch.Tensor] = field(default_factory=list)
    alive: bool = False
    guessed: tuple[int, ...] = ()


class GraphCut(TorchFunctionMode):  # type: ignore[misc]
    """A mode under which a program is run, and which then knows where the graphs of its losses end.

    Args:
        place: says for a code object's file whether it belongs to the project, and how to name it there.
        layer: gives the layer that is being run.
    """

    def __init__(
        self, module: torch.nn.Module, batch: Any, place: Callable[[str], str | None], layer: Callable[[], str]
    ) -> None:
        super().__init__()
        self._place, self._layer = place, layer
        self._calls: list[Call] = []
        self._known = WeakIdKeyDictionary()
        self._names: list[str] = []
        self._own: set[int] = set()
        """The storages of parameters."""
        self._written: dict[int, int] = {}
        """Storage → the last call that wrote into it."""
        self._held: list[Any] = []
        """So that nothing gets the identity of what is remembered by it."""
        self._exits: list[tuple[Any, int]] = []
        self._floats: dict[int, int] = {}
        self._off: GraphEnd | None = None
        """Where gradients were switched off, while they are."""
        self._outer: list[GraphEnd | None] = []
        self._ends: dict[tuple[str, ...], GraphEnd] = {}
        self._reaching = self._exited = 0
        """Parameters, one bit for each: that went into a loss, that went into Python's numbers."""
        self._sure = True
        self.changed: dict[tuple[int, ...], dict[str, None]] = {}
        """Shape → the lines that change tensors of that shape in place, where they are part of a graph."""
        self.bad_backward: Any = None
        """The node of a graph whose backward is the first to give nan or inf for gradients that are finite."""
        self._settled = False
        """It is of an earlier pass; within one, a scaler may repeat what overflowed."""
        self.broken = False
        """Something could not be followed; then there is nothing to say."""
        for name, parameter in module.named_parameters():
            if parameter.requires_grad:
                self._remember(parameter, Call(parameters=1 << len(self._names)))
                self._names.append(name)
            if not torch.nn.parameter.is_lazy(parameter):
                self._own.add(parameter.untyped_storage()._cdata)
        for tensor in (*module.buffers(), *tensors(batch)):
            self._remember(tensor, Call())

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Write down every call for as long as the block runs."""
        from_numpy, enter, leave = torch.from_numpy, torch.inference_mode.__enter__, torch.inference_mode.__exit__

        def made(array: Any) -> torch.Tensor:
            given = self._before("from_numpy", (array,), {})
            self._after(from_numpy, "from_numpy", given, tensor := from_numpy(array))
            return tensor

        def entered(mode: Any) -> None:
            if mode.mode and torch.is_grad_enabled():
                self._off = self._switch()
            enter(mode)

        def left(mode: Any, *error: Any) -> None:
            leave(mode, *error)
            if torch.is_grad_enabled():
                self._off = None

        torch.from_numpy, torch.inference_mode.__enter__, torch.inference_mode.__exit__ = made, entered, left
        try:
            with self:
                yield
        finally:
            torch.from_numpy, torch.inference_mode.__enter__ = from_numpy, enter
            torch.inference_mode.__exit__ = leave

    def end_pass(self) -> None:
        """Numbers of this pass are of no use to the next."""
        self._exits.clear()
        self._floats.clear()
        self._settled = self.bad_backward is not None

    def ends(self) -> list[GraphEnd]:
        """Where the graphs of all losses ended, each with the parameters that reach no loss by another way."""
        return [] if self.broken else list(self._ends.values())

    def unread(self) -> list[str]:
        """Parameters of which nothing went into a loss."""
        if self.broken or not self._sure or not self._reaching:
            return []
        return list(self._named(~self._reaching & ~self._exited))

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call a function, and write it down."""
        kwargs = kwargs or {}
        if func is torch._C._set_grad_enabled:
            self._switched(args[0])
            return func(*args, **kwargs)
        name = _name(func)
        if name in ("backward", "grad") and args:
            losses = list(tensors(args[0]))
            self._walk(losses)
            self._guard(losses)
        if name.startswith(".") and not isinstance(output := func(*args, **kwargs), torch.Tensor):
            return output
        given = self._before(name, args, kwargs)
        if not name.startswith("."):
            output = func(*args, **kwargs)
        self._after(func, name, given, output)
        return output

    def _before(self, name: str, args: Any, kwargs: Any) -> _Known | None:
        if self.broken:
            return None
        try:
            known = _Known(given=[*tensors(args), *tensors(kwargs)])
            known.alive = any(tensor.requires_grad for tensor in known.given)
            for tensor in known.given:
                known.inputs += self._numbers(tensor)
            if self._exits:
                self._plain(known, name, (*args, *kwargs.values()))
        except Exception:
            self.broken = True
            return None
        return known

    def _after(self, func: Any, name: str, known: _Known | None, output: Any) -> None:
        if known is None or self.broken or name in UNRELATED:
            return
        try:
            if name in EXITS:
                self._left(name, known, output, func)
                return
            if name.endswith("_like") or (name.startswith("new_") and name != "new_tensor"):
                known = _Known()
            writes = name in IN_PLACE or (name.endswith("_") and not name.endswith("__"))
            results = known.given[:1] if writes else list(tensors(output))
            for tensor in results:
                if writes or not any(tensor is one for one in known.given):
                    self._write_down(tensor, known, name, func, writes=writes)
        except Exception:
            self.broken = True

    def _write_down(self, tensor: torch.Tensor, known: _Known, name: str, func: Any, *, writes: bool) -> None:
        storage = tensor.untyped_storage()._cdata if writes and tensor.layout is torch.strided else 0
        if storage in self._own:
            return  # a parameter that is changed in place stays one
        call = self._call(known)
        if tensor.grad_fn is None and known.alive and not transformed(tensor):
            if torch.is_grad_enabled():
                cached = tensor.is_floating_point() and name not in DETACHING and _autocast(tensor)
                call.ends, call.site = True, None if cached else self._site(_shown(func, name))
            elif self._off is not None:
                call.ends, call.site = True, self._off
            # else a Function of autograd runs its forward: whether its result has a graph is known when it is used
        elif writes:
            call.site = self._site(_shown(func, name))
            if call.site is not None and known.alive:
                self.changed.setdefault(tuple(tensor.shape), {})[call.site.place] = None
        self._remember(tensor, call)
        if storage:
            self._written[storage] = len(self._calls) - 1
            self._held.append(tensor)

    def _left(self, name: str, known: _Known, value: Any, func: Any) -> None:
        """A tensor became numbers."""
        call = self._call(known)
        if not call.parameters or isinstance(value, int):
            return
        self._exited |= call.parameters
        if known.alive:
            off = None if torch.is_grad_enabled() else self._off
            call.ends, call.site = True, off or self._site(_shown(func, name))
        self._calls.append(call)
        self._exits.append((value, len(self._calls) - 1))
        for number in _flat(value):
            self._floats[id(number)] = len(self._calls) - 1
            self._held.append(number)

    def _plain(self, known: _Known, name: str, values: Sequence[Any]) -> None:
        """The numbers among the arguments of a call that came out of tensors."""
        numbers = list(_flat(values))
        found = {self._floats[id(number)] for number in numbers if id(number) in self._floats}
        arrays = [number for number in numbers if type(number).__name__ == "ndarray"]
        if arrays:
            numpy = sys.modules["numpy"]
            for value, call in self._exits:
                if any(isinstance(value, numpy.ndarray) and numpy.may_share_memory(value, one) for one in arrays):
                    found.add(call)
        known.inputs += found
        if name in ENTRIES and not found and not known.given:
            frame = next(iter(_frames()))
            if arrays or any(not _constant(number, frame) for number in numbers):
                known.guessed = tuple(call for _, call in self._exits)

    def _call(self, known: _Known) -> Call:
        inputs = tuple(dict.fromkeys(known.inputs))
        call = Call(inputs, unknown=any(self._calls[n].unknown for n in inputs), guessed=known.guessed)
        for number in inputs:
            call.parameters |= self._calls[number].parameters
        return call

    def _remember(self, tensor: torch.Tensor, call: Call) -> None:
        self._known[tensor] = len(self._calls)
        self._calls.append(call)

    def _numbers(self, tensor: torch.Tensor) -> Iterator[int]:
        number = self._known.get(tensor)
        if number is None:
            number = len(self._calls)
            guessed = () if tensor.requires_grad else tuple(call for _, call in self._exits)
            self._remember(tensor, Call(unknown=True, guessed=guessed))
        yield number
        if self._written and tensor.layout is torch.strided and not torch.nn.parameter.is_lazy(tensor):
            later = self._written.get(tensor.untyped_storage()._cdata, number)
            if later > number:
                written = self._calls[later]
                if (
                    tensor.grad_fn is None and not written.ends
                ):  # written through a view that the graph knows nothing of
                    self._calls.append(Call((later,), written.parameters, ends=True, site=written.site))
                    later = len(self._calls) - 1
                yield later

    def _walk(self, losses: Sequence[torch.Tensor]) -> None:
        """From a loss back to where its graph ends."""
        if self.broken:
            return
        met: set[int] = set()
        told = 0
        guessed = [number for loss in losses for number in self._numbers(loss)]
        for certain in (True, False):
            waiting, guessed = [-number for number in guessed], []
            heapify(waiting)
            cuts: list[Call] = []
            while waiting:
                number = -heappop(waiting)  # what is nearest to the loss
                if number in met:
                    continue
                met.add(number)
                call = self._calls[number]
                self._sure = self._sure and not call.unknown and not call.guessed
                self._reaching |= call.parameters
                guessed += call.guessed
                if call.ends:
                    cuts.append(call)
                elif call.inputs:
                    for earlier in call.inputs:
                        heappush(waiting, -earlier)
                else:
                    told |= call.parameters  # a gradient reaches it
            for call in cuts:
                self._tell(call, list(self._named(call.parameters & ~told)), certain=certain)
                told |= call.parameters

    def _guard(self, losses: Sequence[torch.Tensor]) -> None:
        """Have every node of a graph looked at in the backward pass that is about to begin."""
        if self._settled:
            return
        self.bad_backward = None
        waiting = [loss.grad_fn for loss in losses if loss.grad_fn is not None]
        met = set(waiting)
        while waiting:
            node = waiting.pop()
            node.register_hook(self._guarding(node))
            later = [one for one, _ in node.next_functions if one is not None and one not in met]
            met.update(later)
            waiting += later

    def _guarding(self, node: Any) -> Callable[[Any, Any], None]:
        def look(given: Any, taken: Any) -> None:
            if self.bad_backward is None and finite(floating(taken)) and not finite(floating(given)):
                self.bad_backward = node

        return look

    def _tell(self, call: Call, names: list[str], *, certain: bool) -> None:
        if names and (site := call.site) is not None:
            key = (site.call, site.place, site.layer, site.within)
            end = self._ends.setdefault(key, GraphEnd(*key, certain=certain))
            end.parameters = list(dict.fromkeys([*end.parameters, *names]))

    def _named(self, bits: int) -> Iterator[str]:
        return (name for number, name in enumerate(self._names) if bits >> number & 1)

    def _switched(self, on: bool) -> None:
        """Gradients are switched on or off."""
        switch = [frame for frame in _frames() if frame.f_code.co_filename.endswith(SWITCHES[0])]
        leaves = bool(switch) and switch[-1].f_code.co_name == "__exit__"
        if on and not leaves:
            self._outer.append(self._off)
        if on:
            self._off = None
        elif leaves:
            self._off = self._outer.pop() if self._outer else None
        elif torch.is_grad_enabled():
            self._off = self._switch()

    def _switch(self) -> GraphEnd | None:
        """Where gradients are switched off: the line, or the function that is decorated so."""
        call = "torch.inference_mode()"
        for frame in _frames():
            path = frame.f_code.co_filename
            if path.endswith(SWITCHES[0]):
                kind = type(frame.f_locals.get("self")).__name__
                call = f"torch.{kind}({'False' if kind == 'set_grad_enabled' else ''})"
            elif path.endswith(SWITCHES[1]):
                code = getattr(frame.f_locals.get("func"), "__code__", None)
                if code is None:
                    break
                call = f"@{call} of {code.co_name}()"
                if (place := self._place(code.co_filename)) is not None:
                    return GraphEnd(call, f"{place}:{code.co_firstlineno}", self._layer())
                return self._site(call, _library(code.co_filename, code.co_firstlineno))
            else:
                break
        return self._site(call)

    def _site(self, call: str, within: str = "") -> GraphEnd | None:
        """The innermost line of the project, and the line of the library that it called, if any."""
        for frame in _frames():
            path = frame.f_code.co_filename
            if (place := self._place(path)) is not None:
                return GraphEnd(call, f"{place}:{frame.f_lineno}", self._layer(), within)
            if not within and not path.endswith(SWITCHES):
                within = _library(path, frame.f_lineno)
        return None


def _frames() -> Iterator[Any]:
    """The frames that led here, innermost first, without ours and those of torch that only pass a call on."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename not in OURS and frame.f_code.co_filename != "<string>":
            yield frame
        frame = frame.f_back  # type: ignore[assignment]


def _library(path: str, line: int) -> str:
    """A line of a library, named from its package on."""
    return f"{path.rpartition('site-packages/')[2]}:{line}"


def _name(func: Any) -> str:
    """The name of a function, or of a property with a dot before it."""
    name: str = getattr(func, "__name__", "")
    return f".{func.__self__.__name__}" if name == "__get__" else name


def _shown(func: Any, name: str) -> str:
    """A function as a program writes it."""
    if name in SHOWN or name.startswith("."):
        return SHOWN.get(name, name)
    full = resolve_name(func) or f"torch.{name}"
    return f".{name}()" if full.startswith("torch.Tensor.") else f"{full}()"


def _flat(value: Any, depth: int = 0) -> Iterator[Any]:
    """The floats and arrays in nested lists."""
    if isinstance(value, float) or type(value).__name__ == "ndarray":
        yield value
    elif isinstance(value, (list, tuple)) and depth < 6:
        for part in value[:MOST]:
            yield from _flat(part, depth + 1)


def _constant(number: Any, frame: Any) -> bool:
    """Whether a number is written in the code that is being run."""
    parts = (part for constant in frame.f_code.co_consts for part in (*_flat(constant), constant))
    return any(number is part for part in parts)


def _autocast(tensor: torch.Tensor) -> bool:
    return bool(torch.is_autocast_enabled(tensor.device.type))
