class Weighted:
    """The weight of a task falls with its recent loss."""

    _mean = 1.0

    @property
    def loss(self):
        return self._loss

    @loss.setter
    def loss(self, value):
        self._mean = 0.9 * self._mean + 0.1 * value
        self._loss = value

    @property
    def weight(self):
        return 1.0 / self._mean
