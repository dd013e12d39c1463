from noise import NoiseLevel
from train import train


def main(model, batches):
    level = NoiseLevel()
    train(model, batches, level.log_sigma, [level])
    return level
