import torch
from model import Net
from trainer import Trainer

if __name__ == "__main__":
    Trainer(Net(), torch.randn(8, 4, 8)).run()
