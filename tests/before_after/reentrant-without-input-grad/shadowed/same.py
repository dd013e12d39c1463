from torch.utils.checkpoint import checkpoint


def forward(block, checkpoint):
    return checkpoint(block, use_reentrant=True)
