from setuptools import setup

setup(name="train", install_requires=["torch", 'lightning==2.6.6'], extras_require={"gpu": ["lightning==2.6.6"]})
