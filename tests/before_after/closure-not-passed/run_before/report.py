import lightning as L


class Shared(L.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer.step()


class Heir(Shared):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer_closure()
        super().optimizer_step(epoch, batch_idx, optimizer, None)
