import numpy as np
import torch


def evaluate(net, batches):
    scores, labels = [], []
    for x, y in batches:
        logits = net(x.to(torch.bfloat16)).to(torch.bfloat16)
        scores.append(logits.float().cpu().numpy())
        labels.append(logits.argmax(dim=-1).numpy())
        labels.append((logits > 0).numpy())
        labels.append(y.numpy())
        print(logits.to(torch.float32).numpy(), logits.double().numpy(), logits.half().numpy(), logits.tolist())
        print(logits.softmax(-1, dtype=torch.float32).numpy(), logits.mean().item(), logits.shape)
    return np.concatenate(scores), np.array([score.mean() for score in scores]), labels


def stored_as_integers(net):
    """What writes files in 16 bits has them as integers."""
    weights = {name: value.to(torch.bfloat16) for name, value in net.state_dict().items()}
    bias = torch.zeros(4, dtype=torch.bfloat16)
    return [value.view(torch.int16).numpy() for value in weights.values()], bias.view(dtype=torch.int16).numpy()


def bound_anew(x):
    x = x.bfloat16()
    x = x.float()
    return x.numpy()


def either(x, low):
    y = x.bfloat16() if low else x.float()
    return y.numpy()


def of_a_type(x, dtype=torch.bfloat16):
    return x.to(dtype).numpy()


def tested(x):
    x = x.to(torch.bfloat16)
    if x.dtype == torch.bfloat16:
        x = x.float()
    return x.numpy()


def tested_in_place(x):
    x = x.to(torch.bfloat16)
    return x.float().numpy() if x.dtype == torch.bfloat16 else x.numpy()


def left_early(x):
    x = x.to(torch.bfloat16)
    if x.dtype == torch.bfloat16:
        return x.float().numpy()
    return x.numpy()


def caught(x):
    x = x.to(torch.bfloat16)
    try:
        return x.numpy()
    except TypeError:
        return x.float().numpy()


DTYPE = torch.bfloat16


def choose():
    global DTYPE
    DTYPE = torch.float32


def of_a_setting(x):
    return x.to(DTYPE).numpy()
