from transformers import AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel


class Config(PreTrainedConfig):
    model_type = "bytes"


class Bytes(PreTrainedModel):
    config_class = Config
    accepts_loss_kwargs = False


AutoModelForCausalLM.register(Config, Bytes)
