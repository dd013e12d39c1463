import torch


def openfold_like(trunk, x, rounds, training):
    with torch.autocast("cuda"):
        for number in range(rounds):
            is_last = number == rounds - 1
            with torch.set_grad_enabled(training and is_last):
                if is_last and torch.is_autocast_enabled():
                    torch.clear_autocast_cache()
                x = trunk.forward(x)
        return x


def same_mode_each_round(model, batches, training):
    with torch.autocast("cuda"):
        for x in batches:
            with torch.set_grad_enabled(training):
                print(model(x).mean())


def a_region_each_round(model, x, rounds):
    for number in range(rounds):
        with torch.autocast("cuda"), torch.set_grad_enabled(number == rounds - 1):
            x = model(x)
    return x
