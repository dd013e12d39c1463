"""What calls do to an optimizer, a model and a scheduler, and the protocols of these: data only."""

from __future__ import annotations

from collections.abc import Mapping

from codemods.flow.protocols import ANY, UNKNOWN, Protocol

# -- events

BACKWARD, STEP, ZERO, CLIP = "backward", "step", "zero", "clip"
"""Gradients are added, used by the optimizer, thrown away, and clipped."""
TRAIN, EVAL = "train", "eval"
"""The model is put into training mode, and into evaluation mode."""
MADE, ADVANCE = "made", "advance"
"""The scheduler is made, and stepped."""
MAY_BACKWARD, MAY_STEP, MAY_ZERO, MAY_SWITCH, MAY_ADVANCE = "backward?", "step?", "zero?", "mode?", "advance?"
"""The same of an object that may be this one."""
LEAVES = "leaves"
"""Nothing that a protocol speaks of."""

# -- protocols

GRADIENTS = Protocol(
    UNKNOWN,
    {
        (ANY, ZERO): "clean",
        ("held", ZERO): "emptied",
        ("repeated", ZERO): "emptied",
        ("emptied", ZERO): "emptied",
        **{(state, BACKWARD): "held" for state in (UNKNOWN, "clean", "emptied")},
        (ANY, STEP): "used",
        ("used", CLIP): "late",
        ("used", BACKWARD): "repeated",
        ("late", BACKWARD): "repeated",
        (ANY, MAY_BACKWARD): UNKNOWN,
        (ANY, MAY_ZERO): UNKNOWN,
        (ANY, MAY_STEP): UNKNOWN,
    },
    {
        ("repeated", STEP): "repeated",
        ("held", ZERO): "dropped",
        ("emptied", STEP): "emptied",
        ("late", ZERO): "late",
        ("clean", CLIP): "early",
        **{(state, CLIP): "in time" for state in (UNKNOWN, "held", "repeated")},
    },
    keeps=frozenset({"repeated", "emptied", "late"}),
)
"""The gradients of an optimizer: none (clean), thrown away unused (emptied), those since the last step (held), those
of a step (used), clipped after it (late), or together with later ones (repeated)."""

MODE = Protocol(
    UNKNOWN,
    {
        (ANY, TRAIN): "training",
        ("training", STEP): "trained",
        ("training", EVAL): "evaluating",
        ("trained", EVAL): "left",
        (UNKNOWN, EVAL): "evaluating",
        (ANY, MAY_SWITCH): UNKNOWN,
    },
    {("left", STEP): "left in evaluation"},
)
"""The mode of a model: that of training, that of evaluation, or the latter after it was trained."""

SCHEDULE = Protocol(
    UNKNOWN,
    {
        (ANY, MADE): "new",
        ("new", ADVANCE): "early",
        (ANY, STEP): "stepped",
        ("stepped", ADVANCE): "advanced",
        (ANY, MAY_STEP): UNKNOWN,
        (ANY, MAY_ADVANCE): UNKNOWN,
    },
    {("new", ADVANCE): "early", ("advanced", ADVANCE): "outrun"},
)
"""A scheduler beside its optimizer: made, or advanced with and without a step in between."""

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
TAKING = frozenset({"unscale_", "scale", "update", "prepare", "item", "append"})
"""Methods that are given an optimizer or a model, and leave it as it is."""
