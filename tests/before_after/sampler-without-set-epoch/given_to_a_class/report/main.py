import torch
from data import build_loader
from engine import Trainer


def main(cfg, model, train_set, val_set):
    loader = build_loader(cfg, train_set)
    val = build_loader(cfg, val_set, is_train=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    trainer = Trainer(cfg, model, optimizer, loader, val)
    trainer.fit()
