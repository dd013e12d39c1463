import torch
import torch.nn.functional as F
from accelerate import Accelerator


def main():
    accelerator = Accelerator(gradient_accumulation_steps=4)
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    rows = torch.utils.data.TensorDataset(torch.randn(512, 8), torch.randn(512, 1))
    model, optimizer, loader = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(rows, 32))
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    accelerator.print(loss.item())


if __name__ == "__main__":
    main()
