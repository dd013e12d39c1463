# fixer: unsafe
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def main(dataset):
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2-0.5B")
    model = get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj", "v_proj"]))
    args = TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=4,
        gradient_checkpointing=True,
        bf16=True,  # Ampere or newer
    )
    Trainer(model=model, args=args, train_dataset=dataset).train()
