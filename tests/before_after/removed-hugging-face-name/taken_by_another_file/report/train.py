from models import prepare_model_for_int8_training


def build(model):
    return prepare_model_for_int8_training(model, layer_norm_names=["norm"])
