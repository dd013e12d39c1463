from transformers import AdamW
