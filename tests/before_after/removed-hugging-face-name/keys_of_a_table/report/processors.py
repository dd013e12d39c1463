from transformers import ConvNextFeatureExtractor, DeiTFeatureExtractor, ViTFeatureExtractor

PROCESSORS = {kind.__name__: kind for kind in (ViTFeatureExtractor, DeiTFeatureExtractor, ConvNextFeatureExtractor)}


def build(name, checkpoint):
    return PROCESSORS[name].from_pretrained(checkpoint)
