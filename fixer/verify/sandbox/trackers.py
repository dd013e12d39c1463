"""Experiment trackers are kept offline: variables by which each does so, as its documentation names them."""

from __future__ import annotations

from pathlib import Path


def offline(scratch: Path) -> dict[str, str]:
    """Variables of the environment under which trackers keep to the disk, and to the directory `scratch` where it can
    be chosen."""
    return {
        "CLEARML_OFFLINE_MODE": "1",
        "CODECARBON_SAVE_TO_API": "false",
        "COMET_START_ONLINE": "0",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "MLFLOW_TRACKING_URI": f"sqlite:///{scratch / 'mlflow.db'}",
        "NEPTUNE_MODE": "offline",
        "SWANLAB_MODE": "offline",
        "TRACKIO_DIR": str(scratch / "trackio"),
        "WANDB_MODE": "offline",
    }
