import torch
import torch.nn.functional as F
from apex import amp


def train(args, model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in batches:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        model.zero_grad()
        optimizer.step()
