import compact  # noqa: F401
from transformers import AutoModel

model = AutoModel.from_pretrained("compact-base")
model.gradient_checkpointing_enable()
