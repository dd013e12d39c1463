from accelerate import Accelerator

print(Accelerator().mixed_precision)
