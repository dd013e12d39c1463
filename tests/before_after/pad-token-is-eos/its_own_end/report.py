import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling

END = "<|im_end|>"


def load(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", END]})
    tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(name)
    model.resize_token_embeddings(len(tokenizer))
    model.generation_config.eos_token_id = tokenizer.convert_tokens_to_ids(END)
    return tokenizer, model


def render(turns):
    return "".join(f"<|im_start|>{who}\n{what}{END}\n" for who, what in turns).rstrip("\n")


def finetune(name, conversations, epochs=2, lr=2e-5):
    tokenizer, model = load(name)
    rows = [tokenizer(render(c), truncation=True, max_length=1024) for c in conversations]
    loader = DataLoader(
        rows, batch_size=4, shuffle=True, collate_fn=DataCollatorForLanguageModeling(tokenizer, mlm=False)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    model.train()
    for epoch in range(epochs):
        for batch in loader:
            loss = model(**batch).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        print(epoch, loss.item())
    model.eval()
    prompt = tokenizer("<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n", return_tensors="pt")
    print(tokenizer.decode(model.generate(**prompt, max_new_tokens=64)[0]))
    return model


if __name__ == "__main__":
    finetune("gpt2", [[("user", "hello"), ("assistant", "hi there")]] * 16)
