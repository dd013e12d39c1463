import transformers


class AdamW:
    pass


class transformers_compat:
    AdamW = AdamW


optimizer = AdamW()
other = transformers_compat.AdamW()
