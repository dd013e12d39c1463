LOSS_SCALE = 2.0**10
NEVER = 2**31 - 1
# gradients are clipped as they come out of the backward pass
MAX_NORM = 0.5 * LOSS_SCALE
