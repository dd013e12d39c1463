"""Whose configuration file it is: one table of keys that only together say who reads a file.

Neither a file's name nor a single key is evidence: `precision`, `stage` and `gradient_checkpointing` mean something
else in every second project. What nobody, or more than one framework, can be shown to read belongs to nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from codemods.frameworks import hydra
from codemods.frameworks.removed_names import tables
from codemods.project.index import Index
from codemods.sources.config import Array, Config, Entry, Key, Scalar, Table, Value, followed

LLAMA_FACTORY = "LLaMA-Factory"
AXOLOTL = "axolotl"
TRAINING_ARGUMENTS = "TrainingArguments"
DEEPSPEED = "DeepSpeed"
ACCELERATE = "Accelerate"
LIGHTNING_CLI = "LightningCLI"
HYDRA = "Hydra"
"""Hydra, with an object of Lightning's Trainer or Fabric among what it makes."""


@dataclass(frozen=True, slots=True)
class OwnerKeys:
    """Keys of one table that together name its owner."""

    owner: str
    keys: tuple[frozenset[str], ...]
    """Of each of these groups the table has at least one; no key counts for two."""
    values: Mapping[str, frozenset[object]] = field(default_factory=dict)
    """What these keys hold, where they are there."""
    tables: frozenset[str] = frozenset()
    """If there are any: at least one of these keys holds a table."""
    never: frozenset[str] = frozenset()
    """Keys of somebody else."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _keys(*groups: str) -> tuple[frozenset[str], ...]:
    return tuple(map(_words, groups))


_STAGES = {"stage": frozenset({"pt", "sft", "rm", "ppo", "dpo", "kto"})}
_METHODS = {"finetuning_type": frozenset({"lora", "oft", "freeze", "full"})}

TABLE = (
    OwnerKeys(
        LLAMA_FACTORY,
        _keys(
            "finetuning_type",
            "model_name_or_path",
            "stage template dataset dataset_dir cutoff_len lora_target",
        ),
        values={**_STAGES, **_METHODS},
    ),
    OwnerKeys(
        LLAMA_FACTORY, _keys("stage", "model_name_or_path", "template", "dataset"), values={**_STAGES, **_METHODS}
    ),
    OwnerKeys(
        AXOLOTL,
        _keys(
            "base_model base_model_config",
            "micro_batch_size sequence_len sample_packing dataset_prepared_path",
            "datasets pretraining_dataset adapter num_epochs rl",
        ),
    ),
    OwnerKeys(
        TRAINING_ARGUMENTS,
        _keys(
            "per_device_train_batch_size",
            "output_dir num_train_epochs max_steps learning_rate gradient_accumulation_steps save_steps logging_steps",
        ),
        never=_words("finetuning_type stage base_model micro_batch_size zero_optimization"),
    ),
    OwnerKeys(
        DEEPSPEED,
        _keys(
            "zero_optimization fp16 bf16 bfloat16",
            "zero_optimization train_micro_batch_size_per_gpu train_batch_size steps_per_print wall_clock_breakdown "
            "zero_allow_untested_optimizer zero_force_ds_cpu_optimizer",
        ),
        tables=_words("zero_optimization fp16 bf16 bfloat16"),
        never=_words("per_device_train_batch_size"),
    ),
    OwnerKeys(
        ACCELERATE,
        _keys("compute_environment", "distributed_type mixed_precision num_processes machine_rank"),
        values={"compute_environment": frozenset({"LOCAL_MACHINE", "AMAZON_SAGEMAKER"})},
    ),
)

_TRAINER_ARGUMENTS = _words(
    "accelerator strategy devices num_nodes precision logger callbacks fast_dev_run max_epochs min_epochs max_steps "
    "min_steps max_time limit_train_batches limit_val_batches limit_test_batches limit_predict_batches "
    "overfit_batches val_check_interval check_val_every_n_epoch num_sanity_val_steps log_every_n_steps "
    "enable_checkpointing enable_progress_bar enable_model_summary accumulate_grad_batches gradient_clip_val "
    "gradient_clip_algorithm deterministic benchmark inference_mode use_distributed_sampler profiler detect_anomaly "
    "barebones plugins sync_batchnorm reload_dataloaders_every_n_epochs default_root_dir enable_autolog_hparams "
    "model_registry"
) | frozenset(tables.words("PL103", "argument"))
"""What Lightning's Trainer takes, or took; LightningCLI refuses every other key below `trainer`."""

_ARGUMENTS = (
    *(b"TrainingArguments", b"HfArgumentParser", b"H4ArgumentParser", b"TrlParser", b"SFTConfig", b"DPOConfig"),
    *(b"GRPOConfig", b"KTOConfig", b"CPOConfig", b"ORPOConfig", b"RLOOConfig", b"RewardConfig"),
)
"""What makes training arguments."""
_SUBCOMMANDS = ("fit", "validate", "test", "predict")
_SAVED_BY_CLI = ("# lightning.pytorch==", "# pytorch_lightning==")
"""How LightningCLI begins the configuration that it saves beside a run."""


