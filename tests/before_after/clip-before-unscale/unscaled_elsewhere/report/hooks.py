"""With a second `unscale_`: `RuntimeError: unscale_() has already been called on this optimizer since the last
update().`
"""


def unscale(trainer, event):
    if event == "backward":
        trainer.scaler.unscale_(trainer.optimizer)
