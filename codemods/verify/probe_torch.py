"""The half of the probe that knows torch: which of its functions tell the probe when they are called, and what is read.

Loaded by `probe.py` once the program has imported torch, which arrives as an argument. Python 3.9 and later.
"""

from __future__ import annotations

import functools
import math
import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemods.verify.probe import Record
    from codemods.verify.probe_calls import Calls
    from codemods.verify.probe_names import Names

Quietly = Callable[[Callable[..., None]], Callable[..., None]]


LOOKS = 25
"""Steps of each optimizer at which its gradients and weights are looked at; of later ones 32, 64, 128 …"""
CALLS = 8
"""Steps of all optimizers together until which the calls of modules are watched."""
NUMBERS = 1000
"""Losses and scales that are kept."""
TEXTS = 50
"""Optimizers, groups of one, and different calls that clip, of which more is kept than a count."""


def watch(torch: Any, record: Record, names: Names, calls: Calls, load: Callable[[str], Any], quietly: Quietly) -> None:
    """Have torch tell `record` about backward calls, steps, scalers, autocast, clipping and zeroing."""
    watcher = Watcher(torch, record, names, calls, load)
    told = _Teller(quietly)
    told.around(torch.autograd, "backward", watcher.before_backward, watcher.after_backward, record.failed)
    hooks = sys.modules["torch.optim.optimizer"]
    hooks.register_optimizer_step_pre_hook(quietly(watcher.before_step))
    hooks.register_optimizer_step_post_hook(quietly(watcher.after_step))
    told.around(torch.optim.Optimizer, "__init__", after=watcher.made)
    told.around(torch.optim.Optimizer, "zero_grad", after=watcher.zeroed)
    told.around(torch.nn.Module, "zero_grad", after=watcher.zeroed)
    told.around(torch.autocast, "__enter__", after=watcher.entered_autocast)
    told.around(torch, "clear_autocast_cache", after=calls.cleared)
    if hasattr(torch, "compile"):
        told.around(torch, "compile", before=watcher.before_compile)
    for name in ("clip_grad_norm_", "clip_grads_with_norm_", "clip_grad_value_"):
        for place in (torch.nn.utils, torch.nn.utils.clip_grad):
            if hasattr(place, name):
                told.around(place, name, before=functools.partial(watcher.before_clip, name))
    for scaler in _scalers(torch):
        told.around(scaler, "scale", after=watcher.scaled)
        told.around(scaler, "step", watcher.before_scaler_step, watcher.after_scaler_step, watcher.failed_scaler_step)
        told.around(scaler, "unscale_", after=watcher.unscaled, failed=record.failed)
        told.around(scaler, "update", after=watcher.updated, failed=record.failed)


def _scalers(torch: Any) -> list[Any]:
    """The classes that define `scale`, each once: since torch 2.3 one for all devices."""
    found = []
    for place in (getattr(torch, "amp", None), torch.cuda.amp):
        scaler = getattr(place, "GradScaler", None)
        if scaler is not None and "scale" in vars(scaler) and scaler not in found:
            found.append(scaler)
    return found


class _Teller:
    """Puts a function in the place of another that does the same, and tells."""

    def __init__(self, quietly: Quietly) -> None:
        self._quietly = quietly

    def around(
        self,
        owner: Any,
        name: str,
        before: Callable[..., None] = lambda *args, **kwargs: None,
        after: Callable[..., None] = lambda answer, *args, **kwargs: None,
        failed: Callable[[BaseException], None] = lambda error: None,
    ) -> None:
        """`before` is told the arguments, `after` the answer and the arguments, `failed` the exception."""
        original = getattr(owner, name)
        before, after, failed = self._quietly(before), self._quietly(after), self._quietly(failed)

        @functools.wraps(original)
        def told(*args: Any, **kwargs: Any) -> Any:
            before(*args, **kwargs)
            try:
                answer = original(*args, **kwargs)
            except BaseException as error:
                failed(error)
                raise
            after(answer, *args, **kwargs)
            return answer

        setattr(owner, name, told)


