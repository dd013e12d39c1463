import torch
import torch.nn.functional as F
from torch.autograd import Variable


def train(model, x, y, optimizer):
    # repaired, the second pass would miss the graph of `prediction`, which the first one frees
    prediction = model(x)
    near = Variable(F.mse_loss(prediction, y), requires_grad=True)
    far = Variable(F.l1_loss(prediction, y), requires_grad=True)
    near.backward()
    far.backward()
    optimizer.step()


def shapes_by_position(model, x, y):
    torch.tensor([F.mse_loss(model(x), y, None, None, "none"), F.l1_loss(model(x), y)]).sum().backward()
