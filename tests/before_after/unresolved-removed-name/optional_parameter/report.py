# fixer: upgrade=lightning@2.6.6 target=lightning>=1.5
"""A parameter that a hook is given only where there are several loaders."""

import lightning.pytorch as pl


class Report(pl.Callback):
    def on_validation_batch_end(self, trainer, module, outputs, batch, batch_idx, dataloader_idx):
        print(batch_idx, dataloader_idx)

    def on_test_batch_end(self, trainer, module, outputs, batch, batch_idx, dataloader_idx=0):
        print(batch_idx, dataloader_idx)


class Own:
    def on_validation_batch_end(self, trainer, module, outputs, batch, batch_idx, dataloader_idx):
        print(batch_idx, dataloader_idx)
