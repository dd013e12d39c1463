import torch
from peft import LoraConfig, PeftModel
from transformers import AutoModelForCausalLM
from trl import GRPOConfig, GRPOTrainer


def main(args, data, reward):
    model = AutoModelForCausalLM.from_pretrained(args.path, torch_dtype=torch.bfloat16)
    if args.adapter:
        tuned = PeftModel.from_pretrained(model, args.adapter)
        model = tuned.merge_and_unload()
    model.gradient_checkpointing_enable()
    lora = LoraConfig(r=16, task_type="CAUSAL_LM")
    arguments = GRPOConfig(output_dir="out")
    GRPOTrainer(model=model, args=arguments, reward_funcs=reward, train_dataset=data, peft_config=lora).train()
