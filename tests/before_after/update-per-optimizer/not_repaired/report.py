import torch


def no_last(first, second, opt_a, opt_b, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(first(inputs).mean() + second(inputs).mean()).backward()
        scaler.step(opt_a)
        scaler.update()
        scaler.step(opt_b)


def skipped(first, second, opt_a, opt_b, loader, debug):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(first(inputs).mean() + second(inputs).mean()).backward()
        scaler.step(opt_a)
        scaler.update()
        scaler.step(opt_b)
        if debug:
            continue
        scaler.update()


def under_condition(first, second, opt_a, opt_b, loader, debug):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(first(inputs).mean() + second(inputs).mean()).backward()
        scaler.step(opt_a)
        scaler.update()
        scaler.step(opt_b)
        if not debug:
            scaler.update()


def looks(first, second, opt_a, opt_b, loader, scheduler):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(first(inputs).mean() + second(inputs).mean()).backward()
        old = scaler.get_scale()
        scaler.step(opt_a)
        scaler.update()
        if scaler.get_scale() >= old:
            scheduler.step()
        scaler.step(opt_b)
        scaler.update()


def twice(first, second, opt_a, opt_b, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(first(inputs).mean() + second(inputs).mean()).backward()
        scaler.unscale_(opt_b)
        scaler.step(opt_a)
        scaler.update()
        scaler.unscale_(opt_b)
        scaler.step(opt_b)
        scaler.update()


def part_of_more(first, second, opt_a, opt_b, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(first(inputs).mean() + second(inputs).mean()).backward()
        scaler.step(opt_a)
        nothing = scaler.update()
        scaler.step(opt_b)
        scaler.update()
        print(nothing)


def in_loop(first, second, opt_a, opt_b, loader, frozen):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(first(inputs).mean() + second(inputs).mean()).backward()
        for optimizer in (opt_a, opt_b):
            if optimizer is not frozen:
                scaler.step(optimizer)
                scaler.update()


def in_loop_over_some(model, optimizers, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(model(inputs).mean()).backward()
        for optimizer in optimizers:
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
