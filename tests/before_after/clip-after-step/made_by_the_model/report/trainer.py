import torch


class Trainer:
    def __init__(self, model, batches):
        self.model = model.to("cpu")
        self.batches = batches
        self.optimizer = None

    def run(self):
        model, batches = self.model, self.batches
        self.optimizer = model.configure_optimizers(1e-3)
        model.train()
        for x in batches:
            self.loss = model(x)
            model.zero_grad(set_to_none=True)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            self.loss.backward()
            self.optimizer.step()
