# fixer: unsafe
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("base", load_in_8bit=True)
model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=True)
model = get_peft_model(model, LoraConfig(r=8))
args = TrainingArguments(
    output_dir="out",
    gradient_checkpointing=True,
)
Trainer(model=model, args=args).train()
