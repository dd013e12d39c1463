"""A LLaMA-Factory configuration that trains adapters or some layers with reentrant gradient checkpointing.

## Why is this bad?
LLaMA-Factory always checkpoints, with `use_reentrant_gc: true` unless told otherwise. Reentrant checkpointing runs the
layer a first time under `no_grad` (that, and not the cast, is why `hidden_states.to(torch.float32)` in an RMSNorm comes
out without `requires_grad`), and hands gradients back only if a tensor among the layer's positional arguments requires
one. With frozen embeddings none does by itself. LLaMA-Factory marks the first floating tensor of each layer that has
something to train; that does not reach layers that take their hidden states by keyword, or in a list. There, training
ends with an error, or goes on with a warning and trains only what lies outside the layers:

    UserWarning: None of the inputs have requires_grad=True. Gradients will be None
    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
    RuntimeError: none of output has requires_grad=True, this checkpoint() is not necessary

A trap beside it: with `gradient_checkpointing: true`, the option of Transformers, the Trainer switches checkpointing on
once more when training starts, reentrant whatever `use_reentrant_gc` says, unless `gradient_checkpointing_kwargs` says
otherwise too. So both are set where both are there.

Advice that does not help: to call `requires_grad_()` after the cast makes a fresh leaf, after which the embeddings
silently get no gradient; and autocast has nothing to do with it.

## Fix safety
Unsafe: nobody ran this training. `non-reentrant` (default) sets `use_reentrant_gc: false`, which LLaMA-Factory knows
since 0.9.2; older ones refuse the unknown key, so it is only reported where one is required, or where the repository
holds a copy of one. `disable` sets `disable_gradient_checkpointing: true` and gives up the memory that checkpointing
saves. Comments and all other lines stay as they are.

## When it is not offered
For models of a family that was run and loses nothing (Qwen2, Llama, Mistral, … `docs/architectures.md`): what is left
is code that comes with a checkpoint, whose layers nobody has seen. Only reported where the name tells no family and
`trust_remote_code: true` does not say that the model brings such code, unless a strategy is asked for. For full
fine-tuning (nothing is frozen, and gradients reach every layer); where checkpointing is disabled or unsloth's,
KTransformers' or Megatron's; where a DeepSpeed configuration is ZeRO stage 3, which needs the reentrant variant over
frozen weights, or cannot be found; and for files that do not train (`do_train`).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemods.flow.answers import unknown
from codemods.frameworks import config_owners
from codemods.frameworks.checkpointing.deepspeed_stage import deepspeed_stage
from codemods.frameworks.checkpointing.families import FAMILIES, WRAPPER_LOSES, brings_code, family, unknown_family
from codemods.frameworks.config_owners import scalar
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.project import versions
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.sources.config import Config, Entry, Pair, Table, plain

rule = Rule(
    code="CKP005",
    name="llama-factory-config",
    summary="reentrant checkpointing in LLaMA-Factory: layers that take their hidden states by keyword learn nothing",
    fix_title="Set `use_reentrant_gc: false`",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    effect=Effect.NEW_GRADIENTS,
    elsewhere=(b"model_name_or_path",),
    errors=(
        "None of the inputs have requires_grad=True. Gradients will be None",
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "none of output has requires_grad=True, this checkpoint() is not necessary",
    ),
    references=(
        "https://github.com/hiyouga/LLaMA-Factory/issues/6675",
        "https://github.com/hiyouga/LLaMA-Factory/issues/6358",
        "https://pytorch.org/docs/stable/checkpoint.html",
    ),
    strategies=("non-reentrant", "disable"),
)

SWITCH, DISABLE = "use_reentrant_gc", "disable_gradient_checkpointing"
TRAINER, TRAINER_KWARGS = "gradient_checkpointing", "gradient_checkpointing_kwargs"

PARTIAL = frozenset({"lora", "oft", "freeze"})
"""Values of `finetuning_type` that leave the embeddings frozen; without one it is LoRA."""

ELSEWHERE = ("use_unsloth", "use_unsloth_gc", "use_kt", DISABLE)
"""Switches with which somebody else checkpoints, or nobody."""

MEGATRON = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "expert_model_parallel_size")
FIRST_WITH_SWITCH = ">=0.9.2"


@rule.on(Config)
def llama_factory_config(config: Config, ctx: FileContext) -> Iterator[Draft]:
    if config_owners.owner(config, ctx.index) == config_owners.LLAMA_FACTORY:
        for root in config.roots:
            if isinstance(root, Table):
                yield from _check(root, ctx)


def _check(table: Table, ctx: FileContext) -> Iterator[Draft]:
    if scalar(table.get("do_train")) is not True or _kind(table) not in PARTIAL:
        return
    if any(scalar(table.get(key)) not in (None, False) for key in ELSEWHERE) or any(map(table.entry, MEGATRON)):
        return
    named = scalar(table.get("model_name_or_path"))
    model = family(named) if isinstance(named, str) else None
    if model in FAMILIES and model not in WRAPPER_LOSES:
        return
    if not _is_reentrant(table) or deepspeed_stage(table.get("deepspeed"), ctx) not in (0, 1, 2):
        return
    remote = scalar(table.get("trust_remote_code")) is True and brings_code(named)
    remedies: dict[str, Remedy] = {}
    if knows := _knows_switch(ctx):
        remedies["non-reentrant"] = Remedy(_non_reentrant(table), on_request=not (model or remote))
    remedies["disable"] = Remedy(_disabled(table), f"Set `{DISABLE}: true`", on_request=True)
    at = next(entry for key in (SWITCH, TRAINER, "finetuning_type", "stage") if (entry := table.entry(key)) is not None)
    yield rule.offer(
        at,
        remedies,
        message=_message(table, knows),
        is_bug=[] if model else [unknown(unknown_family(ctx, at, remote=remote))],
    )


def _knows_switch(ctx: FileContext) -> bool:
    """Whether the project's LLaMA-Factory, required or copied into the repository, may know `use_reentrant_gc`."""
    if ctx.index.search(ctx.path, (DISABLE.encode(),)) and not ctx.index.search(ctx.path, (SWITCH.encode(),)):
        return False
    return versions.may(ctx.target("llamafactory"), FIRST_WITH_SWITCH)


