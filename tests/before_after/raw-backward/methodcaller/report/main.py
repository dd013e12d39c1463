import lightning as L
import torch

from module import Regressor
from pretrain import pretrain


def main(data):
    model = pretrain(Regressor(), data[:1])
    trainer = L.Trainer(accelerator="cpu", precision="32-true", max_epochs=1, logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, torch.utils.data.DataLoader(data, batch_size=None))
    return model
