import tomllib
from pathlib import Path

with (Path(__file__).parent / "conf" / "amp.toml").open("rb") as stream:
    AMP = tomllib.load(stream)["amp"]
