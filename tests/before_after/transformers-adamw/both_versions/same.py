import importlib.metadata

try:
    from transformers import AdamW
except ImportError:
    from torch.optim import AdamW

try:
    import transformers.optimization as hf
except ImportError:
    hf = None

if importlib.metadata.version("transformers") < "4.50":
    from transformers import AdamW as Fallback
else:
    Fallback = None


def build(params):
    return AdamW(params, lr=1e-3), hf.AdamW(params), Fallback(params)
