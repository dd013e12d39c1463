"""A text encoder whose every weight is trained loses nothing; the UNet beside it may be frozen."""

from transformers import CLIPTextModel


def prepare(unet):
    unet.requires_grad_(False)
    text_encoder = CLIPTextModel.from_pretrained("acme/clip")
    text_encoder.gradient_checkpointing_enable()
    return text_encoder