class _Stepped:
    """What is remembered about one optimizer from one step to the next."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.steps = 0
        self.looks = 0
        self.sums: dict[int, int] = {}
        self.gradient: Any = None
        """A weak reference to the first gradient of the last step."""
        self.version = 0
        """Of that gradient, after the step or the last backward pass."""
        self.zeroed = -1
        """How often torch had zeroed gradients at that step."""

    def remember(self) -> None:
        """After a step or a backward pass: the gradient as it is now is not zeroed."""
        gradient = self.gradient and self.gradient()
        if gradient is not None:
            self.version = gradient._version

    def notice_zeroing(self) -> None:
        """Before a backward pass: a gradient that was written to meanwhile was zeroed by hand, as it seems."""
        gradient = self.gradient and self.gradient()
        if gradient is not None and gradient._version != self.version:
            self.gradient = None


class Watcher:
    """Turns what torch tells into what is recorded."""

    def __init__(self, torch: Any, record: Record, names: Names, calls: Calls, load: Callable[[str], Any]) -> None:
        self.torch = torch
        self.record = record
        self.names = names
        self.calls = calls
        self.load = load
        self.flow: Any = None
        """Follows what parameters without a gradient go into, while there are some."""
        self.sums: dict[int, int] = {}
        """Of parameters that no optimizer holds, where an optimizer steps others in their place."""
        self.raw = False
        """Whether a backward pass since the last step went around Accelerate, Fabric and Lightning."""
        self.divided = True
        """Whether each of these passes began at a loss that the program itself had divided or multiplied last."""
        self.optimizers: Any = weakref.WeakKeyDictionary()
        self.met = 0
        """Optimizers so far, those that are gone included."""
        self.zeroings = 0
        self.clipping = False
        """Whether gradients were clipped since the last backward pass."""
        self.scaling = False
        """Whether the last backward pass began at a scaled loss."""
        self.clippable = True
        """Whether something was unscaled since."""
        self.unscaled_ids: set[int] = set()
        self.in_scaler = threading.local()
        self.originals: Any = deque(maxlen=16)
        """Scaled losses, each with the loss itself."""

    # Backward passes.

    def before_backward(self, tensors: Any = None, *_args: Any, **_kwargs: Any) -> None:
        if self._inside_backward():
            return
        self.clipping = False
        for stepped in self.optimizers.values():
            stepped.notice_zeroing()
        losses = [tensors] if self._is_tensor(tensors) else list(tensors or ())
        root = next(iter(losses), None)
        if _frame("backward", PREPARING) is None:
            self.raw = True
            self.divided = self.divided and type(getattr(root, "grad_fn", None)).__name__ in DIVISIONS
        original = next((loss for scaled, loss in self.originals if scaled() is root), None)
        self.scaling = original is not None
        if self.scaling:
            self.clippable = False
            self.unscaled_ids.clear()
        from_here = root if original is None else original
        if from_here is not None and from_here.numel() == 1 and len(self.record.losses) < NUMBERS:
            self.record.losses.append(float(from_here.detach()))
        if self.flow is not None:
            self.flow.differentiated(losses)

    def after_backward(self, _answer: Any, *_args: Any, **_kwargs: Any) -> None:
        if not self._inside_backward():
            self._notice_rank()
            for stepped in self.optimizers.values():
                stepped.remember()
            self.record.counts["backward"] += 1
            self.record.write()

    def _inside_backward(self) -> bool:
        """Reentrant checkpointing differentiates inside of a backward pass."""
        task = getattr(self.torch._C, "_current_graph_task_id", None)
        return task is not None and task() != -1

    def _notice_rank(self) -> None:
        """The rank in the process group, which a launcher need not have put into the environment."""
        group = sys.modules.get("torch.distributed")
        if not self.record.rank and group is not None and group.is_available() and group.is_initialized():
            self.record.rank = str(group.get_rank())

    def _is_tensor(self, value: Any) -> bool:
        return isinstance(value, self.torch.Tensor)

    # Scalers.

    def scaled(self, answer: Any, scaler: Any, outputs: Any = None, **_kwargs: Any) -> None:
        if answer is not outputs and self._is_tensor(answer) and self._is_tensor(outputs):
            self.originals.append((weakref.ref(answer), outputs.detach().clone()))
            if self.record.first_scale is None and scaler.is_enabled():
                self.record.first_scale = float(scaler.get_scale())

    def before_scaler_step(self, scaler: Any, optimizer: Any = None, *_args: Any, **_kwargs: Any) -> None:
        self._end_when_done(optimizer)
        self.in_scaler.taken = self._stepped(optimizer).steps
        if scaler.is_enabled() and self.record.counts["backward"] and not self.scaling:
            self.record.odd("unscaled-backward")

    def after_scaler_step(self, _answer: Any, scaler: Any, optimizer: Any = None, *_args: Any, **_kwargs: Any) -> None:
        taken, self.in_scaler.taken = self.in_scaler.taken, None
        if scaler.is_enabled() and self._stepped(optimizer).steps == taken:
            self._end_window(self._stepped(optimizer))
            self.record.counts["skipped"] += 1
            self.record.clipped += self.clipping
            self._leftovers(optimizer, self._stepped(optimizer))
            self._look(optimizer, skipped=True)
            self.record.write()

    def failed_scaler_step(self, error: BaseException) -> None:
        self.in_scaler.taken = None
        self.record.failed(error)

    def unscaled(self, _answer: Any, scaler: Any, optimizer: Any = None, **_kwargs: Any) -> None:
        self.clippable = True
        self.unscaled_ids.add(id(optimizer))

    def updated(self, _answer: Any, scaler: Any, *_args: Any, **_kwargs: Any) -> None:
        self.unscaled_ids.clear()
        if scaler.is_enabled() and len(self.record.scales) < NUMBERS:
            self.record.scales.append(float(scaler.get_scale()))

    def before_clip(self, name: str, _weights: Any = None, most: Any = None, *_args: Any, **kwargs: Any) -> None:
        self.clipping = True
        most = kwargs.get("max_norm", kwargs.get("clip_value", most))
        written = name if most is None else f"{name} at {float(most):g}"
        if written in self.record.clips or len(self.record.clips) < TEXTS:
            self.record.clips[written] = self.record.clips.get(written, 0) + 1
        if self.scaling and not self.clippable:
            self.record.odd("clip-of-scaled")

    # Optimizers.

    def made(self, *_args: Any, **_kwargs: Any) -> None:
        self.record.made += 1

    def zeroed(self, *_args: Any, **_kwargs: Any) -> None:
        self.zeroings += 1

    def entered_autocast(self, _answer: Any, autocast: Any, *_args: Any) -> None:
        self.calls.entered_autocast(autocast)
        if autocast._enabled:
            name = f"{autocast.device} {str(autocast.fast_dtype).replace('torch.', '')}"
            self.record.autocast[name] = self.record.autocast.get(name, 0) + 1

    def _end_when_done(self, optimizer: Any) -> None:
        if self.record.most_steps and self._stepped(optimizer).looks >= self.record.most_steps:
            self.record.end()

    def before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if _inside_step():
            return
        self._end_when_done(optimizer)
        stepped = self._stepped(optimizer)
        self._end_window(stepped)
        if stepped.number == len(self.record.settings) and len(self.record.settings) < TEXTS:
            self.record.settings.append([_settings(group) for group in optimizer.param_groups[:TEXTS]])
        if stepped.steps == 0:
            self.names.meet(list(_weights(optimizer)))
            if len(self.record.optimizers) < TEXTS:
                self.record.optimizers[stepped.number] = self._called(optimizer)
            if not self.sums and any(self.names.member(weight) is None for weight in _weights(optimizer)):
                self.sums = {id(weight): self._sum(weight) for _, weight, _ in self.names.members()}
            stepped.sums = {id(weight): self._sum(weight) for weight in _weights(optimizer)}
        beside = self.scaling and getattr(self.in_scaler, "taken", None) is None
        if beside and len(args) < 2 and not kwargs and id(optimizer) not in self.unscaled_ids:
            self.record.odd("step-beside-scaler")

    def after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if _inside_step():
            return
        stepped = self._stepped(optimizer)
        stepped.steps += 1
        found = getattr(optimizer, "found_inf", None)
        skipped = found is not None and bool(found)
        self.record.counts["skipped" if skipped else "step"] += 1
        self.record.clipped += self.clipping
        self._leftovers(optimizer, stepped)
        self._beside()
        self._look(optimizer, skipped)
        if not skipped:
            self.calls.stepped((weight, self.names.member(weight)) for weight in _weights(optimizer))
        if self.record.counts["step"] + self.record.counts["skipped"] >= CALLS:
            self._stop_following()
            self.calls.end()
        self.record.write()

    def before_compile(self, *_args: Any, **_kwargs: Any) -> None:
        """Watch calls no longer: torch.compile would compile the watching too."""
        self._stop_following()
        self.calls.forget()

    def _stop_following(self) -> None:
        if self.flow is not None:
            self.flow.stop()
            self.flow = None

    def _end_window(self, stepped: _Stepped) -> None:
        if len(self.record.windows) < NUMBERS:
            self.record.windows.append(len(self.record.losses))
            self.record.steppers.append(stepped.number)

    def _leftovers(self, optimizer: Any, stepped: _Stepped) -> None:
        """Whether the gradients of this step were added to those of the step before."""
        gradient = next((weight.grad for weight in _weights(optimizer) if weight.grad is not None), None)
        if gradient is None:
            return
        if stepped.gradient is not None and stepped.gradient() is gradient and stepped.zeroed == self.zeroings:
            self.record.odd("stale-gradient")
        stepped.gradient, stepped.zeroed = weakref.ref(gradient), self.zeroings
        stepped.remember()

    def _beside(self) -> None:
        """Whether this step goes through a framework that had to be asked for the backward pass too."""
        wrapper = _frame("step", WRAPPERS)
        if self.raw and wrapper is not None:
            missing = _missing(wrapper.f_locals.get("self"), divided=self.divided)
            library = next(name for start, name in LIBRARIES.items() if wrapper.f_globals["__name__"].startswith(start))
            self.record.odd("raw-backward" if missing else "raw-alike", missing and f"{library}: {missing}")
        self.raw, self.divided = False, True

    def _called(self, optimizer: Any) -> str:
        """`Adam of GAN.generator`, by what all that it holds has in common."""
        members = [self.names.member(weight) for weight in _weights(optimizer)]
        holders = [member.path.rpartition(".")[0].replace(".", "/") for member in members if member is not None]
        common = os.path.commonpath(holders).replace("/", ".") if holders else ""
        return type(optimizer).__name__ + (f" of {common}" if common else "")

    def _stepped(self, optimizer: Any) -> _Stepped:
        if optimizer not in self.optimizers:
            self.optimizers[optimizer] = _Stepped(self.met)
            self.met += 1
        stepped: _Stepped = self.optimizers[optimizer]
        return stepped

    # Parameters.

    def _look(self, optimizer: Any, skipped: bool) -> None:
        """Look at the gradients that a step used, and at whether it moved the weights."""
        stepped = self._stepped(optimizer)
        stepped.looks += 1
        if stepped.looks > LOOKS and stepped.looks & (stepped.looks - 1):
            return
        still = {id(weight) for group in optimizer.param_groups if group.get("lr") == 0 for weight in group["params"]}
        for name, weight in self.names.of(list(_weights(optimizer)), stepped.number):
            page = self._page(self.record.parameters, name, weight, self.names.member(weight))
            if weight.grad is not None:
                norm = self._norm(weight.grad)
                page["present"] += 1
                page["zero"] += norm == 0
                if not skipped and not math.isfinite(norm):
                    page["non_finite"] += 1
                    page["non_finite_at"] = page["non_finite_at"] or stepped.looks
                page["norms"].append(norm)
            if not skipped and id(weight) in still:
                page["at_rest"] += 1
            elif not skipped and page["moved"] is not True and id(weight) in stepped.sums:
                page["moved"] = self._sum(weight) != stepped.sums[id(weight)]
            self.record.unheld.pop(name, None)
        for name, weight, member in self.names.members():
            if weight.requires_grad and name not in self.record.parameters:
                page = self._page(self.record.unheld, name, weight, member)
                page["present"] += weight.grad is not None
                if not skipped and page["moved"] is not True and id(weight) in self.sums:
                    page["moved"] = self._sum(weight) != self.sums[id(weight)]
        if self.calls.watching:
            self._follow(optimizer, stepped.number)

    def _follow(self, optimizer: Any, number: int) -> None:
        """What the parameters without a gradient that are used go into: looked at from the next step on."""
        held = [(*named, self.names.member(named[1])) for named in self.names.of(list(_weights(optimizer)), number)]
        pages = {name: self.record.parameters[name] for name, _, _ in held}
        idle = [page for page in pages.values() if page["trainable"] and not page["present"]]
        if self.flow is None:
            if not idle or not hasattr(self.torch.Tensor, "untyped_storage"):
                return
            self.flow = self.load("probe_flow").Flow()
            self.flow.start()
        self.flow.meet(held, pages)
        for name, page in pages.items():
            page["feeds"] = self.flow.feeds(name)

    def _page(self, pages: Any, name: str, weight: Any, member: Any) -> Any:
        """What is written down about a parameter, one more look at it counted."""
        if name not in pages:
            size, dtype = weight.numel(), str(weight.dtype).replace("torch.", "")
            part = member is None or _is_part(weight)
            pages[name] = dict(NOTHING, norms=[], size=size, matrix=weight.dim() >= 2, dtype=dtype, part=part)
        page = pages[name]
        page["trainable"] = bool(weight.requires_grad)
        page["looks"] += 1
        if member is not None:
            page.update(root=member.root, order=self.calls.order(member), training=member.training())
        return page

    def _norm(self, gradient: Any) -> float:
        values = _local(gradient)
        if values.is_sparse:
            values = values.coalesce().values()
        wide = self.torch.float64 if values.dtype == self.torch.float64 else self.torch.float32
        norm = float(self.torch.linalg.vector_norm(values, dtype=None if values.is_complex() else wide))
        if norm or not values.numel():
            return norm
        # The squares of small numbers are too small for 32 bits.
        return float(self.torch.linalg.vector_norm(values, math.inf)) * math.sqrt(values.numel())

    def _sum(self, weight: Any) -> Any:
        """The sum of the bits, which tells whether any of them changed without a copy of the weight."""
        torch = self.torch
        kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
        values = _local(weight).contiguous()
        values = torch.view_as_real(values) if values.is_complex() else values
        return int(values.view(kinds[values.element_size()]).sum(dtype=torch.int64))


NOTHING: dict[str, Any] = {
    "trainable": True,
    "looks": 0,
    "present": 0,
    "zero": 0,
    "non_finite": 0,
    "non_finite_at": 0,
    "moved": None,
    "at_rest": 0,
    "feeds": None,
}

PREPARING = ("accelerate.", "lightning.", "lightning_fabric.", "pytorch_lightning.", "deepspeed.")
DIVISIONS = ("DivBackward0", "MulBackward0")
LIBRARIES = {
    "accelerate.optimizer": "Accelerate",
    "lightning.fabric.wrappers": "Fabric",
    "lightning.pytorch.core.optimizer": "Lightning",
    "lightning_fabric.wrappers": "Fabric",
    "pytorch_lightning.core.optimizer": "Lightning",
}
WRAPPERS = tuple(LIBRARIES)
"""The modules of what Accelerate, Fabric and Lightning put around an optimizer."""


def _frame(function: str, modules: tuple[str, ...]) -> Any:
    """The innermost call of a function in modules that begin so, among those that led here; None if there is none."""
    if not any(name.partition(".")[0] in sys.modules for name in modules):
        return None
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == function and str(frame.f_globals.get("__name__")).startswith(modules):
            return frame
        frame = frame.f_back
    return None


def _inside_step() -> bool:
    """Whether an optimizer takes its step within the step of another, which wraps it, or of a class that it extends."""
    frame: Any = sys._getframe(1)
    steps = 0
    while frame is not None and steps < 2:
        steps += frame.f_code.co_name == "wrapper" and frame.f_globals.get("__name__") == "torch.optim.optimizer"
        frame = frame.f_back
    return steps > 1


def _missing(wrapper: Any, *, divided: bool) -> str:
    """What the framework does to losses and the program has not: scaling them, dividing them by a number of batches."""
    strategy = getattr(wrapper, "_strategy", None)
    precision = getattr(strategy, "precision_plugin", None) or getattr(strategy, "precision", None)
    scaler = getattr(wrapper, "scaler", None) or getattr(precision, "scaler", None)
    batches = getattr(getattr(wrapper, "gradient_state", None), "num_steps", 1)
    scaled = scaler is not None and bool(scaler.is_enabled())
    found = ["its loss scale"] * scaled + [f"its division by {batches} batches"] * (batches > 1 and not divided)
    return " and ".join(found)


def _settings(group: Any) -> dict[str, Any]:
    """What a group of parameters is set to: numbers, pairs of numbers, flags."""
    found: dict[str, Any] = {}
    for name, value in group.items():
        values = value if isinstance(value, (list, tuple)) else [value]
        if name != "params" and all(isinstance(each, (bool, int, float)) for each in values):
            found[name] = list(value) if isinstance(value, (list, tuple)) else value
    return found


def _weights(optimizer: Any) -> Iterator[Any]:
    for group in optimizer.param_groups:
        yield from group["params"]


def _is_part(weight: Any) -> bool:
    """Whether a process holds a part of a parameter only: a sharded tensor, or what FSDP has made flat."""
    sharded = any(placement.is_shard() for placement in getattr(weight, "placements", ()))
    return sharded or hasattr(weight, "_fsdp_flattened")


def _local(tensor: Any) -> Any:
    """The values, of a sharded tensor those that are here: asking for the others would be a collective call."""
    values = tensor.detach()
    return values.to_local() if hasattr(values, "to_local") else values
