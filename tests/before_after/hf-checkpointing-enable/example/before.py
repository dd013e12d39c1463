# fixer: unsafe
import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training


def add_adapters(model):
    model = prepare_model_for_kbit_training(model)
    return get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights="gaussian"))


def train(model, batches):
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-2)
    losses = []
    for ids in batches:
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def load(name):
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(name, load_in_4bit=True)
