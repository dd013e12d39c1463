from torch import nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel


class CompactConfig(PretrainedConfig):
    model_type = "compact-encoder"


class CompactEncoder(PreTrainedModel):
    config_class = CompactConfig

    def __init__(self, config, load_in_8bit=False):
        super().__init__(config)
        self.eight_bits, self.every = load_in_8bit, 0
        self.layer = nn.Linear(8, 8)
        self.post_init()

    def gradient_checkpointing_enable(self, every=2):
        self.every = every


AutoConfig.register("compact-encoder", CompactConfig)
AutoModel.register(CompactConfig, CompactEncoder)
