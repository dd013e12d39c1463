import torch

import models


def build(kind):
    loader = getattr(models, "AutoModelForVision2Seq")
    name = models.REGISTRY[kind]
    return loader.from_pretrained(name), models.AutoProcessor.from_pretrained(name)


def train(samples, kind="vlm", lr=1e-5):
    model, processor = build(kind)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    for images, text in samples:
        inputs = processor(images=images, text=text, return_tensors="pt")
        optimizer.zero_grad()
        loss = model(**inputs, labels=inputs["input_ids"]).loss
        loss.backward()
        optimizer.step()
    return model
