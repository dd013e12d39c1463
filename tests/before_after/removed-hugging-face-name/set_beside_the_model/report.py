# fixer: target=transformers==5.23.0
from transformers import AutoConfig, AutoModelForCausalLM, T5ForConditionalGeneration


def longer(name):
    config = AutoConfig.from_pretrained(name)
    config.rope_scaling = {"type": "linear", "factor": 2.0}
    return AutoModelForCausalLM.from_pretrained(name, config=config)


def spread(name):
    model = T5ForConditionalGeneration.from_pretrained(name)
    model.parallelize()
    return model
