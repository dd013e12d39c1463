"""Lightning and a small random T5: in the closure neither decoder states nor logits nor the loss require gradients."""

import torch
from transformers import T5Config, T5ForConditionalGeneration

from codemods.verify.observe import fit, watch

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"
SMALL = {"vocab_size": 64, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "dropout_rate": 0.0}


def run(case):
    return fit(build(case), batches())


def reference(case):
    """The same training, with the backward pass before a step without a closure."""
    model = build(case)
    optimizer = model.configure_optimizers()
    with watch(model) as seen:
        for input_ids, labels in batches():
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(input_ids), labels)
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen


def build(case):
    """The module, with a T5 that is not downloaded."""
    torch.manual_seed(0)
    small = T5ForConditionalGeneration(T5Config(decoder_start_token_id=0, **SMALL))
    case.T5ForConditionalGeneration = type("Loader", (), {"from_pretrained": staticmethod(lambda name: small)})
    return case.T5Classifier()


def batches(steps=4, size=4, length=6):
    generator = torch.Generator().manual_seed(1)

    def draw(most, *shape):
        return torch.randint(1, most, shape, generator=generator)

    return [(draw(64, size, length), draw(4, size)) for _ in range(steps)]
