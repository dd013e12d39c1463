import lightning as L
import yaml
from memory import plan

with open("config.yaml") as file:
    config = yaml.safe_load(file)
batch = plan(256, **config["trainer"])
trainer = L.Trainer(**config["trainer"])
