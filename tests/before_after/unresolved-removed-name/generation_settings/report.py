# fixer: upgrade=transformers@5.23.0
"""Settings of generation belong to the generation configuration; None was never one."""

from transformers import AutoModelForSeq2SeqLM, EncoderDecoderModel


def prepare(encoder, decoder, tokenizer, settings):
    model = EncoderDecoderModel.from_encoder_decoder_pretrained(encoder, decoder)
    model.config.pad_token_id = tokenizer.pad_token_id
    model.config.max_length = 64
    model.config.num_beams = settings.beams
    model.config.forced_bos_token_id = None
    other = AutoModelForSeq2SeqLM.from_pretrained(encoder, dtype="auto")
    other.generation_config.max_length = 64
    return model, other
