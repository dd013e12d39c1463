"""PEFT switches checkpointing on with `{}`: torch warns; adapters train either way, for PEFT lets inputs require grads.

No quantization here: a flag on a float model makes PEFT go the same way.
"""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from codemods.verify.observe import watch

SYMPTOM = "the use_reentrant parameter should be passed explicitly"
SMALL = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}


def run(case):
    return trained(case, lambda model: None)


def reference(case):
    """The same training without checkpointing."""
    return trained(case, lambda model: model.gradient_checkpointing_disable())


def trained(case, then):
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(num_attention_heads=2, num_key_value_heads=2, **SMALL))
    model.is_loaded_in_8bit = True
    model = case.add_adapters(model)
    model.train()
    then(model.base_model.model)
    generator = torch.Generator().manual_seed(3)
    with watch(model) as seen:
        seen.losses = case.train(model, [torch.randint(64, (2, 8), generator=generator) for _ in range(3)])
    return seen
