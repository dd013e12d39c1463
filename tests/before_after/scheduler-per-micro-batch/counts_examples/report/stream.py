class Stream:
    def __init__(self, data, size):
        self.x, self.y = data
        self.size = size

    def __len__(self):
        return len(self.x)

    def __iter__(self):
        return zip(self.x.split(self.size), self.y.split(self.size))
