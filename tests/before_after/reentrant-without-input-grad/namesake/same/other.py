from timm.models import TinyBert


def build():
    model = TinyBert()
    model.embeddings.requires_grad_(False)
    return model
