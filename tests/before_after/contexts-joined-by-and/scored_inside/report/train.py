import torch
from score import saliency


def report(model, batches):
    model.eval()
    rows = []
    for x in batches:
        with torch.no_grad() and torch.autocast("cpu", dtype=torch.bfloat16):
            rows.append(saliency(model, x))
    return torch.cat(rows)


if __name__ == "__main__":
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    print(report(net, [torch.randn(4, 8) for _ in range(3)]).mean(0))
