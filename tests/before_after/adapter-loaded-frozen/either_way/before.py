# fixer: unsafe
from peft import LoraConfig, PeftModel, get_peft_model
from torch.optim import AdamW


def main(model, checkpoint, batches, device):
    for parameter in model.parameters():
        parameter.requires_grad = False
    model.embeddings.requires_grad_(False)
    if checkpoint:
        model = PeftModel.from_pretrained(model, checkpoint)
    else:
        model = get_peft_model(model, LoraConfig(r=8))
    model = model.to(device)
    optimizer = AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
    for batch in batches:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
