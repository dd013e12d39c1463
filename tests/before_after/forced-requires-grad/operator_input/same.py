"""The test of an operator differentiates with respect to its input: the input is a leaf, and no loss."""

import torch
from inputs import load


def test_identity(shape):
    x = load(shape)
    x.requires_grad_()
    x.sum().backward()
    assert x.shape == shape


def test_view(make):
    value = make()
    value.requires_grad = True
    value.mean().backward()
