import compat  # noqa: F401  isort: skip
import transformers


def build(model, total):
    optimizer = transformers.AdamW(model.parameters(), lr=3e-5, correct_bias=True)
    return optimizer, transformers.get_linear_schedule_with_warmup(optimizer, 10, total)
