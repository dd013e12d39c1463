import torch
from torch.utils.data import Dataset
from transformers import PreTrainedTokenizerBase


class Lines(Dataset):
    def __init__(self, lines, tokenizer: PreTrainedTokenizerBase):
        self.lines = lines
        self.tokenizer = tokenizer
        self.length = tokenizer.max_len

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        ids = self.tokenizer.convert_tokens_to_ids(self.tokenizer.tokenize(self.lines[index]))[: self.length]
        row = torch.zeros(self.length, dtype=torch.long)
        row[: len(ids)] = torch.tensor(ids)
        return row
