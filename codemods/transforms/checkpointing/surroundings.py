"""What the project around a checkpointed call is: adapters, frozen weights, ZeRO-3, flex attention."""

from __future__ import annotations

import posixpath

from codemods.context import Context

_ADAPTERS = (b"get_peft_model", b"LoraConfig", b"PeftModel", b"add_adapter(", b"mark_only_lora_as_trainable")
_FROZEN = (b"requires_grad_(False)", b"requires_grad = False", b"requires_grad=False")
_INPUT_GRADS = (
    *(b"enable_input_require_grads", b"make_inputs_require_grad"),
    *(b"embeddings.requires_grad_(True)", b"get_input_embeddings().requires_grad_(True)"),
)
_ZERO3 = (b"zero3", b"ZeRO-3", b"zero_stage=3", b"deepspeed_stage_3", b'"stage": 3', b"'stage': 3", b"stage3_")
_DEEPSPEED = (b"deepspeed", b"DeepSpeed")
_ZERO3_FILES = ("ds_config.json", "ds_config_zero3.json", "deepspeed.json", "deepspeed_config.json", "zero3.json")
_ZERO3_FOLDERS = ("", "configs", "config", "deepspeed", "scripts", "ds_configs")


def has_adapters(ctx: Context) -> bool:
    """Whether the project trains adapters (LoRA and its kin) beside frozen weights."""
    return bool(ctx.index.search(ctx.path, _ADAPTERS))


def has_frozen_parts(ctx: Context) -> bool:
    """Whether the project trains adapters, or freezes parameters."""
    return has_adapters(ctx) or bool(ctx.index.search(ctx.path, _FROZEN))


def gives_inputs_gradients(ctx: Context) -> bool:
    """Whether somebody in the project already lets the embeddings' outputs require gradients."""
    return bool(ctx.index.search(ctx.path, _INPUT_GRADS))


def forbids_non_reentrant(ctx: Context) -> str | None:
    """Why non-reentrant checkpointing is known to fail in this project, in words for a message."""
    if ctx.index.search(ctx.path, (b"flex_attention",)):
        return "the project uses flex attention"
    if has_frozen_parts(ctx) and _has_zero3(ctx):
        return "the project trains frozen weights or adapters under DeepSpeed ZeRO-3"
    return None


def may_forbid_non_reentrant(ctx: Context) -> bool:
    """Whether a DeepSpeed configuration that is not in sight may be ZeRO-3 over frozen weights."""
    return bool(ctx.index.search(ctx.path, _DEEPSPEED)) and has_frozen_parts(ctx)


def _has_zero3(ctx: Context) -> bool:
    if ctx.index.search(ctx.path, _ZERO3) and ctx.index.search(ctx.path, _DEEPSPEED):
        return True
    root = ctx.index.root(ctx.path)
    for folder in _ZERO3_FOLDERS:
        for name in _ZERO3_FILES:
            text = ctx.index.text(posixpath.join(root, folder, name))
            if text is not None and '"stage":3' in "".join(text.split()):
                return True
    return False
