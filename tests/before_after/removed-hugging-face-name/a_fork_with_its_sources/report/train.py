import os
import sys

sys.path.append(os.path.join(os.getcwd(), "peft/src/"))
from peft import BottleneckConfig, get_peft_model, prepare_model_for_int8_training


def adapted(model):
    return get_peft_model(prepare_model_for_int8_training(model), BottleneckConfig())
