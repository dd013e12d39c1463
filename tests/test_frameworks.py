"""Whose configuration file it is: no key alone, no name of a file, and nothing where two could read it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory import Memory

from codemods.frameworks import config_owners
from codemods.project.index import Index
from codemods.sources.config import Config

LLAMA_FACTORY = {"model_name_or_path": "Qwen/Qwen2-7B", "stage": "sft", "finetuning_type": "lora", "template": "qwen"}
AXOLOTL = {"base_model": "meta-llama/Llama-3-8B", "micro_batch_size": 2, "adapter": "qlora", "num_epochs": 1}
ARGUMENTS = {"output_dir": "out", "per_device_train_batch_size": 8, "bf16": True}
DEEPSPEED = {"fp16": {"enabled": "auto"}, "zero_optimization": {"stage": 2}, "train_batch_size": "auto"}
ACCELERATE = {"compute_environment": "LOCAL_MACHINE", "distributed_type": "NO", "mixed_precision": "bf16"}
TRAINER = {"accelerator": "gpu", "precision": 16}
CLI = {"trainer": TRAINER, "model": {"class_path": "project.Net"}}
HYDRA = {"lightning": {"_target_": "lightning.pytorch.Trainer", "precision": 16}}

OWNED: dict[str, dict[str, Any]] = {
    config_owners.LLAMA_FACTORY: LLAMA_FACTORY,
    config_owners.AXOLOTL: AXOLOTL,
    config_owners.TRAINING_ARGUMENTS: ARGUMENTS,
    config_owners.DEEPSPEED: DEEPSPEED,
    config_owners.ACCELERATE: ACCELERATE,
    config_owners.LIGHTNING_CLI: CLI,
    config_owners.HYDRA: HYDRA,
}

WIDER = {config_owners.LLAMA_FACTORY, config_owners.AXOLOTL}


def looked_at(files: Mapping[str, Any], path: str = "") -> tuple[Config, Index]:
    """A file of a project, and the project; what is no text is written as JSON, which YAML is too."""
    texts = {name: data if isinstance(data, str) else json.dumps(data) for name, data in files.items()}
    index = Index(Memory(texts))
    config = index.document(path or next(iter(files)))
    assert isinstance(config, Config)
    return config, index


def owner(files: Mapping[str, Any], path: str = "") -> str | None:
    return config_owners.owner(*looked_at(files, path))


def trainers(files: Mapping[str, Any], path: str = "") -> list[str]:
    """The labels of the tables that hold a Trainer's arguments."""
    config, index = looked_at(files, path)
    return [config.label(table) for table in config_owners.trainer_tables(config, index)]


# -- who it is


@pytest.mark.parametrize("name", ["x.yaml", "x.yml"])
@pytest.mark.parametrize("expected", OWNED)
def test_each_owner_by_its_keys(expected: str, name: str) -> None:
    assert owner({name: OWNED[expected]}) == expected


@pytest.mark.parametrize("expected", [name for name in OWNED if name != config_owners.HYDRA])
def test_json_as_well_as_yaml(expected: str) -> None:
    assert owner({"x.json": OWNED[expected]}) == expected


@pytest.mark.parametrize(("expected", "key"), [(name, key) for name, data in OWNED.items() for key in data])
def test_no_key_is_evidence_alone(expected: str, key: str) -> None:
    assert owner({"x.yaml": {key: OWNED[expected][key]}}) == (None if expected != config_owners.HYDRA else expected)


@pytest.mark.parametrize(
    "name", ["accelerate.yaml", "ds_config.json", "axolotl.yml", "llamafactory.yaml", "trainer/default.yaml"]
)
def test_no_name_is_evidence(name: str) -> None:
    assert owner({name: {"precision": 16, "gradient_checkpointing": True, "fp16": True, "stage": "sft"}}) is None


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(OWNED, 2)))
def test_two_owners_are_none(one: str, other: str) -> None:
    """But the arguments of a Trainer are part of what LLaMA-Factory and axolotl read."""
    wider = other if one == config_owners.TRAINING_ARGUMENTS else one
    expected = wider if {one, other} - {wider} == {config_owners.TRAINING_ARGUMENTS} and wider in WIDER else None
    assert owner({"x.yaml": {**OWNED[one], **OWNED[other]}}) == expected


