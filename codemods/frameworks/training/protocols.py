"""What may happen to the objects of a training loop, in which order.

Literals only, without imports, for Python 3.9 and later, so that what watches a run can read them, too.

Events: backward, step, zero and clip of gradients; train and eval of a model; made and advance of a scheduler; with a
question mark those of an object that may be this one; "bound" where a name gets another object. States: "?" is one of
which nothing is known, "*" every state for which no other line speaks. A move is (state, event, state after it), a
violation (state, event, its name). "keeps" are states that go on with what led to the one before.
"""

GRADIENTS = {
    # none (clean), thrown away unused (emptied), those since the last step (held), those of a step (used), clipped
    # after it (late), or together with later ones (repeated)
    "start": "?",
    "moves": (
        ("*", "zero", "clean"),
        ("held", "zero", "emptied"),
        ("repeated", "zero", "emptied"),
        ("emptied", "zero", "emptied"),
        ("?", "backward", "held"),
        ("clean", "backward", "held"),
        ("emptied", "backward", "held"),
        ("used", "backward", "repeated"),
        ("late", "backward", "repeated"),
        ("*", "step", "used"),
        ("used", "clip", "late"),
        ("*", "backward?", "?"),
        ("*", "zero?", "?"),
        ("*", "step?", "?"),
        ("*", "optimizer bound", "?"),
        ("*", "model bound", "?"),
    ),
    "violations": (
        ("repeated", "step", "repeated"),
        ("held", "zero", "dropped"),
        ("emptied", "step", "emptied"),
        ("late", "zero", "late"),
        ("clean", "clip", "early"),
        ("?", "clip", "in time"),
        ("held", "clip", "in time"),
        ("repeated", "clip", "in time"),
    ),
    "keeps": ("repeated", "emptied", "late"),
}

MODE = {
    # that of training, the same after a step (trained), that of evaluation, the same after it was trained (left)
    "start": "?",
    "moves": (
        ("*", "train", "training"),
        ("training", "step", "trained"),
        ("training", "eval", "evaluating"),
        ("trained", "eval", "left"),
        ("?", "eval", "evaluating"),
        ("*", "mode?", "?"),
        ("*", "model bound", "?"),
    ),
    "violations": (("left", "step", "left in evaluation"),),
    "keeps": (),
}

SCHEDULE = {
    # a scheduler beside its optimizer: made, and advanced with a step in between (advanced) or without one (early)
    "start": "?",
    "moves": (
        ("*", "made", "new"),
        ("new", "advance", "early"),
        ("*", "step", "stepped"),
        ("stepped", "advance", "advanced"),
        ("*", "step?", "?"),
        ("*", "advance?", "?"),
        ("*", "optimizer bound", "?"),
        ("*", "scheduler bound", "?"),
    ),
    "violations": (("new", "advance", "early"), ("advanced", "advance", "outrun")),
    "keeps": (),
}

SCALING = {
    # the gradients of an optimizer beside a gradient scaler: multiplied by its scale (scaled), perhaps divided again by
    # what is not in sight (doubtful), surely divided (unscaled), or used by the step that the scaler takes
    "start": "?",
    "moves": (
        ("?", "scaled", "scaled"),
        ("used", "scaled", "scaled"),
        ("clean", "scaled", "scaled"),
        ("*", "scaled", "?"),
        ("scaled", "scaled", "scaled"),
        ("doubtful", "scaled", "doubtful"),
        ("*", "raw", "?"),
        ("scaled", "anything", "doubtful"),
        ("doubtful", "anything", "doubtful"),
        ("doubtful", "optimizer bound", "doubtful"),
        ("doubtful", "scaler bound", "doubtful"),
        ("scaled", "unscale", "unscaled"),
        ("*", "scaler step", "used"),
        ("*", "step", "used"),
        ("*", "zero", "clean"),
        ("*", "touched", "?"),
        ("scaled", "optimizer bound", "doubtful"),
        ("scaled", "scaler bound", "doubtful"),
        ("*", "optimizer bound", "?"),
        ("*", "scaler bound", "?"),
    ),
    "violations": (
        ("scaled", "step", "scaled"),
        ("doubtful", "step", "doubtful"),
        ("unscaled", "step", "unscaled"),
    ),
    "keeps": ("doubtful",),
}

UNSCALED = {
    # an optimizer as a gradient scaler knows it: new since the last update, unscaled, or stepped
    "start": "?",
    "moves": (
        ("*", "unscale", "unscaled"),
        ("*", "update", "new"),
        ("*", "scaler step", "stepped"),
        ("*", "optimizer bound", "?"),
        ("*", "scaler bound", "?"),
    ),
    "violations": (("unscaled", "unscale", "twice"),),
    "keeps": (),
}
