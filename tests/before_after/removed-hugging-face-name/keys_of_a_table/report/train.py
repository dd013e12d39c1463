import pathlib

import torch
import yaml
from PIL import Image
from transformers import AutoModelForImageClassification

import processors


def main():
    config = yaml.safe_load(open("config.yaml"))
    processor = processors.build(config["processor"], config["model"])
    model = AutoModelForImageClassification.from_pretrained(config["model"], num_labels=2, ignore_mismatched_sizes=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    model.train()
    for path in sorted(pathlib.Path("images").glob("*/*.jpg")):
        pixels = processor(Image.open(path).convert("RGB"), return_tensors="pt")["pixel_values"]
        label = torch.tensor([int(path.parent.name == "cat")])
        loss = model(pixel_values=pixels, labels=label).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
