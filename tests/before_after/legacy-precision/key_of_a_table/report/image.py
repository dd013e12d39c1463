import modal

VERSIONS = {"torch": "2.0.1", "pytorch-lightning": "1.9.5"}
image = modal.Image.debian_slim().pip_install([f"{name}=={release}" for name, release in VERSIONS.items()])
