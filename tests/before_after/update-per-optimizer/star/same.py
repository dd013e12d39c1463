from engine import *


def train(first, second, opt_a, opt_b, loader):
    scaler = LossScaler()
    for inputs in loader:
        scaler.scale(first(inputs).mean() + second(inputs).mean()).backward()
        scaler.step(opt_a)
        scaler.update()
        scaler.step(opt_b)
        scaler.update()
