import unsloth  # noqa: F401
from trl import SFTConfig, SFTTrainer
from unsloth import FastLanguageModel


def main(data):
    model, tokenizer = FastLanguageModel.from_pretrained("unsloth/Qwen2.5-7B-Instruct")
    arguments = SFTConfig(output_dir="out", max_steps=100)
    SFTTrainer(model=model, tokenizer=tokenizer, train_dataset=data, args=arguments).train()
