import torch
from runner import lesson


@lesson
def forgotten_call():
    model = torch.nn.Linear(2, 1)
    with torch.no_grad:
        return model(torch.ones(1, 2))
