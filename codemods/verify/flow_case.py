"""What a person's factory gives: a module, a batch, perhaps a loss. Loaded in the child process only; needs torch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from codemods.verify.flow import FlowRun, Layer, Survey
from codemods.verify.flow_watch import floating, sound, tensors


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
        elements=sum(0 if lazy(parameter) else parameter.numel() for parameter in made.module.parameters()),
        devices=["cpu"] + (["cuda"] if torch.cuda.is_available() else []),
    )


def lazy(parameter: Any) -> bool:
    return isinstance(parameter, torch.nn.parameter.UninitializedTensorMixin)


def unsound_start(made: Case) -> str:
    """What holds nan or inf before anything is run."""
    for name, parameter in made.module.named_parameters():
        if not lazy(parameter) and not sound([parameter]):
            return f"the parameter {name}, as it was made"
    return "" if sound(floating(made.batch)) else "the batch"


def moved(value: Any, device: str, kind: torch.dtype | None) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device, kind if value.is_floating_point() else None)
    if isinstance(value, Mapping) and type(value) is dict:
        return {key: moved(item, device, kind) for key, item in value.items()}
    if type(value) in (tuple, list):
        return type(value)(moved(item, device, kind) for item in value)
    return value.to(device) if hasattr(value, "to") else value


def loss_of(made: Case, batch: Any, run: FlowRun) -> torch.Tensor:
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


def _called_with(module: torch.nn.Module, batch: Any, run: FlowRun) -> Any:
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
