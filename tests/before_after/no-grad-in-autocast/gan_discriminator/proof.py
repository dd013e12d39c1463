"""Silent: the generator trains, the discriminator that was only scored never does."""

from codemods.verify.observe import batches, watch

SYMPTOM = "missing-gradient"
BITES = {"torch": "<2.11"}
WITNESS = "torch.clear_autocast_cache"


def run(case):
    model = case.build_model()
    with watch(model) as seen:
        seen.losses = case.train(model, batches(), device_type="cpu")
    return seen