def owner(config: Config, index: Index) -> str | None:
    """The framework that surely reads a file; None: nobody known, or it cannot be told."""
    owners = {_owner(root, config, index) for root in config.roots}
    return owners.pop() if len(owners) == 1 else None


def _owner(root: Value, config: Config, index: Index) -> str | None:
    if not isinstance(root, Table):
        return None
    found = {evidence.owner for evidence in TABLE if _fits(evidence, root)}
    if TRAINING_ARGUMENTS in found and not _has_arguments(config, index):
        found.discard(TRAINING_ARGUMENTS)
    if any(True for _ in _cli_tables(root, config, index)):
        found.add(LIGHTNING_CLI)
    if any(True for _ in hydra.trainer_tables(root, config, index)):
        found.add(HYDRA)
    return found.pop() if len(found) == 1 else None


def _has_arguments(config: Config, index: Index) -> bool:
    """Whether code of the project makes training arguments; a project without code is for another's (own_settings)."""
    return bool(index.search(config.path, _ARGUMENTS)) or not index.search(config.path, (b"import",))


def fits(table: Table, owner: str) -> bool:
    """Whether a table, wherever it stands, has what is evidence of an owner (one of those in `TABLE`)."""
    return any(evidence.owner == owner and _fits(evidence, table) for evidence in TABLE)


def _fits(evidence: OwnerKeys, table: Table) -> bool:
    given = {entry.key.value: followed(entry.value) for entry in entries(table)}
    said = given.keys() & frozenset().union(*evidence.keys)
    if len(said) < len(evidence.keys) or not all(said & group for group in evidence.keys):
        return False
    if given.keys() & evidence.never:
        return False
    if evidence.tables and not any(isinstance(given.get(key), Table) for key in evidence.tables):
        return False
    return all(scalar(given[key]) in allowed for key, allowed in evidence.values.items() if key in given)


def entries(table: Table) -> Iterator[Entry]:
    """The entries of a table that count: what YAML merges into it comes first, and is overridden by its own."""
    for merged in reversed(tuple(table.merged())):
        yield from entries(merged)
    yield from table.entries


def scalar(value: Value | None) -> object:
    """What a scalar holds; None for anything else, and for what is nowhere."""
    value = followed(value) if value is not None else None
    return value.value if isinstance(value, Scalar) else None


def is_interpolated(value: Value | None) -> bool:
    """Whether a value is made elsewhere: `${trainer.precision}`, `{{ precision }}`. Such are never edited."""
    held = scalar(value)
    return isinstance(held, str) and ("${" in held or "{{" in held)


def trainer_tables(config: Config, index: Index) -> tuple[Table, ...]:
    """The tables of a file that hold arguments of Lightning's Trainer or Fabric; none where nobody can be sure."""
    finders = {LIGHTNING_CLI: _cli_tables, HYDRA: hydra.trainer_tables}
    find = finders.get(owner(config, index) or "")
    if find is None:
        return ()
    return tuple(table for root in config.roots if isinstance(root, Table) for table in find(root, config, index))


def _cli_tables(root: Table, config: Config, index: Index) -> Iterator[Table]:
    """`trainer:`, or `fit: trainer:` and so on, in a file that LightningCLI reads."""
    holders = (root, *(root.get(name) for name in _SUBCOMMANDS))
    given = (holder.get("trainer") for holder in holders if isinstance(holder, Table))
    tables = [table for table in given if isinstance(table, Table) and is_trainer_table(table)]
    if tables and (config.text.startswith(_SAVED_BY_CLI) or _has_class_path(root) or _has_cli(config, index)):
        yield from tables


def is_trainer_table(table: Table) -> bool:
    """Whether a table has several keys, and all of them are arguments of Lightning's Trainer."""
    given = {entry.key.value for entry in entries(table)} - {Key.MERGE}
    return len(given) > 1 and given <= _TRAINER_ARGUMENTS


def _has_class_path(value: Value) -> bool:
    """Whether an object is made the way jsonargparse makes them: `class_path: …` with `init_args: …`."""
    waiting: list[Value] = [value]
    while waiting:
        match waiting.pop():
            case Table() as table:
                if isinstance(scalar(table.get("class_path")), str):
                    return True
                waiting += [entry.value for entry in table.entries]
            case Array(items=items):
                waiting += items
    return False


def _has_cli(config: Config, index: Index) -> bool:
    return bool(index.search(config.path, (b"LightningCLI",), suffixes=(".py",)))
