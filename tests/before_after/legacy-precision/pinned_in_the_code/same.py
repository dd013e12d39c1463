"""The image in which the function runs has its own releases."""

import modal
import pytorch_lightning as pl

image = modal.Image.debian_slim().pip_install("torch==2.0.1", "pytorch-lightning==1.9.5")
app = modal.App("fit", image=image)


@app.function(gpu="T4")
def fit(module, loader):
    pl.Trainer(accelerator="gpu", devices=1, precision=16).fit(module, loader)
