"""A small Qwen2: the old name is logged, the new one loads and trains the same."""

import tempfile

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from codemods.verify.observe import observe

SYMPTOM = "`torch_dtype` is deprecated! Use `dtype` instead!"


def run(case):
    torch.manual_seed(0)
    small = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    config = Qwen2Config(num_attention_heads=2, num_key_value_heads=2, **small)
    folder = tempfile.mkdtemp()
    Qwen2ForCausalLM(config).save_pretrained(folder)
    generator = torch.Generator().manual_seed(3)
    model, losses = case.main(folder, [torch.randint(64, (2, 8), generator=generator) for _ in range(3)])
    model(input_ids=torch.zeros(1, 4, dtype=torch.long), labels=torch.zeros(1, 4, dtype=torch.long)).loss.backward()
    seen = observe(model)
    seen.losses = losses
    return seen
