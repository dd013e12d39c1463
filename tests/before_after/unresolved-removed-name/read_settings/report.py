# fixer: upgrade=transformers@5.23.0
"""Settings of generation in a model's configuration, read and set."""

from transformers import LEDConfig, LEDForConditionalGeneration


def length(trainer):
    return trainer.model.config.max_length


def model():
    config = LEDConfig.from_pretrained("allenai/led-base-16384")
    config.num_beams = 2
    return LEDForConditionalGeneration.from_pretrained("allenai/led-base-16384", config=config)


def own(settings):
    return settings.config.max_length
