from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training


def right(model, reference):
    model = prepare_model_for_kbit_training(model)
    model = get_peft_model(model, LoraConfig())
    reference = prepare_model_for_kbit_training(reference)
    return model, reference


def anew(model, load):
    model = get_peft_model(model, LoraConfig())
    model = load()
    model = prepare_model_for_kbit_training(model)
    return model


def either(model, adapt):
    if adapt:
        model = get_peft_model(model, LoraConfig())
    else:
        model = prepare_model_for_kbit_training(model)
    return model
