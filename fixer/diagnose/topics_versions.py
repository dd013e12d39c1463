"""Messages of names and arguments that a version of a library does not have any more, or not yet."""

from __future__ import annotations

from fixer.diagnose.topics import Cause, Topic

_GONE = "got an unexpected keyword argument '{}'"
_OWN = "This is about versions: running the program again tells no more. Change the call at the frame shown."


def _renamed(name: str, texts: tuple[str, ...], meaning: str, *causes: Cause, codes: tuple[str, ...] = ()) -> Topic:
    return Topic(name, texts, meaning, causes, codes, watch=False, step=_OWN)


TOPICS = (
    _renamed(
        "eval-strategy-too-new",
        (_GONE.format("{eval_strategy|processing_class|num_items_in_batch}"),),
        "The installed Transformers (or an override in your code) is older than this name.",
        Cause(
            "your `compute_loss` or `training_step` overrides a method that is now called with `num_items_in_batch`",
            "the message names your class",
            "take `num_items_in_batch=None` as the last parameter, and hand it on to the loss",
        ),
        Cause(
            "Transformers is older: `eval_strategy` exists since 4.41, `processing_class` since 4.46",
            "`pip show transformers`",
            "raise the version, or use `evaluation_strategy` and `tokenizer`",
        ),
    ),
    Topic(
        "several-optimizers",
        ("Training with multiple optimizers is only supported with manual optimization",),
        "Lightning 2 steps one optimizer by itself; with several your `training_step` has to.",
        (
            Cause(
                "`training_step(self, batch, batch_idx, optimizer_idx)` of Lightning 1",
                "",
                "`self.automatic_optimization = False`, then `self.optimizers()`, `self.manual_backward(loss)`, "
                "`step()` and `zero_grad()` for each",
            ),
        ),
        watch=False,
        step=_OWN,
    ),
    _renamed(
        "kbit-argument-moved",
        (
            "The `load_in_4bit` and `load_in_8bit` arguments are deprecated",
            _GONE.format("{load_in_4bit|load_in_8bit}"),
        ),
        "Quantization is asked for by `quantization_config` now.",
        Cause("the old arguments", "", "`quantization_config=BitsAndBytesConfig(load_in_4bit=True, …)`"),
        codes=("HF010",),
    ),
    _renamed(
        "no-torch-amp-scaler",
        (
            "cannot import name '{GradScaler|custom_fwd|custom_bwd}' from 'torch.amp'",
            "module 'torch.amp' has no attribute '{GradScaler|custom_fwd|custom_bwd}'",
            "module 'torch' has no attribute 'GradScaler'",
        ),
        "The installed torch is older than this name: `torch.amp.GradScaler` exists since 2.3, `custom_fwd` and "
        "`custom_bwd` since 2.4.",
        Cause("torch is too old", "`python -c 'import torch; print(torch.__version__)'`", "raise its version"),
        Cause("it has to stay", "", "`torch.cuda.amp.GradScaler`"),
    ),
    Topic(
        "plateau-without-metric",
        ("step() missing 1 required positional argument: 'metrics'",),
        "ReduceLROnPlateau asks for the value that it watches.",
        (Cause("`scheduler.step()`", "", "`scheduler.step(validation_loss)`"),),
        watch=False,
        step="Give step() the value at the frame shown.",
    ),
    Topic(
        "deepspeed-mismatch",
        (
            "Please correct the following DeepSpeed config values that mismatch TrainingArguments values",
            "mixed_precision arg cannot be set to {any} when",
        ),
        "The DeepSpeed configuration and the TrainingArguments name different values for one setting.",
        (
            Cause(
                "a number or true in the DeepSpeed file",
                "the lines below it name each one",
                '`"auto"` in that file',
                ("HF003",),
            ),
        ),
        watch=False,
        step='Write "auto" for the values that the message lists.',
    ),
)
