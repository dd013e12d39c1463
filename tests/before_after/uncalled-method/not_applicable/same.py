from somewhere import *


def shadow(optimizer, model):  # shadow: parameters of that name
    optimizer.step
    model.eval


def star():
    made = Optimizer()  # star: nobody knows what it is
    made.step


def splat(*objects, **others):
    objects[0].step  # splat: anything
    others["model"].eval  # keyword: anything
