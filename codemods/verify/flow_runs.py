"""One run of what a factory makes: train or eval, in one precision. Loaded in the child process only; needs torch."""

from __future__ import annotations

import math
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from codemods.verify import observe
from codemods.verify.flow import FlowRun
from codemods.verify.flow_case import Case, Misuse, lazy, loss_of, moved, unsound_start
from codemods.verify.flow_watch import Watch, finite
from codemods.verify.graph_cut import GraphCut

HALF = {"bf16-mixed": torch.bfloat16, "16-mixed": torch.float16}
WHOLE = {"bf16-true": torch.bfloat16, "16-true": torch.float16, "64-true": torch.float64}
SCALE = 1024.0
"""Of a gradient scaler at its start: as `observe.cpu_scaler` has it."""
PASSES = 4
"""Of a training run, unless the first draws no random number."""
UNSUPPORTED = (
    "not implemented for 'Half'",
    "not implemented for 'BFloat16'",
    '"bernoulli_scalar_cpu_" not implemented',
)
UNSUPPORTED_HALF = ("could not create a primitive descriptor",)
"""What the CPU's library says of float16; of other types it says so of a mistake."""


def seed(number: int) -> None:
    """Make what follows repeatable: torch, Python's random numbers, and numpy's where it is loaded."""
    observe.settle(seed=number)
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number)


def _random_state() -> str:
    numpy = sys.modules["numpy"].random.get_state() if "numpy" in sys.modules else None
    return repr((torch.get_rng_state().tolist(), random.getstate(), numpy and (numpy[1].tolist(), *numpy[2:])))


def perform(made: Case, run: FlowRun, place: Callable[[str], str | None]) -> BaseException | None:
    """Do the run and write what is seen into it; the exception, if the code raised one."""
    watch = Watch(made.module, run, place)
    watch.unsound = unsound_start(made)
    with warnings.catch_warnings(record=True) as caught, watch.watching():
        warnings.simplefilter("always")
        try:
            if made.lightning and made.loss is None:
                _fit(made, run, watch) if run.mode == "train" else _validate(made, run)
            else:
                _train(made, run, watch) if run.mode == "train" else _evaluate(made, run)
        except Misuse:
            raise
        except BaseException as error:
            half = run.precision.startswith("16-") and run.device == "cpu"
            lacking = (*UNSUPPORTED, *(UNSUPPORTED_HALF if half else ()))
            run.status = "unsupported" if any(text in str(error) for text in lacking) else "error"
            run.error = f"{type(error).__name__}: {error}"
            run.error_layer = watch.raiser(error)
            return error
        finally:
            run.warnings = list(dict.fromkeys(f"{item.category.__name__}: {item.message}" for item in caught))
            watch.end_pass()
    # Values that are not finite are no harm in themselves: masks hold them, and what is masked out may.
    loss = run.loss is not None and not math.isfinite(run.loss)
    if loss:
        run.bad_gradients, run.non_finite = [], ""  # they follow from it
    if not run.non_finite and (loss or run.bad_gradients):
        run.non_finite = watch.unsound or (watch.infinite if loss else "") or ("the loss" if loss else "the gradients")
    return None


def repeat(made: Case, run: FlowRun, place: Callable[[str], str | None]) -> None:
    """Do a training run again to learn where the graph of its loss ends, and which line's backward failed, or gave the
    first gradient that is nan or inf.

    Every function of torch goes through a mode then, which switches fused paths off: nothing else is taken from it.
    """
    if "torch._dynamo" in sys.modules:
        torch._dynamo.config.disable = True  # what is compiled runs eagerly
    watch = Watch(made.module, FlowRun(run.device, run.precision), place)
    twins = _twins(made.module)
    cut = GraphCut(made.module, made.batch, place, watch.layer)
    with (
        warnings.catch_warnings(record=True) as caught,
        watch.watching(),
        torch.autograd.set_detect_anomaly(True, False),
    ):
        warnings.simplefilter("always")
        try:
            with cut.watching():
                if made.lightning and made.loss is None:
                    _fit(made, run, watch, cut)
                else:
                    _train(made, run, watch, cut)
        except Exception as error:
            if shape := re.search(r"modified by an inplace operation: \[\S+ \[([\d, ]*)\]\]", str(error)):
                sizes = tuple(int(size) for size in shape[1].split(",") if size)
                run.changed_places = list(cut.changed.get(sizes, ()))
            for item in caught:
                if told := str(item.message).partition("Error detected in ")[2]:
                    run.backward = told.partition(".")[0]
                    run.forward_place = _innermost(told, place)
    if cut.bad_backward is not None:
        run.backward = cut.bad_backward.name()
        run.forward_place = _innermost("".join(cut.bad_backward.metadata.get("traceback_", ())), place)
    run.ends, run.unread = cut.ends(), cut.unread()
    run.copies = dict(_copies(made.module, run, twins))


def _innermost(trace: str, place: Callable[[str], str | None]) -> str:
    """The innermost line of the project in a traceback."""
    files = re.findall(r'File "(.+)", line (\d+)', trace)
    lines = [f"{inside}:{line}" for file, line in files if (inside := place(file)) is not None]
    return lines[-1] if lines else ""


def _twins(module: torch.nn.Module) -> dict[str, str]:
    """What each layer holds, for layers whose parameters were drawn at random: equal for a layer and its copy."""
    found = {}
    for name, layer in module.named_modules():
        own = [(key, p.detach()) for key, p in layer.named_parameters() if not lazy(p) and p.numel()]
        if any(bool((value != value.flatten()[0]).any()) for _, value in own):
            values = [(key, tuple(value.shape), float(value.double().sum())) for key, value in own]
            found[name] = repr((type(layer).__name__, values))
    return found


