class Monitor:
    """Does with the gradients what the table says for an event."""

    tasks = {"backward": "unscale", "step": None}

    def __init__(self, engine):
        self.engine, self.last = engine, None

    def after(self, event, loss):
        self.last = loss.detach()
        if self.tasks[event]:
            getattr(self.engine, f"{self.tasks[event]}_gradients")()
