from app import ManualModule


class Autoencoder(ManualModule):
    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        loss = self(batch[0]).mean()
        self.descend(loss, optimizer)
        penalty = self(batch[0]).norm()
        penalty.backward()
        optimizer.step()


class Both(Autoencoder):
    automatic_optimization = True
