import lightning as L
import torch
from sklearn.metrics import roc_auc_score


class Detector(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)

    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        x, y = batch
        scores = self.net(x)
        self.log("auc", roc_auc_score(y.cpu().numpy(), scores.cpu().numpy()))
        return torch.nn.functional.mse_loss(scores, y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
