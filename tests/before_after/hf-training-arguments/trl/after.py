# fixer: unsafe target=trl==0.9.6
from trl import DPOConfig
from trl.trainer.sft_config import SFTConfig

sft = SFTConfig(output_dir="sft", gradient_checkpointing=True, gradient_checkpointing_kwargs={"use_reentrant": False})
dpo = DPOConfig(
    output_dir="dpo", gradient_checkpointing=True, gradient_checkpointing_kwargs={"use_reentrant": False}
)


def adapted(model):
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(target_modules="all-linear"))
