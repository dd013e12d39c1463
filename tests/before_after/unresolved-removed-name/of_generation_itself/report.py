# fixer: upgrade=transformers@5.23.0
from transformers import GenerationConfig


def settings(model):
    config = GenerationConfig(temperature=0.2)
    config.repetition_penalty = 1.2
    config.output_scores = True
    return model.generate(generation_config=config)
