import torch
from engine import Engine

if __name__ == "__main__":
    model = torch.nn.Linear(4, 1)
    engine = Engine()
    engine.fit(model, torch.optim.SGD(model.parameters(), lr=0.1), [(torch.randn(8, 4), torch.randn(8, 1))] * 4)
