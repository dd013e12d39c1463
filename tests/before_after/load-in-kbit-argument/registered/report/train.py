import compact  # noqa: F401
from transformers import AutoModel

model = AutoModel.from_pretrained("compact-base", load_in_8bit=True)
