import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader


class Gcn(L.LightningModule):
    def __init__(self, features=16, hidden=32, classes=4, lr=0.05):
        super().__init__()
        self.save_hyperparameters()
        self.first = nn.Linear(features, hidden)
        self.second = nn.Linear(hidden, classes)

    def forward(self, x, adj):
        return adj @ self.second(F.relu(adj @ self.first(x)))

    def training_step(self, graph, batch_idx):
        x, adj, y, mask = graph
        return F.cross_entropy(self(x, adj)[mask], y[mask])

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, self.hparams.lr, total_steps=self.trainer.estimated_stepping_batches + 1
        )
        return [optimizer], [schedule]


def whole_graph(nodes=100):
    adj = (torch.rand(nodes, nodes) < 0.1).float() + torch.eye(nodes)
    adj = adj / adj.sum(1, keepdim=True)
    graph = torch.randn(nodes, 16), adj, torch.randint(0, 4, (nodes,)), torch.rand(nodes) < 0.5
    return DataLoader([graph], batch_size=None)


trainer = L.Trainer(max_epochs=30, accelerator="cpu", logger=False, enable_checkpointing=False, log_every_n_steps=1)
trainer.fit(Gcn(), whole_graph())
