import json

import transformers
from transformers import CLIPFeatureExtractor

import processors

processors.register(CLIPFeatureExtractor)


def main(model, images, optimizer):
    processor = processors.build(json.load(open("config.json")))
    for image in images:
        loss = model(**processor(image, return_tensors="pt")).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
