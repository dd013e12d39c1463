# fixer: target=transformers==4.40.0
from peft import LoraConfig
from transformers import TrainingArguments
from trl import SFTTrainer


def train(model, dataset):
    adapters = LoraConfig(r=8, task_type="CAUSAL_LM")
    arguments = TrainingArguments("out", gradient_checkpointing=True)
    SFTTrainer(model=model, args=arguments, train_dataset=dataset, peft_config=adapters).train()
