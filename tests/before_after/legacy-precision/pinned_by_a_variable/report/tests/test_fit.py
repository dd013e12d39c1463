import torch
from torch.utils.data import DataLoader, TensorDataset

from tabnets.fit import fit


def test_fit():
    data = TensorDataset(torch.randn(16, 8), torch.randn(16, 1))
    assert fit(DataLoader(data, batch_size=4))
