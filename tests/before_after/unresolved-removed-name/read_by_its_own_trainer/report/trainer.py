class Trainer:
    def __init__(self, model):
        self.is_spread = model.is_parallelizable and model.model_parallel
