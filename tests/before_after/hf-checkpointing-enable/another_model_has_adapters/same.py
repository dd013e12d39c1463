# fixer: unsafe
from peft import LoraConfig, get_peft_model
from transformers import CLIPTextModel


def build(args, unet):
    text_encoder = CLIPTextModel.from_pretrained(args.name)
    if args.use_lora:
        unet = get_peft_model(unet, LoraConfig(target_modules=["to_q"]))
    text_encoder.gradient_checkpointing_enable()
    return unet, text_encoder


def either(args, unet):
    text_encoder = CLIPTextModel.from_pretrained(args.name)
    if args.train_text_encoder and args.use_lora:
        text_encoder = get_peft_model(text_encoder, LoraConfig(target_modules=["q_proj"]))
    if args.train_text_encoder and not (args.use_lora or args.use_boft):
        text_encoder.gradient_checkpointing_enable()
    return unet, text_encoder


def frozen_otherwise(args, unet):
    text_encoder = CLIPTextModel.from_pretrained(args.name)
    unet = get_peft_model(unet, LoraConfig(target_modules=["to_q"]))
    if not args.train_text_encoder:
        text_encoder.requires_grad_(False)
    if args.train_text_encoder and not args.use_lora:
        text_encoder.gradient_checkpointing_enable()
    return unet, text_encoder


def frozen_as_a_whole(args, unet):
    text_encoder = CLIPTextModel.from_pretrained(args.name)
    unet = get_peft_model(unet, LoraConfig(target_modules=["to_q"]))
    text_encoder.requires_grad_(False)
    text_encoder.gradient_checkpointing_enable()
    return unet, text_encoder
