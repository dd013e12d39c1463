"""Three steps of a saved adapter, with activation checkpointing: how many of its weights have moved."""

import tempfile

import torch
import transformers

from codemods.verify.observe import observe, settle

SYMPTOM = "differs"


def run(case):
    settle()
    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, vocab_size=64
    )
    folder = tempfile.mkdtemp()
    model = transformers.LlamaForCausalLM(config)
    case.adapt(model, ["q_proj"]).save_pretrained(folder)
    tokens = torch.randint(0, 64, (8,))
    args = transformers.TrainingArguments(
        tempfile.mkdtemp(),
        max_steps=3,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        save_strategy="no",
        gradient_checkpointing=True,
    )
    data = [{"input_ids": tokens, "labels": tokens}] * 8
    model = case.resume(transformers.LlamaForCausalLM(config), folder, args, data)
    moved = sum(bool(p.detach().abs().sum() > 0) for name, p in model.named_parameters() if "lora_B" in name)
    seen = observe(torch.nn.Linear(1, 1), numbers={"adapters that moved": moved})
    seen.losses, seen.gradients, seen.weights = [], {}, {}
    return seen


def reference(case):
    seen = observe(torch.nn.Linear(1, 1), numbers={"adapters that moved": 1})
    seen.gradients, seen.weights = {}, {}
    return seen
