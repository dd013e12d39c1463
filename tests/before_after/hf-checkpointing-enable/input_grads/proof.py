"""Frozen embeddings: no layer trains, only the head, before Transformers 5, which lets the inputs require gradients."""

import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from codemods.verify.observe import watch

SYMPTOM = "missing-gradient"
BITES = {"transformers": "<5"}


def run(case):
    base, asked = tiny(), []
    enable = base.enable_input_require_grads
    base.enable_input_require_grads = lambda: asked.append(sys._getframe(1).f_globals["__name__"]) or enable()
    case.AutoModelForCausalLM = type("Loader", (), {"from_pretrained": staticmethod(lambda name: base)})
    seen = trained(case.build("tiny"))
    seen.witness = asked.count("case")
    return seen


def reference(case):
    """The same training without checkpointing."""
    model = tiny()
    model.get_input_embeddings().requires_grad_(False)
    return trained(model)


def tiny():
    torch.manual_seed(0)
    small = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    return LlamaForCausalLM(LlamaConfig(num_attention_heads=2, num_key_value_heads=2, **small))


def trained(model):
    generator = torch.Generator().manual_seed(3)
    optimizer = torch.optim.SGD((p for p in model.parameters() if p.requires_grad), lr=0.1)
    with watch(model) as seen:
        for _ in range(3):
            ids = torch.randint(64, (2, 8), generator=generator)
            optimizer.zero_grad()
            loss = model(input_ids=ids, labels=ids).loss
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
