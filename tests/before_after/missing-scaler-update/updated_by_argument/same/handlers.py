def finish(s, epoch):
    s.update()


def after_step(engine):
    finish(engine.scaler, engine.epoch)
