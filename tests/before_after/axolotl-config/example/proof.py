"""Adapters of layers that take their hidden states by keyword, under the reentrant default: no gradient reaches them.

Axolotl pins other versions of Transformers, PEFT and Accelerate, and needs packages for GPUs. `arguments` does what
0.19 does with the keys concerned, in `axolotl/utils/config/__init__.py`, `axolotl/core/builders/base.py` and
`axolotl/loaders/`; Trainer, PEFT and checkpointing are the real ones. Nothing is quantized: 4-bit weights need a GPU,
and change no path that gradients take.
"""

import functools

import torch
import yaml
from peft import LoraConfig, get_peft_model
from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainingArguments

from codemods.verify.observe import watch

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"


def run(case):
    return train(arguments(yaml.safe_load((case / "example.yml").read_text())))


def reference(case):
    """The same training, nothing checkpointed."""
    return train({"gradient_checkpointing": False})


def arguments(options):
    """What becomes of the keys in the arguments of the Trainer."""
    given = {"gradient_checkpointing": options["gradient_checkpointing"]}
    kwargs = options.get("gradient_checkpointing_kwargs")
    if kwargs is None and not any(options.get(key) for key in ("unfrozen_parameters", "rl")):
        kwargs = {"use_reentrant": True}
    return given | {"gradient_checkpointing_kwargs": {"use_reentrant": False} if kwargs is None else kwargs}


class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = torch.nn.Linear(width, width)

    def forward(self, hidden_states):
        return hidden_states + torch.tanh(self.proj(hidden_states))


class Model(PreTrainedModel):
    """Calls its layers as `GradientCheckpointingLayer` of Transformers calls one that is given keywords."""

    config_class = PretrainedConfig
    supports_gradient_checkpointing = True

    def __init__(self, config):
        super().__init__(config)
        self.gradient_checkpointing = False
        self.embed = torch.nn.Embedding(32, 8)
        self.layers = torch.nn.ModuleList(Layer(8) for _ in range(3))
        self.head = torch.nn.Linear(8, 32)

    def get_input_embeddings(self):
        return self.embed

    def forward(self, input_ids, labels=None, **_):
        hidden = self.embed(input_ids)
        for layer in self.layers:
            if self.gradient_checkpointing and self.training:
                hidden = self._gradient_checkpointing_func(functools.partial(layer.__call__, hidden_states=hidden))
            else:
                hidden = layer(hidden_states=hidden)
        logits = self.head(hidden)
        return {"loss": torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten()), "logits": logits}


def train(given):
    torch.manual_seed(0)
    model = Model(PretrainedConfig())
    if given["gradient_checkpointing"]:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=given["gradient_checkpointing_kwargs"])
    model.enable_input_require_grads()
    model = get_peft_model(model, LoraConfig(r=4, target_modules=["proj"]))
    generator = torch.Generator().manual_seed(3)
    rows = [{"input_ids": ids, "labels": ids} for ids in torch.randint(32, (12, 6), generator=generator)]
    quiet = {"report_to": [], "save_strategy": "no", "use_cpu": True, "disable_tqdm": True}
    with watch(model) as seen:
        trainer = Trainer(model=model, args=TrainingArguments("out", max_steps=3, **quiet, **given), train_dataset=rows)
        seen.losses = [trainer.train().training_loss]
    return seen
