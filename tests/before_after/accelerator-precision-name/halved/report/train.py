import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator(mixed_precision="float16")
model = nn.Linear(8, 8).to(dtype=torch.float16)
model = accelerator.prepare(model)
