import torch
from peft import LoraConfig, get_peft_model


class Training:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 10)
        self.model = get_peft_model(self.model, LoraConfig())
        self.steps = [self.optimizer, self.scheduler]
