class Window:
    """The losses of the last steps."""

    def __init__(self):
        self.losses, self.state = [], None

    def __iadd__(self, loss):
        self.losses.append(loss)
        return self

    def detach(self):
        self.state = self.state.detach()
        return self

    def backward(self):
        sum(self.losses).backward()
        self.losses.clear()
