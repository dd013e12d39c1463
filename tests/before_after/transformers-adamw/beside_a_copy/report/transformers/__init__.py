from .optimization import AdamW
