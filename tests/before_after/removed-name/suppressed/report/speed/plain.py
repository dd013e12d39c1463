def start(seed):
    return seed
