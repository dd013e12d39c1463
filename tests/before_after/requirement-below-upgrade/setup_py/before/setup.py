from setuptools import setup

extras = {}
extras["train"] = ["peft==0.2.0", "numpy"]

setup(name="x", install_requires=["transformers==4.30.0", "accelerate>=1.1"], extras_require=extras)
