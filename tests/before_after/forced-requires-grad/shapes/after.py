# fixer: unsafe
import torch
import torch.nn.functional as F
from transformers import Trainer


def train(model, criterion, optimizer, scaler, batch, device):
    logits_images, logits_texts = model(**batch)
    loss = criterion(logits_images, logits_texts)
    loss.backward(retain_graph=True)

    focal_loss = criterion(logits_images).to(device)
    focal_loss.backward()

    generated = model.generate(**batch)
    loss = F.cross_entropy(generated.float().argmax(-1).float(), batch["labels"])
    scaler.scale(loss / 4).backward()

    loss = criterion(generated)
    print(loss.requires_grad)
    loss.backward()


def one_step(loss, optimizer):
    loss.backward()


class GAN:
    def discriminate(self, real, fake):
        self.real_loss = self.criterion(real, self.valid)
        self.real_loss.backward()


class Rewarded(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        outputs = model(**inputs)
        loss = self.score(outputs)
        return (loss, outputs) if return_outputs else loss
