from checks import is_scaler


class State:
    """Saves what has a state; scalers go into a file of their own."""

    def __init__(self, **objects):
        self.objects = objects

    def state_dict(self):
        plain = {k: v.state_dict() for k, v in self.objects.items() if not is_scaler(v)}
        scalers = {k: v.state_dict() for k, v in self.objects.items() if is_scaler(v)}
        if not scalers:
            raise ValueError("a run without a scaler cannot be resumed")
        return plain, scalers
