"""Messages of names and arguments that a version of a library does not have any more, or not yet."""

from __future__ import annotations

from fixer.diagnose.topics import Cause, Topic

_GONE = "got an unexpected keyword argument '{}'"
_OWN = "This is about versions: running the program again tells no more. Change the call at the frame shown."


_TRAINERS = "{Trainer|Seq2SeqTrainer|SFTTrainer|DPOTrainer|GRPOTrainer|PPOTrainer|RewardTrainer|ORPOTrainer|KTOTrainer}"
_LIGHTNING_1 = (
    "{gpus|tpu_cores|auto_lr_find|auto_scale_batch_size|resume_from_checkpoint|weights_summary|checkpoint_callback|"
    "progress_bar_refresh_rate|amp_backend|amp_level|auto_select_gpus|replace_sampler_ddp|track_grad_norm|"
    "terminate_on_nan|flush_logs_every_n_steps}"
)


def _by_trainer(names: str) -> tuple[str, ...]:
    """What a Trainer says of an argument that it does not take; Python 3.9 names no class."""
    gone = _GONE.format(names)
    return (f"{_TRAINERS}.__init__() {gone}", f"TypeError: __init__() {gone}")


def _renamed(name: str, texts: tuple[str, ...], meaning: str, *causes: Cause, codes: tuple[str, ...] = ()) -> Topic:
    return Topic(name, texts, meaning, causes, codes, watch=False, step=_OWN)


TOPICS = (
    _renamed(
        "training-arguments-renamed",
        (
            _GONE.format(
                "{evaluation_strategy|no_cuda|use_mps_device|per_gpu_train_batch_size|logging_dir|include_inputs_for_metrics}"
            ),
        ),
        "TrainingArguments of newer Transformers no longer take this name.",
        Cause(
            "the code was written for an older version",
            "`pip show transformers`",
            "`evaluation_strategy` is `eval_strategy` now, `no_cuda` is `use_cpu`, `per_gpu_*` is `per_device_*`; "
            "`logging_dir` is the environment variable TENSORBOARD_LOGGING_DIR",
        ),
    ),
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
    _renamed(
        "tokenizer-renamed",
        _by_trainer("tokenizer"),
        "Trainers of Transformers 5 and newer TRL take `processing_class` instead of `tokenizer`.",
        Cause("the code was written for an older version", "the call is of a Trainer", "`processing_class=tokenizer`"),
    ),
    _renamed(
        "sft-arguments-moved",
        _by_trainer("{max_seq_length|dataset_text_field|packing|dataset_num_proc|max_prompt_length}"),
        "TRL has moved this argument from the trainer to its configuration.",
        Cause(
            "the code was written for an older version of TRL",
            "`pip show trl`",
            "`SFTConfig(dataset_text_field=…, packing=…, max_length=…)`; `max_seq_length` is `max_length` now",
        ),
    ),
    _renamed(
        "trainer-arguments-removed",
        _by_trainer(_LIGHTNING_1),
        "Lightning 2 has removed this argument of its Trainer.",
        Cause(
            "the code was written for Lightning 1",
            "`pip show lightning pytorch-lightning`",
            '`gpus=2` is `accelerator="gpu", devices=2`; `resume_from_checkpoint` is `trainer.fit(…, ckpt_path=…)`; '
            "`checkpoint_callback` is `enable_checkpointing`; `auto_lr_find` is `Tuner(trainer).lr_find`",
        ),
    ),
    _renamed(
        "hooks-removed",
        ("Support for `{training|validation|test}_epoch_end` has been removed in v2.0.0",),
        "Lightning 2 does not call this hook any more.",
        Cause(
            "the code was written for Lightning 1",
            "",
            "keep the outputs of the steps on `self`, and use `on_train_epoch_end` or `on_validation_epoch_end`",
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
    ),
    _renamed(
        "dtype-renamed",
        ("`torch_dtype` is deprecated! Use `dtype` instead",),
        "Transformers 4.56 calls the argument `dtype`. Nothing else has changed.",
        Cause("the old name", "the project requires Transformers >= 4.56", "`dtype=`; for older versions keep it"),
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
    _renamed(
        "plateau-verbose",
        ("{ReduceLROnPlateau|StepLR|LRScheduler|CosineAnnealingLR}.__init__() " + _GONE.format("verbose"),),
        "Schedulers have lost `verbose` in torch 2.7.",
        Cause("the code was written for an older torch", "", "remove it; `scheduler.get_last_lr()` tells the rate"),
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
