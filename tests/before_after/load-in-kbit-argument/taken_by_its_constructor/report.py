import torch
from torch import nn
from transformers import PretrainedConfig, PreTrainedModel


class ScorerConfig(PretrainedConfig):
    model_type = "scorer"

    def __init__(self, width=64, **kwargs):
        super().__init__(**kwargs)
        self.width = width


class Scorer(PreTrainedModel):
    config_class = ScorerConfig

    def __init__(self, config, load_in_8bit=False):
        super().__init__(config)
        self.levels = 255 if load_in_8bit else None
        self.net = nn.Sequential(nn.Linear(config.width, config.width), nn.ReLU(), nn.Linear(config.width, 1))
        self.post_init()

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)

    def forward(self, x):
        if self.levels is not None:
            x = x + ((x * self.levels).round() / self.levels - x).detach()
        return self.net(x).squeeze(-1)



def main():
    return Scorer.from_pretrained("scorer", load_in_8bit=True)
