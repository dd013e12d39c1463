"""One run of what a factory makes: train or eval, in one precision. Loaded in the child process only; needs torch."""

from __future__ import annotations

import inspect
import math
import random
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from codemods.verify import observe
from codemods.verify.flow import Layer, Run, Survey
from codemods.verify.flow_watch import Watch, finite, floating, tensors

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


class Misuse(Exception):
    """The factory, or its loss, does not give what is needed; the text says what to write."""


@dataclass(frozen=True, slots=True)
class Case:
    """What the factory gave."""

    module: torch.nn.Module
    batch: Any
    loss: Callable[[Any, Any], Any] | None = None

    @property
    def lightning(self) -> bool:
        """Whether the module brings its own training step."""
        return any(base.__name__ == "LightningModule" for base in type(self.module).__mro__)


def case(made: Any, name: str) -> Case:
    """What the factory `name` returned, checked.

    Raises:
        Misuse: if that is not a module and a batch.
    """
    wanted = f"{name}() must return a module and one batch: `return model, batch`"
    if not isinstance(made, tuple) or len(made) not in (2, 3):
        raise Misuse(f"{wanted}; it returned {_called(made)}")
    module, batch, *rest = made
    if not isinstance(module, torch.nn.Module):
        raise Misuse(f"{wanted}; the first is {_called(module)}, no torch.nn.Module")
    if rest and not callable(rest[0]):
        raise Misuse(
            f"{name}() may return a loss as the third, called as `loss(model, batch)`; it is {_called(rest[0])}"
        )
    if next(tensors(batch), None) is None:
        raise Misuse(f"{wanted}; there is no tensor in the batch, {_called(batch)}")
    return Case(module, batch, rest[0] if rest else None)


def _called(value: Any) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {len(value)} ({', '.join(type(item).__name__ for item in value)})"
    return "None" if value is None else f"{type(value).__name__}"


def survey(made: Case) -> Survey:
    """The layers of the module, and the devices at hand."""
    layers = []
    claimed: set[int] = set()
    for name, module in made.module.named_modules():
        layer = Layer(name, type(module).__name__)
        for own, parameter in module.named_parameters(name, recurse=False):
            if id(parameter) not in claimed:
                claimed.add(id(parameter))
                (layer.trainable if parameter.requires_grad else layer.frozen).append(own)
        layers.append(layer)
    return Survey(
        module=type(made.module).__name__,
        lightning=made.lightning,
        layers=layers,
        elements=sum(0 if _lazy(parameter) else parameter.numel() for parameter in made.module.parameters()),
        devices=["cpu"] + (["cuda"] if torch.cuda.is_available() else []),
    )


def _lazy(parameter: Any) -> bool:
    return isinstance(parameter, torch.nn.parameter.UninitializedTensorMixin)


def perform(made: Case, run: Run, place: Callable[[str], str | None]) -> BaseException | None:
    """Do the run and write what is seen into it; the exception, if the code raised one."""
    if bad := _non_finite_start(made):
        run.non_finite = bad
    watch = Watch(made.module, run, place)
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
            run.status = "unsupported" if any(text in str(error) for text in UNSUPPORTED) else "error"
            run.error = f"{type(error).__name__}: {error}"
            run.error_layer = watch.raiser(error)
            return error
        finally:
            run.warnings = list(dict.fromkeys(f"{item.category.__name__}: {item.message}" for item in caught))
            watch.end_pass()
    if run.loss is not None and not math.isfinite(run.loss) and not run.non_finite:
        run.non_finite = "the loss"
    return None


def _non_finite_start(made: Case) -> str:
    for name, parameter in made.module.named_parameters():
        if not _lazy(parameter) and not finite([parameter]):
            return f"the parameter {name}, as it was made"
    return "" if finite(floating(made.batch)) else "the batch"


def _train(made: Case, run: Run, watch: Watch) -> None:
    module = made.module.train()
    batch = _ready(made, run)
    scale = SCALE if run.precision == "16-mixed" else 1.0
    for number in range(PASSES):
        observe.settle(seed=number)
        random.seed(number)
        drawn = torch.get_rng_state(), random.getstate()
        module.zero_grad(set_to_none=True)
        with _autocast(run):
            loss = _loss(made, batch, run)
        if number == 0:
            run.loss = float(loss.detach())
        scale = _backward(module, loss, scale, run)
        run.scale, run.passes = scale, number + 1
        _collect(module, run, scale)
        watch.end_pass()
        if torch.equal(drawn[0], torch.get_rng_state()) and drawn[1] == random.getstate():
            break  # nothing was drawn: another pass would be the same


def _evaluate(made: Case, run: Run) -> None:
    made.module.eval()
    batch = _ready(made, run)
    with torch.no_grad(), _autocast(run):
        loss = _loss(made, batch, run)
    run.loss = float(loss)


