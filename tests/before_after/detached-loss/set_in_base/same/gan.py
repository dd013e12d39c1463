from base import Base


class Gan(Base):
    def training_step(self, batch, batch_idx):
        loss = self.generator_loss(batch)
        self.update(loss)
        return loss.detach()
