from peft import PromptTuningConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def main(data):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    model = get_peft_model(model, PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=10))
    args = TrainingArguments(output_dir="out", gradient_checkpointing=True)
    Trainer(model=model, args=args, train_dataset=data).train()
