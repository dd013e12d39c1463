class AdamW:
    def __init__(self, parameters, lr=1e-3):
        self.parameters, self.lr = list(parameters), lr
