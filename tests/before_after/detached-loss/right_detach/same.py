import pytest
import torch
from torch.nn.utils.rnn import PackedSequence


def wrapped(loss_tensor, batch_sizes, model, data):
    # the tensor of a PackedSequence (or a funsor) is called `data`
    loss = PackedSequence(loss_tensor, batch_sizes)
    loss.data.backward()
    model(data).data.backward()


def partly(log_prob, advantage, loss, penalty):
    (log_prob * advantage.detach()).mean().backward()
    (loss / loss.detach()).backward()
    (loss + penalty.detach()).backward()
    (loss.detach() * log_prob).backward()


def by_hand(model, gradient, layer):
    # a hand-written network, which takes the gradient of its output
    model.backward(gradient.detach())
    layer.model.backward(gradient.item())


def split_learning(head, features, y):
    cut = features.detach().requires_grad_()
    loss = torch.nn.functional.mse_loss(head(cut), y)
    loss.backward()
    features.backward(cut.grad)


def made_a_leaf(loss):
    cut = loss.detach()
    cut.requires_grad = True
    cut.backward()


def expected(loss):
    with pytest.raises(RuntimeError):
        loss.detach().backward()
    try:
        loss.detach().backward()
    except RuntimeError as error:
        print(error)


def conditionally(loss, frozen):
    if frozen:
        loss = loss.detach()
    loss.backward()


def logged(loss):
    value = loss.detach()
    loss.backward()
    return value, loss.item()
