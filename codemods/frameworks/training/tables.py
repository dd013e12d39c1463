"""What calls do to an optimizer, a model and a scheduler, and the protocols of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codemods.flow.protocols import Protocol
from codemods.frameworks.training import protocols

# -- events

BACKWARD, STEP, ZERO, CLIP = "backward", "step", "zero", "clip"
"""Gradients are added, used by the optimizer, thrown away, and clipped."""
TRAIN, EVAL = "train", "eval"
"""The model is put into training mode, and into evaluation mode."""
MADE, ADVANCE = "made", "advance"
"""The scheduler is made, and stepped."""
MAY_BACKWARD, MAY_STEP, MAY_ZERO, MAY_SWITCH, MAY_ADVANCE = "backward?", "step?", "zero?", "mode?", "advance?"
"""The same of an object that may be this one."""
BOUND = {role: f"{role} bound" for role in ("optimizer", "model", "scheduler", "scaler")}
"""The name of an object gets another one."""
LEAVES = "leaves"
"""Nothing that a protocol speaks of."""

# -- protocols


def _protocol(table: dict[str, Any]) -> Protocol:
    moves = {(state, event): after for state, event, after in table["moves"]}
    violations = {(state, event): name for state, event, name in table["violations"]}
    return Protocol(table["start"], moves, violations, frozenset(table["keeps"]))


GRADIENTS = _protocol(protocols.GRADIENTS)
MODE = _protocol(protocols.MODE)
SCHEDULE = _protocol(protocols.SCHEDULE)
SCALING = _protocol(protocols.SCALING)
UNSCALED = _protocol(protocols.UNSCALED)

# -- tables

OPTIMIZER = {
    "step": STEP,
    "zero_grad": ZERO,
    **dict.fromkeys(("state_dict", "load_state_dict", "add_param_group"), LEAVES),
}
MODEL = {
    "zero_grad": ZERO,
    "train": TRAIN,
    "eval": EVAL,
    **dict.fromkeys(
        (
            *("parameters", "named_parameters", "modules", "named_modules", "children", "named_children", "buffers"),
            *("state_dict", "load_state_dict", "to", "cuda", "cpu", "half", "float", "requires_grad_", "forward"),
            *("no_sync", "share_memory", "compile", "get_parameter", "get_submodule", "save_pretrained"),
        ),
        LEAVES,
    ),
}
SCHEDULER = {"step": ADVANCE, **dict.fromkeys(("state_dict", "load_state_dict", "get_last_lr", "get_lr"), LEAVES)}
MAY: Mapping[str, str] = {"zero_grad": MAY_ZERO, "train": MAY_SWITCH, "eval": MAY_SWITCH}
HARMLESS = (
    *("torch", "torchvision", "torchaudio", "numpy", "tqdm", "logging", "wandb", "time", "os", "sys", "math", "random"),
    *("json", "copy", "matplotlib", "sklearn", "torchmetrics", "tensorboardX", "pathlib", "collections", "itertools"),
    *("transformers", "timm", "einops", "contextlib", "functools", "argparse", "pandas", "scipy", "datasets", "typing"),
)
"""Libraries that neither step an optimizer which they are given, nor zero its gradients, nor switch a model's mode."""
BEGINNING = frozenset(
    {"StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "PolynomialLR"}
    | {"ConstantLR", "LinearLR", "OneCycleLR", "CyclicLR", "ReduceLROnPlateau"}
)
"""Schedules of torch whose first rate is one to train with."""
MODAL = (
    *(
        b"ropout",
        b"DropPath",
        b"drop_path",
        b"BatchNorm",
        b"batch_norm",
        b"InstanceNorm",
        b"SpectralNorm",
        b"spectral_norm",
    ),
    *(b"RReLU", b"TransformerEncoder", b"TransformerDecoder", b"MultiheadAttention", b"self.training", b"torchvision"),
    *(b"from_pretrained", b"timm", b"segmentation_models", b"monai"),
)
"""Texts of code whose layers do otherwise in training mode."""
TAKING = frozenset({"unscale_", "scale", "update", "prepare", "item", "append"})
"""Methods that are given an optimizer or a model, and leave it as it is."""
