import torch
from peft import LoraConfig, get_peft_model
from peft.utils import prepare_model_for_int8_training
from transformers import LlamaConfig, LlamaForCausalLM


def main():
    config = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)
    model = prepare_model_for_int8_training(LlamaForCausalLM(config))
    model = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj"]))
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-2)
    for _ in range(5):
        ids = torch.randint(0, 64, (2, 8))
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(loss.item())


if __name__ == "__main__":
    main()
