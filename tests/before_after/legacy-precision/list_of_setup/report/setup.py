from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent


def needs(name):
    lines = (HERE / "deps" / f"{name}.list").read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


setup(name="forecast", version="1.2", packages=find_packages(), install_requires=needs("core"))