@pytest.mark.parametrize(
    "data",
    [
        {**LLAMA_FACTORY, "finetuning_type": "prefix"},
        {**LLAMA_FACTORY, "stage": 2},
        {**LLAMA_FACTORY, "stage": "${stage}"},
        {**ARGUMENTS, "stage": "sft"},
        {**ACCELERATE, "compute_environment": "kubernetes"},
        {**DEEPSPEED, "fp16": True, "zero_optimization": True},
        {"fp16": {"enabled": True}, "bf16": {"enabled": True}},
        {"trainer": {"precision": 16}, "model": {"class_path": "project.Net"}},
        {"trainer": {**TRAINER, "exp_manager": None}, "model": {"class_path": "project.Net"}},
        {"trainer": TRAINER, "model": {"layers": 3}},
        {"trainer": TRAINER, "optimizer": {"_target_": "torch.optim.Adam"}},
        {"trainer": {"_target_": "transformers.Trainer", "precision": 16}},
        {"trainer": {"_target_": "project.Trainer", "precision": 16}},
        {"trainer": {"_target_": "${trainer_class}", "precision": 16}},
        {"cluster": {"_target_": "lightning.pytorch.callbacks.ModelCheckpoint"}},
        [LLAMA_FACTORY],
        "just text",
        {},
    ],
    ids=repr,
)
def test_what_belongs_to_nobody(data: Any) -> None:
    assert owner({"x.yaml": json.dumps(data)}) is None
    assert trainers({"x.yaml": json.dumps(data)}) == []


def test_documents_of_one_file_must_agree() -> None:
    one = json.dumps(LLAMA_FACTORY)
    assert owner({"x.yaml": f"{one}\n---\n{one}\n"}) == config_owners.LLAMA_FACTORY
    assert owner({"x.yaml": f"{one}\n---\n{json.dumps(AXOLOTL)}\n"}) is None
    assert owner({"x.yaml": f"{one}\n---\njobs: 3\n"}) is None


def test_what_is_merged_in_counts() -> None:
    text = "shared: &shared\n  output_dir: out\n<<: *shared\nper_device_train_batch_size: 8\n"
    assert owner({"x.yaml": text}) == config_owners.TRAINING_ARGUMENTS
    assert owner({"x.yaml": text.replace("<<: *shared\n", "")}) is None
    text = "shared: &shared\n  stage: sft\nstage: mine\n<<: *shared\nmodel_name_or_path: x\nfinetuning_type: lora\n"
    assert owner({"x.yaml": text}) is None, "a table's own value comes before what is merged into it"


def test_toml_is_nobodys_by_default() -> None:
    assert owner({"x.toml": 'precision = "16"\n[trainer]\nprecision = 16\n'}) is None


def test_interpolated_values_are_known() -> None:
    config, _ = looked_at({"x.yaml": "a: ${b}\nb: '{{ c }}'\nc: 16\nd: {a: b}\n"})
    (root,) = config.roots
    held = [entry.value for entry in root.entries]  # type: ignore[union-attr]
    assert [config_owners.is_interpolated(value) for value in held] == [True, True, False, False]
    assert not config_owners.is_interpolated(None)


# -- LightningCLI


def test_lightning_cli_is_known_by_its_header_a_class_path_or_the_code() -> None:
    plain = f"trainer: {json.dumps(TRAINER)}\nmodel:\n  layers: 3\n"
    assert trainers({"x.yaml": plain}) == []
    assert trainers({"x.yaml": f"# lightning.pytorch==2.0.5\n{plain}"}) == ["trainer"]
    assert trainers({"x.yaml": plain + "data:\n- class_path: project.Data\n"}) == ["trainer"]
    code = "from lightning.pytorch.cli import LightningCLI\nLightningCLI(Net)\n"
    assert trainers({"x.yaml": plain, "train.py": code}) == ["trainer"]
    assert trainers({"a/x.yaml": plain, "a/setup.py": "", "b/train.py": code, "b/setup.py": ""}, "a/x.yaml") == []


def test_lightning_cli_by_subcommand() -> None:
    assert trainers({"x.yaml": {"fit": CLI, "test": CLI, "seed": 1}}) == ["fit.trainer", "test.trainer"]


@pytest.mark.torch
def test_every_argument_of_lightnings_trainer_is_known() -> None:
    import inspect

    trainer = pytest.importorskip("lightning.pytorch").Trainer
    arguments = {name: None for name in inspect.signature(trainer.__init__).parameters if name != "self"}
    assert trainers({"x.yaml": {**CLI, "trainer": arguments}}) == ["trainer"]


# -- Hydra

DEFAULT = {"_target_": "lightning.pytorch.Trainer", "max_epochs": 10}


@pytest.mark.parametrize(
    "target",
    [
        *("pytorch_lightning.Trainer", "lightning.Trainer", "lightning.pytorch.trainer.trainer.Trainer"),
        *("lightning.Fabric", "lightning_fabric.Fabric", "lightning.fabric.fabric.Fabric"),
    ],
)
def test_targets(target: str) -> None:
    assert trainers({"x.yaml": {"a": {"b": [{"_target_": target, "precision": 16}]}}}) == ["a.b[0]"]


