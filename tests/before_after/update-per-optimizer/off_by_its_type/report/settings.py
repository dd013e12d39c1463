import torch

AMP_DTYPE = torch.bfloat16  # fp16 overflowed in the discriminator
LR = 2e-4
