# fixer: upgrade=peft@0.21.2
from peft import set_peft_model_state_dict


def resume(model, state):
    set_peft_model_state_dict(model, state)
    model = set_peft_model_state_dict(model, state)
    return model