def test_a_group_is_merged_into_the_default_that_its_files_name() -> None:
    files = {"conf/trainer/default.yaml": DEFAULT, "conf/trainer/gpu.yaml": "defaults: [default]\nprecision: 16\n"}
    assert trainers(files, "conf/trainer/gpu.yaml") == trainers(files) == [""]
    files["conf/trainer/two.yaml"] = "defaults:\n- gpu\n- _self_\ndevices: 2\n"
    assert trainers(files, "conf/trainer/two.yaml") == [""], "along several files"
    files["conf/trainer/alone.yaml"] = "precision: 16\n"
    assert trainers(files, "conf/trainer/alone.yaml") == [""], "a file of the folder `trainer`"
    renamed = {path.replace("/trainer/", "/machines/"): data for path, data in files.items()}
    assert trainers(renamed, "conf/machines/gpu.yaml") == [""]
    assert trainers(renamed, "conf/machines/alone.yaml") == [], "any other folder must say so"


def test_a_group_with_another_trainer_is_nobodys() -> None:
    files = {
        "conf/trainer/default.yaml": DEFAULT,
        "conf/trainer/hf.yaml": {"_target_": "transformers.Trainer"},
        "conf/trainer/gpu.yaml": "defaults: [default]\nprecision: 16\n",
        "conf/config.yaml": {"trainer": {"precision": 16}},
    }
    assert trainers(files, "conf/trainer/gpu.yaml") == []
    assert trainers(files, "conf/config.yaml") == []
    assert trainers(files, "conf/trainer/default.yaml") == [""], "what it becomes stands in the file itself"


OVERRIDE = "trainer:\n  precision: 16\n"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("conf/config.yaml", OVERRIDE, ["trainer"]),
        ("conf/experiment/big.yaml", f"# @package _global_\n{OVERRIDE}", ["trainer"]),
        ("conf/experiment/big.yaml", f"\n# big\n#@package _global_\n\n{OVERRIDE}", ["trainer"]),
        ("conf/experiment/lra/aan.yaml", f"# @package _global_\n{OVERRIDE}", ["trainer"]),
        ("conf/experiment/big.yaml", OVERRIDE, []),
        ("conf/experiment/big.yaml", f"# @package other\n{OVERRIDE}", []),
        ("conf/experiment/big.yaml", f"name: big\n# @package _global_\n{OVERRIDE}", []),
        ("conf/config.yaml", "model:\n  precision: 16\n", []),
        ("conf/config.yaml", "trainer:\n  _target_: project.Trainer\n  precision: 16\n", []),
        ("other/config.yaml", OVERRIDE, []),
        ("config.yaml", OVERRIDE, []),
        ("conf/config.json", json.dumps({"trainer": {"precision": 16}}), []),
    ],
)
def test_overrides(path: str, text: str, expected: list[str]) -> None:
    files = {path: text, "conf/trainer/default.yaml": DEFAULT}
    assert trainers(files, path) == expected
    assert owner(files, path) == (config_owners.HYDRA if expected else None)


def test_an_override_of_what_a_neighbour_makes() -> None:
    files = {"conf/base.yaml": {"trainer": DEFAULT}, "conf/big.yaml": f"defaults:\n- base\n- _self_\n{OVERRIDE}"}
    assert trainers(files, "conf/big.yaml") == ["trainer"]
    assert trainers({**files, "conf/small.yaml": OVERRIDE}, "conf/small.yaml") == []


def test_defaults_in_a_circle_come_to_an_end() -> None:
    files = {"conf/a.yaml": f"defaults: [b]\n{OVERRIDE}", "conf/b.yaml": "defaults: [a]\n_target_: x\n"}
    assert trainers(files, "conf/a.yaml") == []


# -- whatever is written

KEYS = st.sampled_from(sorted({key for data in OWNED.values() for key in data} | {"defaults", "_target_", "fit", "<<"}))
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["lora", "sft", "auto", "${x}", "base", ""])
DATA = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=12
)


@given(DATA)
def test_every_file_has_at_most_one_owner(data: Any) -> None:
    """And every table of a Trainer belongs to Lightning: nothing raises, nothing is said twice."""
    text = json.dumps(data).replace('"<<"', '"< <"')
    found = owner({"x.yaml": text})
    assert found is None or found in OWNED
    tables = trainers({"x.yaml": text})
    assert len(tables) == len(set(tables))
    assert not tables or found in (config_owners.LIGHTNING_CLI, config_owners.HYDRA)


@given(st.sampled_from(sorted(OWNED)), st.data())
def test_the_order_of_keys_and_the_keys_of_nobody_do_not_matter(expected: str, data: st.DataObject) -> None:
    items = data.draw(st.permutations([*OWNED[expected].items(), ("remarks", data.draw(SCALARS))]))
    assert owner({"x.yaml": dict(items)}) == expected
