"""What LLaMA-Factory makes of the keys that concern checkpointing, and a model whose layers take keywords.

LLaMA-Factory allows none of the versions of Transformers, PEFT and Accelerate that are tested with. `prepare` does what
0.9.5 does in `llamafactory/model/model_utils/checkpointing.py`; beside that code, on this model, it gave the same
losses, gradients and errors for every setting of the keys. The layers are called as `GradientCheckpointingLayer` of
Transformers calls one that is given its hidden states by keyword.
"""

import functools
import types

import torch
import yaml
from peft import LoraConfig, get_peft_model
from torch.utils.checkpoint import checkpoint
from transformers import PretrainedConfig, PreTrainedModel

from codemods.verify.observe import watch


class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = torch.nn.Linear(width, width)

    def forward(self, hidden_states):
        return hidden_states + torch.tanh(self.proj(hidden_states))


class Model(PreTrainedModel):
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


def train(options):
    """Train as the configuration says: adapters, or the last layers."""
    torch.manual_seed(0)
    model = Model(PretrainedConfig())
    prepare(model, options)
    if options.get("finetuning_type", "lora") == "lora":
        model = get_peft_model(model, LoraConfig(r=options.get("lora_rank", 8), target_modules=["proj"]))
    else:
        model.requires_grad_(False)
        model.layers[-options["freeze_trainable_layers"] :].requires_grad_(True)
    if options.get("gradient_checkpointing"):  # the Trainer, when training starts
        kwargs = options.get("gradient_checkpointing_kwargs")
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=kwargs)
    model.train()
    optimizer = torch.optim.SGD((p for p in model.parameters() if p.requires_grad), lr=0.1)
    generator = torch.Generator().manual_seed(3)
    with watch(model) as seen:
        for _ in range(3):
            ids = torch.randint(32, (2, 6), generator=generator)
            optimizer.zero_grad()
            loss = model(input_ids=ids, labels=ids)["loss"]
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen


def configured(path):
    return yaml.safe_load(path.read_text())


def without_checkpointing(options):
    """The same training, nothing checkpointed."""
    return train({**options, "disable_gradient_checkpointing": True, "gradient_checkpointing": False})


def prepare(model, options):
    if not options.get("disable_gradient_checkpointing", False):
        model.gradient_checkpointing_enable = types.MethodType(enable, model)
        model.gradient_checkpointing_enable({"use_reentrant": options.get("use_reentrant_gc", True)})


def enable(model, gradient_checkpointing_kwargs=None):
    """What LLaMA-Factory puts in the place of the method; its default is its own, whatever Transformers' is."""
    kwargs = {"use_reentrant": True} if gradient_checkpointing_kwargs is None else gradient_checkpointing_kwargs
    function = functools.partial(checkpoint, **kwargs)

    def marked(layer, *args, **kwargs):
        """Layers with something to train are checkpointed, after their first tensor was made to require a gradient."""
        module = (layer.func if isinstance(layer, functools.partial) else layer).__self__
        if not any(parameter.requires_grad for parameter in module.parameters()):
            return layer(*args, **kwargs)
        for arg in args:
            if torch.is_tensor(arg) and torch.is_floating_point(arg):
                arg.requires_grad_(True)
                break
        return function(layer, *args, **kwargs)

    model._set_gradient_checkpointing(enable=True, gradient_checkpointing_func=marked)
