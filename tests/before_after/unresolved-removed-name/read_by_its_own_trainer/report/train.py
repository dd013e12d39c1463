from trainer import Trainer
from transformers import AutoModel


def main():
    model = AutoModel.from_pretrained("gpt2")
    model.is_parallelizable = True
    model.model_parallel = True
    return Trainer(model)
