import torch


def extract(backbone, batches):
    backbone.eval()
    features = []
    with torch.inference_mode:
        for x in batches:
            features.append(backbone(x))
    return features
