import torch
import transformers

transformers.__dict__.setdefault("AdamW", torch.optim.AdamW)
