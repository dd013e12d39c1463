"""No `get_scale`, and nothing is unscaled by `unscale_image`."""


def get_scaled_reduced_loss(losses):
    return {name: loss.mean() for name, loss in losses.items()}


def unscale_image(image):
    return image * 255
