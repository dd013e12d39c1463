# fixer: target=accelerate==1.15.0
from accelerate import Accelerator


def tracked(folder, project):
    return Accelerator(log_with="tensorboard", logging_dir=folder, project_config=project)
