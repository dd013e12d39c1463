"""The region is a decorator, and the weight a bare parameter."""

from codemods.verify.observe import batches, watch

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"
BITES = {"torch": "<2.11"}
WITNESS = "torch.clear_autocast_cache"


def run(case):
    model = case.build_model()
    with watch(model) as seen:
        seen.losses = case.train(model, batches(), device_type="cpu")
    return seen
