class AdamW:
    pass
