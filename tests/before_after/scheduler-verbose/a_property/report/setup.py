class Setup:
    def __init__(self, path):
        self.path = path
        self.level = 0

    @property
    def loud(self):
        """Whether to print; whoever asks is about to write."""
        if "file" not in vars(self):
            self.file = open(self.path, "w")
        return self.level > 0
