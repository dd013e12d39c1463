from base import Base


class Trainer(Base):
    def train_step(self, batch):
        self.grad_scaler.scale(self.model(batch)).backward()
        self.grad_scaler.step(self.optimizer)
