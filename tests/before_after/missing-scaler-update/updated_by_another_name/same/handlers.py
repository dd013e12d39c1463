def after_step(engine):
    s = engine.scaler
    s.update()
