from groups import grouped
from transformers import AdamW, BertForSequenceClassification, get_constant_schedule_with_warmup


def main(loader, folder, lr=2e-5):
    model = BertForSequenceClassification.from_pretrained(folder)
    optimizer = AdamW(grouped(model, decay=0.01), lr=lr, no_deprecation_warning=True)
    schedule = get_constant_schedule_with_warmup(optimizer, 100)
    model.train()
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return model
