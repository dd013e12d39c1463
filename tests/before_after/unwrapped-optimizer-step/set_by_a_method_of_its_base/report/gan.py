import torch
from base import Base


class Gan(Base):
    def configure(self):
        self.automatic_optimization = False
        self.maker, self.judge = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        maker, judge = self.optimizers(use_pl_optimizer=False)
        self.manual_backward(-self.judge(self.maker(batch)).mean())
        maker.step()
        maker.zero_grad()
        self.manual_backward(self.judge(self.maker(batch).detach()).mean() - self.judge(batch).mean())
        judge.step()
        judge.zero_grad()

    def configure_optimizers(self):
        return [torch.optim.Adam(each.parameters(), lr=1e-4) for each in (self.maker, self.judge)]