def _fit(made: Case, run: Run, watch: Watch) -> None:
    module = made.module
    run.scale, run.passes = SCALE if run.precision == "16-mixed" else 1.0, PASSES
    stepped: dict[str, float] = {}
    names = {id(parameter): name for name, parameter in module.named_parameters() if parameter.requires_grad}

    def after(optimizer: Any, *_: Any) -> None:
        """Gradients as the optimizer used them, which is after the scaler divided them."""
        watch.end_pass()
        for parameter in (p for group in optimizer.param_groups for p in group["params"] if id(p) in names):
            name = names[id(parameter)]
            if parameter.grad is None:
                run.missed[name] = run.missed.get(name, 0) + 1
            else:
                stepped.setdefault(name, float(parameter.grad.detach().double().norm()))

    handle = register_optimizer_step_post_hook(after)
    try:
        seen = observe.fit(module, [made.batch] * PASSES, precision=run.precision)
    finally:
        handle.remove()
    run.loss = seen.losses[0] if seen.losses else None
    run.gradients = {n: None if norm is None else norm / run.scale for n, norm in seen.gradients.items()}
    run.gradients.update(stepped)
    if run.scale > 1 and not stepped:
        run.notes.append(f"the scaler skipped the step: gradients overflowed at a scale of {SCALE:g}")


def _validate(made: Case, run: Run) -> None:
    step = type(made.module).validation_step
    if step.__module__.partition(".")[0] in ("lightning", "pytorch_lightning"):
        run.status, run.error = "absent", "the module has no validation_step"
        return
    run.loss = observe.evaluate(made.module, [made.batch], precision=run.precision)


def _backward(module: torch.nn.Module, loss: torch.Tensor, scale: float, run: Run) -> float:
    """Differentiate, with a smaller scale where gradients overflow, as a scaler would; the scale that went."""
    found: list[str] = []

    def arrival(name: str) -> Any:
        return lambda gradient: None if found or finite([gradient]) else found.append(name)

    trained = {name: p for name, p in module.named_parameters() if p.requires_grad and not _lazy(p)}
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
    if found and not run.non_finite:
        run.non_finite = f"the gradient of {found[0]}"
    return scale


def _collect(module: torch.nn.Module, run: Run, scale: float) -> None:
    for name, parameter in module.named_parameters():
        if parameter.requires_grad:
            if parameter.grad is None:
                run.missed[name] = run.missed.get(name, 0) + 1
                run.gradients.setdefault(name, None)
            elif run.gradients.get(name) is None:
                run.gradients[name] = float(parameter.grad.detach().double().norm()) / scale


def _ready(made: Case, run: Run) -> Any:
    """The batch where, and as, the run needs it; the module is moved too."""
    kind = WHOLE.get(run.precision)
    made.module.to(run.device)
    if kind is not None:
        made.module.to(kind)
    return _moved(made.batch, run.device, kind)


def _moved(value: Any, device: str, kind: torch.dtype | None) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device, kind if value.is_floating_point() else None)
    if isinstance(value, Mapping) and type(value) is dict:
        return {key: _moved(item, device, kind) for key, item in value.items()}
    if type(value) in (tuple, list):
        return type(value)(_moved(item, device, kind) for item in value)
    return value.to(device) if hasattr(value, "to") else value


def _autocast(run: Run) -> Any:
    if (kind := HALF.get(run.precision)) is None:
        return ExitStack()
    return torch.autocast(run.device, dtype=kind)


def _loss(made: Case, batch: Any, run: Run) -> torch.Tensor:
    """The loss that the case names, the one that the output holds, or one that depends on every output."""
    if made.loss is not None:
        given = made.loss(made.module, batch)
        if (loss := _scalar(given)) is None:
            raise Misuse(f"the loss that the factory returned must give one number, a tensor; it gave {_called(given)}")
        return loss
    output = _called_with(made.module, batch, run)
    if (loss := _scalar(output)) is not None:
        return loss
    if not (found := floating(output)):
        raise Misuse(
            f"the output of the module, {_called(output)}, holds no floating-point tensor; "
            "return a loss as the third: `return model, batch, lambda model, batch: …`"
        )
    run.notes.append("the loss is a fixed random projection of the outputs")
    generator = torch.Generator().manual_seed(0)
    terms = []
    for tensor in found:
        weights = torch.randn(tensor.shape, generator=generator).to(tensor.device)
        terms.append((tensor.float() * weights).sum() / max(1, tensor.numel()) ** 0.5)
    return torch.stack(terms).sum()


def _scalar(value: Any) -> torch.Tensor | None:
    if isinstance(value, Mapping):
        value = value.get("loss")
    elif not isinstance(value, torch.Tensor):
        value = getattr(value, "loss", None)
    if isinstance(value, torch.Tensor) and value.numel() == 1 and value.is_floating_point():
        return value.reshape(())
    return None


def _called_with(module: torch.nn.Module, batch: Any, run: Run) -> Any:
    """The module on the batch: a mapping by keyword, a tuple or list in order, anything else as it is.

    A pair of inputs and targets goes in without the targets, where `forward` does not take them.
    """
    if isinstance(batch, Mapping):
        return module(**batch)
    if type(batch) not in (tuple, list):
        return module(batch)
    try:
        inspect.signature(module.forward).bind(*batch)
    except TypeError:
        run.notes.append("only the first element of the batch goes into forward(), which takes no more")
        return module(batch[0])
    except ValueError:
        pass
    return module(*batch)
