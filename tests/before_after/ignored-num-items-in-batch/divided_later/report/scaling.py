class OverRounds:
    """Averages over the accumulated batches, each with the same weight, however many tokens it has."""

    def over_rounds(self, result):
        rounds = self.args.gradient_accumulation_steps if self.model.training else 1
        if isinstance(result, tuple):
            return (result[0] / rounds, *result[1:])
        return result / rounds
