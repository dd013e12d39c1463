import contextlib
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
import train


@contextlib.contextmanager
def cpu_half():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        yield


@pytest.fixture
def on_cpu(monkeypatch):
    for name, stand_in in {"autocast": cpu_half, "GradScaler": lambda: torch.amp.GradScaler("cpu")}.items():
        monkeypatch.setattr(f"train.{name}", stand_in)


def test_loss_falls(on_cpu):
    torch.manual_seed(0)
    x = torch.randn(16, 4)
    batches = [(x, x.sum(1, keepdim=True))] * 30
    model = torch.nn.Linear(4, 1)
    assert train.train(model, batches, device="cpu") < 0.5
