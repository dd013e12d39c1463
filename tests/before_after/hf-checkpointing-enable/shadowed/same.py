from peft import prepare_model_for_kbit_training


def build(model, prepare_model_for_kbit_training=lambda model: model):
    return prepare_model_for_kbit_training(model)
