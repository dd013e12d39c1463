"""An axolotl configuration that trains adapters, or some parameters, with reentrant gradient checkpointing.

## Why is this bad?
`gradient_checkpointing: true` without `gradient_checkpointing_kwargs` becomes `{"use_reentrant": True}` in axolotl
(not for `rl`, where it is left to the Trainer, nor with `unfrozen_parameters`). Reentrant checkpointing hands gradients
back only if a tensor among a layer's positional arguments requires one. Axolotl lets the embeddings' outputs require
gradients when it adds an adapter; layers that take their hidden states by keyword, or in a list, still train nothing,
with no more than a warning:

    UserWarning: None of the inputs have requires_grad=True. Gradients will be None

and DistributedDataParallel with unused parameters stops with `Expected to mark a variable ready only once`.

`use_reentrant: true` by name is refused beside `unfrozen_parameters`, and, on more than one GPU, for `rl` with QLoRA:

    ValueError: `use_reentrant` must be false when used with partially frozen model.
    ValueError: The `use_reentrant: True` implementation of gradient checkpointing is not supported for distributed RL
    training with QLoRA. Please set `use_reentrant: False` in `gradient_checkpointing_kwargs`.

## Fix safety
Unsafe: nobody ran this training. It says `gradient_checkpointing_kwargs: {use_reentrant: false}`, as axolotl's newer
examples do. Comments and all other lines stay as they are.

## When it is not offered
For models of a family that was run and loses nothing (`docs/architectures.md`). Only reported where the name of the
model tells no family, unless `trust_remote_code: true` says that the model brings code of its own. Without an adapter
and without `unfrozen_parameters` (gradients reach every layer); where `use_reentrant: true` was chosen for other
adapters; with flex attention and with DeepSpeed ZeRO stage 3, which fail non-reentrant; where the DeepSpeed
configuration cannot be found; with FSDP; and where checkpointing is off, or offloads or selects.
"""

from __future__ import annotations

from collections.abc import Iterator

from codemods.flow.answers import unknown
from codemods.frameworks import config_owners
from codemods.frameworks.checkpointing.deepspeed_stage import deepspeed_stage
from codemods.frameworks.checkpointing.families import FAMILIES, HOOK_LOSES, brings_code, family, unknown_family
from codemods.frameworks.config_owners import scalar
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.config import Config, Entry, Pair, Scalar, Table

rule = Rule(
    code="CKP006",
    name="axolotl-config",
    summary="reentrant checkpointing in axolotl: layers that take their hidden states by keyword learn nothing",
    fix_title="Set `gradient_checkpointing_kwargs: {use_reentrant: false}`",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    effect=Effect.NEW_GRADIENTS,
    elsewhere=(b"gradient_checkpointing",),
    errors=(
        "None of the inputs have requires_grad=True. Gradients will be None",
        "`use_reentrant` must be false when used with partially frozen model.",
        "implementation of gradient checkpointing is not supported for distributed RL training with QLoRA",
    ),
    references=(
        "https://github.com/axolotl-ai-cloud/axolotl/pull/1021",
        "https://github.com/axolotl-ai-cloud/axolotl/pull/2420",
        "https://pytorch.org/docs/stable/checkpoint.html",
    ),
)

SWITCH, KWARGS = "gradient_checkpointing", "gradient_checkpointing_kwargs"

ELSEWHERE = ("activation_offloading", "layer_offloading", "selective_checkpointing", "fsdp", "fsdp_config")
"""Keys with which something else than the Trainer checkpoints, or the sharding decides."""


@rule.on(Config)
def axolotl_config(config: Config, ctx: FileContext) -> Iterator[Draft]:
    if config_owners.owner(config, ctx.index) == config_owners.AXOLOTL:
        for root in config.roots:
            if isinstance(root, Table):
                yield from _check(root, ctx)


def _check(table: Table, ctx: FileContext) -> Iterator[Draft]:
    switch = table.entry(SWITCH)
    if switch is None or scalar(switch.value) is not True or any(_given(table, key) for key in ELSEWHERE):
        return
    if _uses_flex_attention(table) or deepspeed_stage(table.get("deepspeed"), ctx) not in (0, 1, 2):
        return
    if (chosen := _chosen(table)) is not None:
        if why := _why_not_reentrant(table):
            message = f"`use_reentrant: true`, but {why}"
            yield rule.finding(chosen, fix={chosen.value: False}, message=message, consequence=Consequence.RAISES)
    elif _given(table, "adapter") and not _given(table, "rl") and not _given(table, "unfrozen_parameters"):
        named = scalar(table.get("base_model"))
        model = family(named) if isinstance(named, str) else None
        if not _given(table, KWARGS) and (model not in FAMILIES or model in HOOK_LOSES):
            remote = scalar(table.get("trust_remote_code")) is True and brings_code(named)
            yield rule.finding(
                switch,
                fix=_added(table, switch) if model or remote else None,
                message=_IMPLICIT,
                is_bug=[] if model else [unknown(unknown_family(ctx, switch, remote=remote))],
                consequence=Consequence.SILENT,
            )


_IMPLICIT = (
    f"axolotl makes `{SWITCH}: true` reentrant where `{KWARGS}` is not given: adapters of layers that take their "
    "hidden states by keyword learn nothing"
)


def _given(table: Table, key: str) -> bool:
    """Whether a key holds something, also something that a template fills in."""
    value = table.get(key)
    return value is not None and not (isinstance(value, Scalar) and value.value in (None, False, ""))


def _uses_flex_attention(table: Table) -> bool:
    return _given(table, "flex_attention") or scalar(table.get("attn_implementation")) == "flex_attention"


def _chosen(table: Table) -> Entry | None:
    """`use_reentrant: true`, said by name."""
    kwargs = table.get(KWARGS)
    entry = kwargs.entry("use_reentrant") if isinstance(kwargs, Table) else None
    return entry if entry is not None and scalar(entry.value) is True else None


def _why_not_reentrant(table: Table) -> str | None:
    if _given(table, "unfrozen_parameters"):
        return "only `unfrozen_parameters` are trained: axolotl refuses it"
    if _given(table, "rl") and scalar(table.get("adapter")) == "qlora" and scalar(table.get("load_in_4bit")) is True:
        return f"QLoRA is trained by `rl: {scalar(table.get('rl'))}`: axolotl refuses it on more than one GPU"
    return None


def _added(table: Table, switch: Entry) -> dict[object, object]:
    wanted = {"use_reentrant": False}
    if (empty := table.entry(KWARGS)) is not None:
        return {empty.value: wanted}
    return {switch: (switch, Pair(KWARGS, wanted))}
