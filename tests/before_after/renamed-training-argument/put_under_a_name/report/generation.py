class Generates:
    """Prints a sample now and then; the tokenizer is the one of the samples, not of the training data."""

    def with_tokenizer(self, tokenizer):
        for name, value in (("tokenizer", tokenizer), ("every", 100)):
            self.__dict__[name] = value
        return self