def _copies(module: torch.nn.Module, run: FlowRun, twins: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Layers that no gradient reached, each with the trained layer that it was a copy of."""
    reached = {name for name, norm in run.gradients.items() if norm is not None}
    for name in twins:
        if name and not any(parameter.startswith(f"{name}.") for parameter in reached):
            for other in twins:
                if twins[other] == twins[name] and any(parameter.startswith(f"{other}.") for parameter in reached):
                    yield name, other
                    break


def _train(made: Case, run: FlowRun, watch: Watch, cut: GraphCut | None = None) -> None:
    module = made.module.train()
    batch = _ready(made, run)
    scale = SCALE if run.precision == "16-mixed" else 1.0
    for number in range(PASSES):
        seed(number)
        drawn = _random_state()
        module.zero_grad(set_to_none=True)
        with _autocast(run):
            loss = loss_of(made, batch, run)
        if number == 0:
            run.loss = float(loss.detach())
        scale = _backward(module, loss, scale, run)
        run.scale, run.passes = scale, number + 1
        _collect(module, run, scale)
        watch.end_pass()
        if cut is not None:
            cut.end_pass()
        if drawn == _random_state():
            break  # nothing was drawn: another pass would be the same


def _evaluate(made: Case, run: FlowRun) -> None:
    made.module.eval()
    batch = _ready(made, run)
    with torch.no_grad(), _autocast(run):
        loss = loss_of(made, batch, run)
    run.loss = float(loss)


def _fit(made: Case, run: FlowRun, watch: Watch, cut: GraphCut | None = None) -> None:
    module = made.module
    run.scale, run.passes = SCALE if run.precision == "16-mixed" else 1.0, PASSES
    stepped: dict[str, float] = {}
    names = {id(parameter): name for name, parameter in module.named_parameters() if parameter.requires_grad}

    def after(optimizer: Any, *_: Any) -> None:
        """Gradients as the optimizer used them, which is after the scaler divided them."""
        watch.end_pass()
        if cut is not None:
            cut.end_pass()
        for parameter in (p for group in optimizer.param_groups for p in group["params"] if id(p) in names):
            name = names[id(parameter)]
            if parameter.grad is None:
                run.missed[name] = run.missed.get(name, 0) + 1
            else:
                norm = float(parameter.grad.detach().double().norm())
                stepped.setdefault(name, norm)
                if not math.isfinite(norm) and name not in run.bad_gradients:
                    run.bad_gradients.append(name)
        if run.bad_gradients and not run.non_finite:
            run.non_finite = watch.unsound or "the gradients"  # what comes later follows from it

    handle = register_optimizer_step_post_hook(after)
    try:
        seen = observe.fit(module, [made.batch] * PASSES, precision=run.precision, detect_anomaly=cut is not None)
    finally:
        handle.remove()
    run.loss = seen.losses[0] if seen.losses else None
    run.gradients = {n: None if norm is None else norm / run.scale for n, norm in seen.gradients.items()}
    run.gradients.update(stepped)
    if run.scale > 1 and not stepped:
        run.notes.append(f"the scaler skipped the step: gradients overflowed at a scale of {SCALE:g}")


def _validate(made: Case, run: FlowRun) -> None:
    step = type(made.module).validation_step
    if step.__module__.partition(".")[0] in ("lightning", "pytorch_lightning"):
        run.status, run.error = "absent", "the module has no validation_step"
        return
    run.loss = observe.evaluate(made.module, [made.batch], precision=run.precision)


def _backward(module: torch.nn.Module, loss: torch.Tensor, scale: float, run: FlowRun) -> float:
    """Differentiate, with a smaller scale where gradients overflow, as a scaler would; the scale that went."""
    found: list[str] = []

    def arrival(name: str) -> Any:
        return lambda gradient: None if finite([gradient]) else found.append(name)

    trained = {name: p for name, p in module.named_parameters() if p.requires_grad and not lazy(p)}
    with ExitStack() as stack:
        for name, parameter in trained.items():
            stack.callback(parameter.register_hook(arrival(name)).remove)
        while True:
            found.clear()
            (loss * scale if scale > 1 else loss).backward(retain_graph=scale > 1)
            if not found or scale == 1 or not math.isfinite(float(loss.detach())):
                break
            scale = max(1.0, scale / 16)
            module.zero_grad(set_to_none=True)
    run.bad_gradients = list(dict.fromkeys((*run.bad_gradients, *(name for name in trained if name in found))))
    return scale


def _collect(module: torch.nn.Module, run: FlowRun, scale: float) -> None:
    for name, parameter in module.named_parameters():
        if parameter.requires_grad:
            if parameter.grad is None:
                run.missed[name] = run.missed.get(name, 0) + 1
                run.gradients.setdefault(name, None)
            elif not run.gradients.get(name):  # what is zero in one pass may not be in the next
                run.gradients[name] = float(parameter.grad.detach().double().norm()) / scale


def _ready(made: Case, run: FlowRun) -> Any:
    """The batch where, and as, the run needs it; the module is moved too."""
    kind = WHOLE.get(run.precision)
    made.module.to(run.device)
    if kind is not None:
        made.module.to(kind)
    return moved(made.batch, run.device, kind)


def _autocast(run: FlowRun) -> Any:
    if (kind := HALF.get(run.precision)) is None:
        return ExitStack()
    return torch.autocast(run.device, dtype=kind)
