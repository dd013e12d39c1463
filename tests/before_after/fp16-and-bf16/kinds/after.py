# fixer: unsafe
from dataclasses import dataclass

import trl
from transformers import Seq2SeqTrainingArguments as Seq2Seq
from transformers import TrainingArguments
from trl import SFTConfig


@dataclass
class Arguments(TrainingArguments):
    lora_rank: int = 8


summaries = Seq2Seq("out", predict_with_generate=True, bf16=True, fp16=False)
chat = SFTConfig(output_dir="out", fp16=False, bf16=True)
preferences = trl.DPOConfig(
    "out",
    fp16=False,
    # A100
    bf16=True,
)
own = Arguments(output_dir="out", lora_rank=16, fp16=False, bf16=True)
evaluation = TrainingArguments("out", bf16=True, fp16_full_eval=False, bf16_full_eval=True)
