from accelerate import Accelerator

accelerator = Accelerator(log_with="all", logging_dir="runs")
