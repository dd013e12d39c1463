from peft import LoraConfig, PeftModel
from trl import SFTTrainer

config = LoraConfig(r=8)


def main(base, path, args, data):
    model = PeftModel.from_pretrained(base, path)
    for name, parameter in model.named_parameters():
        parameter.requires_grad = "lora_" in name
    SFTTrainer(model, args=args, train_dataset=data).train()
