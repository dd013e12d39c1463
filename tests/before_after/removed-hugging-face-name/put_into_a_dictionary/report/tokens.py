from transformers import PreTrainedTokenizer


class CharTokenizer(PreTrainedTokenizer):
    def __init__(self, alphabet="abcdefghijklmnopqrstuvwxyz ", length=128, **kwargs):
        self.ids = {c: i + 1 for i, c in enumerate(alphabet)}
        self.chars = {i: c for c, i in self.ids.items()}
        self.__dict__.update(max_len=length)
        super().__init__(pad_token="<pad>", **kwargs)

    @property
    def vocab_size(self):
        return len(self.ids) + 1

    def get_vocab(self):
        return dict(self.ids)

    def _tokenize(self, text):
        return [c for c in text.lower() if c in self.ids]

    def _convert_token_to_id(self, token):
        return self.ids.get(token, 0)

    def _convert_id_to_token(self, index):
        return self.chars.get(index, "")
