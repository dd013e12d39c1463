import os

import transformers


def tidy(folder):
    os.remove(os.path.join(folder, "pytorch_model.bin"))
