"""As PEFT 0.2 had it: norms and the head in float32, inputs require gradients, no checkpointing."""
import torch


def prepare(model, output_embedding_layer_name="lm_head"):
    for name, parameter in model.named_parameters():
        parameter.requires_grad = False
        if parameter.ndim == 1 or name.startswith(output_embedding_layer_name):
            parameter.data = parameter.data.float()
    model.get_input_embeddings().register_forward_hook(lambda module, args, out: out.requires_grad_(True))
    return model.to(memory_format=torch.preserve_format)
