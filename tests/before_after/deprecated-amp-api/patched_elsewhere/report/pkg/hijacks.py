import torch


def hijack():
    torch.cuda.amp.autocast = torch.xpu.amp.autocast
