from model import TinyBert


def build(embeddings, layers):
    model = TinyBert(embeddings, layers)
    model.embeddings.requires_grad_(False)
    return model
