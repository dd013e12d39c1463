"""A classification head on the decoder of T5."""

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers import AdamW, T5ForConditionalGeneration, get_linear_schedule_with_warmup


class T5Classifier(pl.LightningModule):
    def __init__(self, name: str = "t5-small", num_labels: int = 4, lr: float = 3e-4, warmup: int = 500):
        super().__init__()
        self.save_hyperparameters()
        self.t5 = T5ForConditionalGeneration.from_pretrained(name)
        self.dropout = nn.Dropout(0.1)
        self.classifier = nn.Linear(self.t5.config.d_model, num_labels)

    def forward(self, input_ids, attention_mask):
        start = torch.full_like(input_ids[:, :1], self.t5.config.decoder_start_token_id)
        outputs = self.t5(
            input_ids=input_ids,
            attention_mask=attention_mask,
            decoder_input_ids=start,
            output_hidden_states=True,
        )
        return self.classifier(self.dropout(outputs.decoder_hidden_states[-1][:, 0]))

    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        logits = self(batch["input_ids"], batch["attention_mask"])
        loss = F.cross_entropy(logits, batch["labels"])
        accuracy = (logits.argmax(-1) == batch["labels"]).float().mean()
        self.log_dict({"train_loss": loss, "train_accuracy": accuracy}, prog_bar=True)
        return {"loss": loss.detach(), "accuracy": accuracy}

    def validation_step(self, batch, batch_idx):
        logits = self(batch["input_ids"], batch["attention_mask"])
        self.log("val_loss", F.cross_entropy(logits, batch["labels"]))

    def configure_optimizers(self):
        no_decay = ("bias", "layer_norm.weight")
        decayed = [p for n, p in self.named_parameters() if not n.endswith(no_decay)]
        others = [p for n, p in self.named_parameters() if n.endswith(no_decay)]
        groups = [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
        optimizer = AdamW(groups, lr=self.hparams.lr)
        scheduler = get_linear_schedule_with_warmup(
            optimizer, self.hparams.warmup, self.trainer.estimated_stepping_batches
        )
        return [optimizer], [{"scheduler": scheduler, "interval": "step"}]
