from lightning.pytorch.trainer.connectors import accelerator_connector as connectors

_check = connectors._AcceleratorConnector._check_config_and_set_final_flags


def check(self, *given, precision=None, **named):
    precision = precision.replace("_", "-") if isinstance(precision, str) else precision
    return _check(self, *given, precision=precision, **named)


setattr(connectors._AcceleratorConnector, "_check_config_and_set_final_flags", check)
