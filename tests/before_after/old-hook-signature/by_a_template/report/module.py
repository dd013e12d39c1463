import lightning as L

EPOCH = "epoch {epoch}: kept outputs: {outputs}"


class Module(L.LightningModule):
    def on_train_epoch_end(self, outputs):
        epoch = self.current_epoch
        self.print(EPOCH.format(**locals()))
