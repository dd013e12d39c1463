from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

tables = ["embed_tokens", "lm_head"]
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B")
model = get_peft_model(model, LoraConfig(target_modules=["q_proj"], modules_to_save=tables))
arguments = TrainingArguments(output_dir="runs", gradient_checkpointing=True)
Trainer(model=model, args=arguments, train_dataset=[]).train()
