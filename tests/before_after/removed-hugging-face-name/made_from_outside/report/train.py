from speech import Encoder


def prepared(config):
    model = Encoder(config)
    model.freeze_feature_extractor()
    return model
