from transformers import CLIPTextModel


def prepare(name, train):
    text_encoder = CLIPTextModel.from_pretrained(name)
    text_encoder.requires_grad_(train)
    text_encoder.gradient_checkpointing_enable()
    text_encoder.text_model.embeddings.requires_grad_(True)  # the way around, as Stable Diffusion trainers know it
    return text_encoder
