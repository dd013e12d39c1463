"""What watching one module shows, layer by layer: the plain data that crosses from the child to the parent.

Standard library only. A *side* is the module's code before or after the fixes; it is run in *train* and *eval* under
several precisions, each run in a process of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["ok", "error", "unsupported", "absent", "trouble"]
"""It ran · the code raised · torch lacks it on this device · there is nothing to run · the process itself failed."""


@dataclass(slots=True)
class Layer:
    """A module of the tree, and the parameters that are its own (not its children's), by full name."""

    name: str
    """Dotted; the root is the empty string."""
    kind: str
    """The name of its class."""
    trainable: list[str] = field(default_factory=list)
    frozen: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Survey:
    """What the factory gave."""

    module: str = ""
    """The name of its class."""
    lightning: bool = False
    layers: list[Layer] = field(default_factory=list)
    """In the order of `named_modules()`."""
    elements: int = 0
    """Numbers in all parameters together."""
    devices: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Seen:
    """What was seen of one layer in one run."""

    calls: int = 0
    calls_without_grad: int = 0
    """Calls that began with gradients off."""
    inputs: list[str] = field(default_factory=list)
    """Types of the floating-point inputs, such as `bfloat16`."""
    outputs: list[str] = field(default_factory=list)
    requires_grad: bool | None = None
    """Of the outputs of the last call; None where it returned no floating-point tensor."""
    finite: bool = True


@dataclass(slots=True)
class Cut:
    """A layer returned an output without `requires_grad` though its inputs or parameters have it."""

    layer: str
    how: Literal["inside", "called-without-grad", "cached-without-grad"]
    place: str = ""
    """`net.py:12`: the line that called it, or where its `forward` begins."""


@dataclass(slots=True)
class GraphEnd:
    """The call behind which a loss has no graph, though it is computed from parameters that come before."""

    call: str
    """As a program writes it: `.detach()`, `torch.no_grad()`."""
    place: str
    """`net.py:12`: the innermost line of the project."""
    layer: str = ""
    """The layer in which it was called."""
    within: str = ""
    """The line of a library that the line of the project led to, where the call is."""
    parameters: list[str] = field(default_factory=list)
    """Those that reach the loss only through it."""
    certain: bool = True
    """False where a tensor was made of numbers, and the numbers may have come from this call."""


@dataclass(slots=True)
class Stranger:
    """Modules with trainable parameters that are called and are no part of the tree, or parameters without a module."""

    kind: str
    parameters: int
    """Of all of them."""
    place: str = ""
    modules: int = 1
    holder: str = ""
    """The attribute of a registered module that holds them: `Net.steps`."""
    container: str = ""
    """The class of its value: `list`."""


@dataclass(slots=True)
class FlowRun:
    """One pass in one mode and precision."""

    device: str = "cpu"
    precision: str = "32-true"
    mode: Literal["train", "eval"] = "train"
    status: Status = "ok"
    error: str = ""
    """The exception as `Type: text`, or why there is no run."""
    error_layer: str | None = None
    """The innermost layer that raised it."""
    place: str = ""
    """The innermost line of the project that raised it."""
    lines: list[str] = field(default_factory=list)
    """The lines of the project that lead there, outermost first."""
    warnings: list[str] = field(default_factory=list)
    loss: float | None = None
    """Of the first pass."""
    scale: float = 1.0
    """Of the gradient scaler."""
    gradients: dict[str, float | None] = field(default_factory=dict)
    """Trainable parameter → norm of its gradient without the scale, None if none arrived. Empty if nothing was
    differentiated."""
    missed: dict[str, int] = field(default_factory=dict)
    """Trainable parameter → passes in which no gradient arrived, where there are any."""
    passes: int = 1
    """Of training: a code path that is taken at random may not be in the first."""
    layers: dict[str, Seen] = field(default_factory=dict)
    """In the order in which they first returned."""
    cuts: list[Cut] = field(default_factory=list)
    ends: list[GraphEnd] = field(default_factory=list)
    """Known, as the next five, where the run was repeated because a gradient is missing, nan or inf, or the backward
    failed."""
    unread: list[str] = field(default_factory=list)
    """Parameters of which nothing went into the loss."""
    copies: dict[str, str] = field(default_factory=dict)
    """Layer → the layer that it began as a copy of, and which is trained."""
    backward: str = ""
    """The function of autograd that raised the error, or gave the first nan or inf: `SqrtBackward0`."""
    forward_place: str = ""
    """The line whose backward that is."""
    changed_places: list[str] = field(default_factory=list)
    """The lines that change tensors in place that have the shape of the one that the error speaks of."""
    non_finite: str = ""
    """Where nan or inf first appears, in words."""
    bad_gradients: list[str] = field(default_factory=list)
    """Parameters whose gradients are nan or inf though the loss is finite."""
    strangers: list[Stranger] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """`train, bf16-mixed`; with the device where it is not the CPU."""
        return f"{self.mode}, {self.precision}" + ("" if self.device == "cpu" else f" on {self.device}")

    @property
    def unexplained(self) -> bool:
        """Whether it is worth repeating to learn why gradients are missing, nan or inf, or what failed."""
        if self.mode != "train":
            return False
        if self.status == "error":
            return self.error.startswith("RuntimeError")
        lacking = bool(self.missed) or None in self.gradients.values()
        return self.status == "ok" and (lacking or bool(self.bad_gradients))

    def gradient(self, layer: Layer) -> float | None:
        """The norm of the gradients of a layer's own parameters; None if none of them got one."""
        norms = [norm for name in layer.trainable if (norm := self.gradients.get(name)) is not None]
        return math.hypot(*norms) if norms else None


@dataclass(slots=True)
class FlowSide:
    """All runs of one side."""

    trouble: str = ""
    """Why nothing could be run, as a sentence."""
    trace: str = ""
    """The end of what was printed or raised then."""
    survey: Survey = field(default_factory=Survey)
    runs: list[FlowRun] = field(default_factory=list)
    versions: Mapping[str, str] = field(default_factory=dict)
    loaded: list[str] = field(default_factory=list)
    """Files of the project that were imported, relative to its root."""
    strays: list[str] = field(default_factory=list)
    """Modules that came from the project itself instead of its copy."""

    def run(self, like: FlowRun) -> FlowRun | None:
        """The run of this side in the same mode, precision and device."""
        for run in self.runs:
            if (run.mode, run.precision, run.device) == (like.mode, like.precision, like.device):
                return run
        return None


def run_of(plain: Mapping[str, Any]) -> FlowRun:
    """A run from plain JSON values."""
    return FlowRun(
        **{
            **plain,
            "layers": {name: Seen(**seen) for name, seen in plain.get("layers", {}).items()},
            "cuts": [Cut(**cut) for cut in plain.get("cuts", ())],
            "ends": [GraphEnd(**end) for end in plain.get("ends", ())],
            "strangers": [Stranger(**stranger) for stranger in plain.get("strangers", ())],
        }
    )


def survey_of(plain: Mapping[str, Any]) -> Survey:
    """A survey from plain JSON values."""
    return Survey(**{**plain, "layers": [Layer(**layer) for layer in plain.get("layers", ())]})
