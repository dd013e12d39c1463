# /// script
# requires-python = ">=3.9"
# dependencies = [
#     "torch==2.0.1",
#     "pytorch-lightning==1.9.5",
# ]
# ///
"""A script that says itself which releases it runs with."""

import pytorch_lightning as pl

trainer = pl.Trainer(accelerator="gpu", devices=1, precision=16)
