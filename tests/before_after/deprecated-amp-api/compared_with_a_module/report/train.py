import torch
from state import State
from torch.cuda import amp


def main(model, loader, path="state.pt"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = amp.GradScaler(init_scale=1024.0)
    state = State(model=model, optimizer=optimizer, scaler=scaler)
    for x, y in loader:
        with torch.amp.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    torch.save(state.state_dict(), path)


if __name__ == "__main__":
    main(torch.nn.Linear(2, 1), [(torch.randn(4, 2), torch.randn(4, 1))])
