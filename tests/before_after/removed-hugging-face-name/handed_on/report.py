# fixer: target=peft==0.21.2
"""Whoever is given the function calls it with an argument that the new one does not take."""

from peft import prepare_model_for_int8_training


def prepared(model, prepares):
    return prepares(model, layer_norm_names=["norm"])


def build(model):
    return prepared(model, prepare_model_for_int8_training)
