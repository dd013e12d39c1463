"""A classification head on the decoder states of T5, trained by Lion."""

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import Optimizer
from transformers import T5ForConditionalGeneration


class Lion(Optimizer):
    def __init__(self, params, lr: float = 1e-4, betas: tuple[float, float] = (0.9, 0.99)):
        super().__init__(params, {"lr": lr, "betas": betas})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()

        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["momentum"] = torch.zeros_like(p)
                momentum = state["momentum"]
                p.add_(momentum.lerp(p.grad, 1 - beta1).sign_(), alpha=-group["lr"])
                momentum.lerp_(p.grad, 1 - beta2)
        return loss


class T5Classifier(pl.LightningModule):
    def __init__(self, name: str = "t5-small", num_labels: int = 4, lr: float = 1e-4):
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = False
        self.t5 = T5ForConditionalGeneration.from_pretrained(name)
        self.classifier = nn.Linear(self.t5.config.d_model, num_labels)

    def forward(self, input_ids):
        start = torch.full_like(input_ids[:, :1], self.t5.config.decoder_start_token_id)
        outputs = self.t5(input_ids=input_ids, decoder_input_ids=start, output_hidden_states=True)
        return self.classifier(outputs.decoder_hidden_states[-1][:, 0])

    def training_step(self, batch, batch_idx):
        input_ids, labels = batch
        optimizer = self.optimizers()

        def closure():
            optimizer.zero_grad()
            loss = F.cross_entropy(self(input_ids), labels)
            self.manual_backward(loss)
            return loss

        self.log("train_loss", optimizer.step(closure=closure), prog_bar=True)

    def configure_optimizers(self):
        return Lion(self.parameters(), lr=self.hparams.lr)
