import lightning.pytorch.trainer.connectors.accelerator_connector as connector

_convert = connector._convert_precision_to_unified_args
connector._convert_precision_to_unified_args = lambda name: "32-true" if name == "fp32" else _convert(name)
