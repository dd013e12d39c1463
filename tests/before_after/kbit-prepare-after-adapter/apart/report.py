from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM


def main(name, quantization):
    model = AutoModelForCausalLM.from_pretrained(name, quantization_config=quantization)
    model = get_peft_model(model, LoraConfig())
    model.print_trainable_parameters()
    model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
    return model
