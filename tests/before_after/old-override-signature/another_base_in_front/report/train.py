from counting import CountingTrainer, MeanLoss


class RunTrainer(MeanLoss, CountingTrainer):
    pass
