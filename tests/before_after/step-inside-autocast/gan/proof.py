"""The generator's loss goes through the discriminator that was just stepped, in Lightning's own region."""

import torch
import torch.nn.functional as F

from codemods.verify.observe import batches, fit, watch

SYMPTOM = "differs"
TOLERANCE = 0.1  # without a cache, gradients are summed in another order
BITES = {"lightning": "<2.5.5"}
WITNESS = "torch.clear_autocast_cache"


def run(case):
    torch.manual_seed(3)
    return fit(case.GAN(), batches(), precision="bf16-mixed")


def reference(case):
    """The same training with a region around each pass."""
    torch.manual_seed(3)
    module = case.GAN()
    generator, discriminator = module.generator, module.discriminator
    (opt_g, opt_d), _ = module.configure_optimizers()
    with watch(module) as seen:
        for real, _ in batches():
            with torch.autocast("cpu", dtype=torch.bfloat16):
                fake = generator(torch.ones_like(real))
            with torch.autocast("cpu", dtype=torch.bfloat16):
                score = F.softplus(-discriminator(real)).mean()
                d_loss = score + F.softplus(discriminator(fake.detach())).mean()
            opt_d.zero_grad()
            d_loss.backward()
            opt_d.step()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                g_loss = F.softplus(-discriminator(fake)).mean()
            opt_g.zero_grad()
            g_loss.backward()
            opt_g.step()
            seen.losses += [d_loss.item(), g_loss.item()]
    return seen
