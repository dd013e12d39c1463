"""Watching a model train: what a proof file imports. Loaded in the child process only; needs torch."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from codemods.verify.observation import Observation

__all__ = ["Observation", "batches", "cpu_scaler", "evaluate", "fit", "observe", "settle", "watch"]


def settle(seed: int = 0) -> None:
    """Make what follows repeatable: fixed seed, one thread."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)


def batches(steps: int = 4, size: int = 4, features: int = 8, targets: int = 1) -> list[tuple[Any, Any]]:
    """Random inputs and targets of a regression, the same on every call."""
    generator = torch.Generator().manual_seed(1)

    def draw(width: int) -> Any:
        return torch.randn(size, width, generator=generator)

    return [(draw(features), draw(targets)) for _ in range(steps)]


def cpu_scaler(init_scale: float = 1024.0) -> Any:
    """A gradient scaler that works on the CPU and does not overflow on toy models."""
    return torch.amp.GradScaler("cpu", init_scale=init_scale)


@contextmanager
def watch(*modules: Any, ignore: Sequence[str] = ()) -> Iterator[Observation]:
    """Watch the trainable parameters of `modules`: which gradients reach them, and where training moves them.

    Gradients are seen as they arrive (under a scaler: scaled), so a later `zero_grad()` hides nothing.

    Args:
        ignore: parts of names of parameters that rightly get no gradient, such as an unused pooler.
    """
    seen = Observation()
    parameters = dict(_trainable(modules, ignore))
    before = {name: parameter.detach().clone() for name, parameter in parameters.items()}
    seen.gradients = dict.fromkeys(parameters)

    def arrival(name: str) -> Any:
        def arrived(gradient: Any) -> None:
            seen.gradients[name] = float(gradient.detach().double().norm())

        return arrived

    handles = [parameter.register_hook(arrival(name)) for name, parameter in parameters.items()]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()
        for name, parameter in parameters.items():
            seen.moved[name] = float((parameter.detach().double() - before[name].double()).norm())
            seen.weights[name] = fingerprint(parameter)


def observe(*modules: Any, ignore: Sequence[str] = (), numbers: Mapping[str, float] | None = None) -> Observation:
    """What can be seen of `modules` after the fact: the gradients that are there, and the weights.

    For code that builds its model itself; `watch` sees more.
    """
    parameters = dict(_trainable(modules, ignore))
    return Observation(
        gradients={n: None if p.grad is None else float(p.grad.double().norm()) for n, p in parameters.items()},
        weights={name: fingerprint(parameter) for name, parameter in parameters.items()},
        numbers=dict(numbers or {}),
    )


def fit(
    module: Any,
    data: Iterable[Any],
    *,
    precision: str = "32-true",
    ignore: Sequence[str] = (),
    callbacks: Sequence[Any] = (),
    **trainer: Any,
) -> Observation:
    """Train a LightningModule on the CPU for one pass over `data` (batches as they are) and watch it.

    `precision="16-mixed"` is the real thing, float16 with a gradient scaler, which the Trainer itself would quietly
    turn into bfloat16 on a CPU. Losses: what `training_step` returns, else what it logs under a name with "loss".
    """
    losses: list[float] = []

    def record(trainer: Any, _module: Any, outputs: Any, *_: Any) -> None:
        shown = outputs if isinstance(outputs, Mapping) and "loss" in outputs else trainer.callback_metrics
        losses.extend(float(value) for name, value in shown.items() if "loss" in name)

    callback = type("Losses", (_lightning(module).Callback,), {"on_train_batch_end": lambda self, *args: record(*args)})
    with watch(module, ignore=ignore) as seen:
        _trainer(module, precision, callbacks=[callback(), *callbacks], **trainer).fit(module, _loader(data))
    seen.losses = losses
    return seen


def evaluate(module: Any, data: Iterable[Any], *, precision: str = "32-true", **trainer: Any) -> float | None:
    """Validate a LightningModule on the CPU, as `fit` trains it; the last loss that it logs."""
    _trainer(module, precision, **trainer).validate(module, _loader(data), verbose=False)
    losses = [float(value) for name, value in module.trainer.callback_metrics.items() if "loss" in name]
    return losses[-1] if losses else None


def _lightning(module: Any) -> Any:
    roots = {base.__module__.partition(".")[0] for base in type(module).__mro__}
    return importlib.import_module("lightning.pytorch" if "lightning" in roots else "pytorch_lightning")


def _trainer(module: Any, precision: str, **options: Any) -> Any:
    """A quiet Trainer of the module's own Lightning, on the CPU, for one pass."""
    lightning = _lightning(module)
    if precision == "16-mixed":
        plugins = importlib.import_module(f"{lightning.__name__}.plugins")
        options["plugins"] = [plugins.MixedPrecision("16-mixed", "cpu", scaler=cpu_scaler())]
    else:
        options["precision"] = precision
    quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
    return lightning.Trainer(**({"accelerator": "cpu", "devices": 1, "max_epochs": 1} | quiet | options))


def _loader(data: Iterable[Any]) -> Any:
    # A bare list would be taken for several loaders.
    return torch.utils.data.DataLoader(list(data), batch_size=None, collate_fn=lambda batch: batch)


def fingerprint(tensor: Any) -> float:
    """A number that changes with any element of `tensor`, and little where they change little."""
    flat = tensor.detach().double().flatten()
    return float(flat @ torch.cos(torch.arange(len(flat), dtype=torch.float64)))


def _trainable(modules: Sequence[Any], ignore: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for index, module in enumerate(modules):
        prefix = f"{index}." if len(modules) > 1 else ""
        for name, parameter in module.named_parameters():
            if parameter.requires_grad and not any(part in name for part in ignore):
                yield prefix + name, parameter
