# fixer: unsafe strategy=input-grads
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def main(dataset):
    model = AutoModelForCausalLM.from_pretrained("base")
    model = get_peft_model(model, LoraConfig(r=8))
    args = TrainingArguments("out", gradient_checkpointing=True, gradient_checkpointing_kwargs={"use_reentrant": True})
    Trainer(model=model, args=args, train_dataset=dataset).train()
