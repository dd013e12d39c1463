LEVELS = {"fp32": "32-true", "amp": "16-mixed", "amp-bf16": "bf16-mixed"}


def resolve(section):
    for key in section:
        value = section[key]
        if key.startswith("prec"):
            section[key] = LEVELS[value]
