"""A small decoder in the manner of Qwen2: RMSNorm, rotary positions left out, gradient checkpointing."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class RMSNorm(nn.Module):
    def __init__(self, hidden_size: int, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        input_dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states.to(input_dtype)


class DecoderLayer(nn.Module):
    def __init__(self, hidden_size: int, heads: int):
        super().__init__()
        self.heads = heads
        self.input_layernorm = RMSNorm(hidden_size)
        self.qkv_proj = nn.Linear(hidden_size, 3 * hidden_size)
        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.post_attention_layernorm = RMSNorm(hidden_size)
        self.gate_up_proj = nn.Linear(hidden_size, 8 * hidden_size, bias=False)
        self.down_proj = nn.Linear(4 * hidden_size, hidden_size, bias=False)

    def forward(self, hidden_states):
        batch, length, size = hidden_states.shape
        qkv = self.qkv_proj(self.input_layernorm(hidden_states))
        q, k, v = qkv.view(batch, length, 3, self.heads, size // self.heads).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        hidden_states = hidden_states + self.o_proj(attended.transpose(1, 2).reshape(batch, length, size))
        gate, up = self.gate_up_proj(self.post_attention_layernorm(hidden_states)).chunk(2, dim=-1)
        return hidden_states + self.down_proj(F.silu(gate) * up)


class Decoder(nn.Module):
    def __init__(self, vocabulary: int = 256, hidden_size: int = 64, layers: int = 4, heads: int = 4):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, hidden_size)
        self.layers = nn.ModuleList([DecoderLayer(hidden_size, heads) for _ in range(layers)])
        self.norm = RMSNorm(hidden_size)
        self.lm_head = nn.Linear(hidden_size, vocabulary, bias=False)
        self.gradient_checkpointing = True

    def freeze_embeddings(self):
        self.embed_tokens.weight.requires_grad_(False)

    def forward(self, input_ids, labels=None):
        hidden_states = self.embed_tokens(input_ids)
        for layer in self.layers:
            if self.gradient_checkpointing and self.training:
                hidden_states = checkpoint(layer, hidden_states)
            else:
                hidden_states = layer(hidden_states)
        logits = self.lm_head(self.norm(hidden_states))
        if labels is None:
            return logits
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
