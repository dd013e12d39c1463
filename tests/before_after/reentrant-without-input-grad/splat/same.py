from torch.utils.checkpoint import checkpoint


def forward(block, inputs, options):
    x = checkpoint(block, *inputs, use_reentrant=True)
    return checkpoint(block, use_reentrant=True, **options), x
