import deepspeed
import torch.utils.checkpoint

torch.utils.checkpoint.checkpoint = deepspeed.checkpointing.checkpoint


def forward(block, x):
    return torch.utils.checkpoint.checkpoint(block, x)
