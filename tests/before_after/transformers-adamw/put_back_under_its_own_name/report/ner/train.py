from transformers import AdamW


def optimizer(model):
    return AdamW(model.parameters(), lr=5e-5, correct_bias=False)
