def finish(scaler, opt_a, opt_b):
    scaler.step(opt_a)
    scaler.update()
    scaler.step(opt_b)
    scaler.update()


def scalers_in_a_list(scalers, opt_a, opt_b):
    scalers[0].step(opt_a)
    scalers[0].update()
    scalers[0].step(opt_b)
    scalers[0].update()
