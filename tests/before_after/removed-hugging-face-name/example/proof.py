"""The import fails; with the new name a small Qwen2 trains its adapters."""

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from codemods.verify.observe import observe

SYMPTOM = "cannot import name 'prepare_model_for_int8_training' from 'peft.utils'"


def run(case):
    torch.manual_seed(0)
    small = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    base = Qwen2ForCausalLM(Qwen2Config(num_attention_heads=2, num_key_value_heads=2, **small))
    generator = torch.Generator().manual_seed(3)
    model, losses = case.main(base, [torch.randint(64, (2, 8), generator=generator) for _ in range(3)])
    model(input_ids=torch.zeros(1, 4, dtype=torch.long), labels=torch.zeros(1, 4, dtype=torch.long)).loss.backward()
    seen = observe(model)
    seen.losses = losses
    return seen
