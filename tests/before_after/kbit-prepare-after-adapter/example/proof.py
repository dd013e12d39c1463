"""Two steps of an adapter: how many of its weights got a gradient. A flag says that the model was loaded in 8 bits."""

import torch
import transformers

from codemods.verify.observe import observe, settle

SYMPTOM = "differs"


def run(case):
    settle()
    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, vocab_size=64
    )
    model = transformers.LlamaForCausalLM(config)
    model.is_loaded_in_8bit = True
    model = case.adapt(model, ["q_proj"])
    model.train()
    tokens = torch.randint(0, 64, (2, 8))
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    adapters = [p for name, p in model.named_parameters() if "lora_" in name]
    seen = observe(torch.nn.Linear(1, 1), numbers={"adapters with a gradient": sum(p.grad is not None for p in adapters)})
    seen.losses, seen.gradients, seen.weights = [], {}, {}
    return seen


def reference(case):
    seen = observe(torch.nn.Linear(1, 1), numbers={"adapters with a gradient": 2})
    seen.gradients, seen.weights = {}, {}
    return seen
