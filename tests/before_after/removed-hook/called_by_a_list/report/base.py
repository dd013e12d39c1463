import lightning as L


class BaseModule(L.LightningModule):
    after_batch = ("training_step_end",)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        for name in self.after_batch:
            getattr(self, name)(outputs)
