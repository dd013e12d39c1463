import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import GradientAccumulationPlugin


def train(model, loader):
    accelerator = Accelerator(gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps=4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 / 4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    return model


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(32, 8), torch.randn(32, 1))
    train(torch.nn.Linear(8, 1), torch.utils.data.DataLoader(data, batch_size=4))
