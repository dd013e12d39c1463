# fixer: upgrade=transformers@5.23.0
"""What `generate` looks for in the generation configuration."""

from transformers import AutoModelForSequenceClassification, EncoderDecoderModel


def prepare(encoder, decoder, tokenizer, batch):
    model = EncoderDecoderModel.from_encoder_decoder_pretrained(encoder, decoder)
    model.config.decoder_start_token_id = tokenizer.cls_token_id
    model.config.eos_token_id = tokenizer.sep_token_id
    model.generation_config.eos_token_id = tokenizer.sep_token_id
    return model.generate(batch, max_length=20)


def classifier(name, tokenizer):
    model = AutoModelForSequenceClassification.from_pretrained(name, dtype="auto")
    model.config.pad_token_id = tokenizer.pad_token_id
    return model
