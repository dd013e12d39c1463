from peft import PeftModel
from transformers import AutoModelForCausalLM, GPT2Config, GPT2Model


def reward_model(pretrained=None, checkpoint=False):
    if pretrained is not None:
        base = AutoModelForCausalLM.from_pretrained("gpt2")
        model = PeftModel.from_pretrained(base, pretrained)
    else:
        model = GPT2Model(GPT2Config())
    if checkpoint:
        model.gradient_checkpointing_enable()
    return model
