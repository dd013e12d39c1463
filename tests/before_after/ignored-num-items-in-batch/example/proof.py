"""Two steps of four batches: the norms of the gradients are those of the plain Trainer."""

import tempfile

import torch
import transformers

from codemods.verify.observe import observe, settle

SYMPTOM = "differs"
TOLERANCE = 1e-4


def parts():
    settle()
    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, vocab_size=64
    )
    folder = tempfile.mkdtemp()
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    generator = torch.Generator().manual_seed(0)
    rows = [torch.randint(0, 64, (8,), generator=generator) for _ in range(16)]
    return folder, [{"input_ids": row, "labels": row} for row in rows]


def seen_of(trainer):
    told = [each for each in trainer.state.log_history if "grad_norm" in each]
    seen = observe(trainer.model, numbers={f"norm {n}": float(each["grad_norm"]) for n, each in enumerate(told)})
    seen.losses = [float(each["loss"]) for each in told]
    seen.gradients = {}
    seen.weights = {}
    return seen


def run(case):
    name, dataset = parts()
    return seen_of(case.main(name, dataset, tempfile.mkdtemp()))


def reference(case):
    name, dataset = parts()
    case.Counting, counting = transformers.Trainer, case.Counting
    try:
        return seen_of(case.main(name, dataset, tempfile.mkdtemp()))
    finally:
        case.Counting = counting