def _kind(table: Table) -> object:
    return "lora" if table.entry("finetuning_type") is None else scalar(table.get("finetuning_type"))


def _is_reentrant(table: Table) -> bool:
    """Whether training surely ends up with the reentrant variant: the Trainer has the last word."""
    if _says(table, TRAINER, True):
        kwargs = table.get(TRAINER_KWARGS)
        given = plain(kwargs) if kwargs is not None else None
        if isinstance(given, dict):
            return given.get("use_reentrant", True) is True
        return given is None
    return _says(table, SWITCH, True) or table.entry(SWITCH) is None


def _says(table: Table, key: str, value: bool) -> bool:
    return scalar(table.get(key)) is value


def _non_reentrant(table: Table) -> dict[object, object]:
    changes = _set(table, SWITCH, False)
    trainer, entry, kwargs = table.entry(TRAINER), table.entry(TRAINER_KWARGS), table.get(TRAINER_KWARGS)
    if trainer is None or scalar(trainer.value) is not True:
        return changes
    if entry is None:
        return {**changes, trainer: (trainer, Pair(TRAINER_KWARGS, {"use_reentrant": False}))}
    if not isinstance(kwargs, Table) or not kwargs.entries:
        return {**changes, entry.value: {"use_reentrant": False}}
    if (said := kwargs.entry("use_reentrant")) is not None:
        return {**changes, said.value: False}
    last = kwargs.entries[-1]
    return {**changes, last: (last, Pair("use_reentrant", False))}


def _disabled(table: Table) -> dict[object, object]:
    changes = _set(table, DISABLE, True)
    if _says(table, TRAINER, True) and (trainer := table.entry(TRAINER)) is not None:
        changes[trainer.value] = False
    return changes


def _set(table: Table, key: str, value: bool) -> dict[object, object]:
    """`key: value`, where the key stands, else beside what the file says of the model."""
    if (entry := _own(table, key)) is not None:
        return {entry.value: value} if scalar(entry.value) is not value else {}
    named = (_own(table, name) for name in (DISABLE, "trust_remote_code", "model_name_or_path", "finetuning_type"))
    beside = next((entry for entry in named if entry is not None), None)
    return {beside: (beside, Pair(key, value))} if beside is not None else {}


def _own(table: Table, key: str) -> Entry | None:
    """The entry of a key that stands in the table itself, and is not merged into it."""
    return next((entry for entry in table.entries if entry.key.value == key), None)


def _message(table: Table, knows: bool) -> str:
    what = "layers" if _kind(table) == "freeze" else "adapters of layers"
    if _says(table, TRAINER, True):
        why = f"`{TRAINER}: true` without `{TRAINER_KWARGS}` is reentrant"
        if _says(table, SWITCH, False):
            why += f" and undoes `{SWITCH}: false`"
    elif not knows:
        why = "LLaMA-Factory before 0.9.2 always checkpoints reentrantly"
    else:
        why = f"`{SWITCH}` is true" + (" by default" if table.entry(SWITCH) is None else "")
    return f"{why}: {what} that take their hidden states by keyword learn nothing"
