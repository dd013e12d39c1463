"""Ten steps from a checkpoint in bfloat16: which parts of the norms' weights have moved."""

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
    saved = transformers.LlamaForCausalLM(config).to(torch.bfloat16)
    saved.save_pretrained(folder)
    generator = torch.Generator().manual_seed(0)
    batches = [torch.randint(0, 64, (4, 8), generator=generator) for _ in range(10)]
    model, losses = case.train(folder, batches)
    norms = [(p, q) for (n, p), (_, q) in zip(model.named_parameters(), saved.named_parameters()) if "norm" in n]
    moved = sum(int((p.detach().float() != q.detach().float()).sum()) for p, q in norms)
    seen = observe(model, numbers={"share of the norms that moved": moved / sum(p.numel() for p, _ in norms)})
    seen.losses, seen.weights, seen.gradients = [], {}, {}
    return seen


def reference(case):
    seen = observe(torch.nn.Linear(1, 1), numbers={"share of the norms that moved": 1.0})
    seen.weights, seen.gradients = {}, {}
    return seen
