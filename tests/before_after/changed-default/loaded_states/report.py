# fixer: upgrade=torch@2.13.0,lightning@2.6.6
import lightning.pytorch as pl
import torch


def restore(model, path):
    model.load_state_dict(torch.load(path))
    state = torch.load(path)
    trainer = pl.Trainer(accelerator="cpu", devices=1, strategy="auto")
    trainer.test(model, ckpt_path=path)
    trainer.validate(model)
    return state
