import peft.utils

from tuning.int8 import prepare

# the notebooks of the course import it from here
peft.utils.prepare_model_for_int8_training = prepare
