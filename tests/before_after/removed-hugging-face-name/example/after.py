# fixer: target=peft==0.21.2,transformers==5.23.0
import torch
from peft import LoraConfig, get_peft_model
from peft import prepare_model_for_kbit_training


def main(model, batches):
    model = prepare_model_for_kbit_training(model)
    model = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj"]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for ids in batches:
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return model, losses
