from peft import LoraConfig, get_peft_model
from somewhere import *


def shadow(model, prepare_model_for_kbit_training):  # shadow: a parameter of that name
    model = get_peft_model(model, LoraConfig())
    model = prepare_model_for_kbit_training(model)
    return model


def star(model):
    model = get_peft_model(model, LoraConfig())
    model = prepare_for_training(model)  # star: nobody knows what the import brings
    return model


def splat(*args):
    from peft import prepare_model_for_kbit_training as prepare

    model = get_peft_model(*args)
    prepared = prepare(*args)  # splat: nobody knows which model
    return model, prepared


def keyword(model, **options):
    from peft import prepare_model_for_kbit_training as prepare

    model = get_peft_model(model, LoraConfig())
    return prepare(**options), model  # keyword: the same
