import torch
from launch import Accelerator


def main(model, loader):
    accelerator = Accelerator(mixed_precision="bfloat16", cpu=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    accelerator.print(accelerator.mixed_precision, loss.item())


if __name__ == "__main__":
    xs = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    main(torch.nn.Linear(4, 1), torch.utils.data.DataLoader(xs, batch_size=8))
