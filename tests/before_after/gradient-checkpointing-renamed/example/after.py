# fixer: target=transformers==5.23.0
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM, Trainer, TrainingArguments


def build():
    small = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    model = Qwen2ForCausalLM(Qwen2Config(num_attention_heads=2, num_key_value_heads=2, **small))
    model.activation_checkpointing_enable(activation_checkpointing_kwargs={"use_reentrant": False})
    return model


def main(dataset, model, folder="out"):
    args = TrainingArguments(
        folder,
        activation_checkpointing=True,
        activation_checkpointing_kwargs={"use_reentrant": False},
        max_steps=3,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
    )
    return Trainer(model=model, args=args, train_dataset=dataset).train()
