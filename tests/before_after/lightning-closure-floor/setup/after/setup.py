from setuptools import setup

setup(
    name="t5",
    install_requires=[
        "transformers>=4.31",
        "pytorch-lightning>=2.0.7,!=2.0.5",  # 2.0.5 was yanked here
    ],
)
