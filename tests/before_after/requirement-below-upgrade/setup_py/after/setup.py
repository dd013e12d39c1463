from setuptools import setup

extras = {}
extras["train"] = ["peft==0.21.2", "numpy"]

setup(name="x", install_requires=["transformers==5.23.0", "accelerate>=1.1"], extras_require=extras)
