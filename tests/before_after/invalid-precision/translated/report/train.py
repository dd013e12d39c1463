import lightning as L
import yaml

SPELLINGS = {"fp16_mixed": "16-mixed", "bf16_mixed": "bf16-mixed"}


def translated(section):
    return {key: SPELLINGS[value] if key == "precision" else value for key, value in section.items()}


with open("config.yaml") as file:
    config = {name: translated(section) for name, section in yaml.safe_load(file).items()}
trainer = L.Trainer(**config["trainer"])
