from somewhere import *


def shadow(np, model, x):  # shadow: a parameter is called as the module
    loss = model(x)
    loss.backward()
    return np.array(loss)


def star(model, x):
    loss = model(x)
    loss.backward()
    return asarray(loss)  # star: nobody knows what the import brings


def splat(model, x, **options):
    loss = model(x)
    loss.backward()
    return loss.numpy(**options)  # splat: `force` may be among them


def keyword(model, x):
    loss = model(x)
    loss.backward()
    return loss.numpy(force=True)  # keyword: it cuts the graph itself
