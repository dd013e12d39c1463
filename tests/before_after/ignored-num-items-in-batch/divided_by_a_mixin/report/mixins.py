class MeanOfBatches:
    def per_step(self, loss):
        return loss / self.current_gradient_accumulation_steps
