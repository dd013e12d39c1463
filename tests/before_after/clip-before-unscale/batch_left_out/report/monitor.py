class SkipBatch(Exception):
    pass


class Monitor:
    def __init__(self, every=3):
        self.norms, self.every = [], every

    def observe(self, norm):
        self.norms.append(float(norm))
        if len(self.norms) % self.every == 2:
            raise SkipBatch  # outlier, by a rule that is not shown here
