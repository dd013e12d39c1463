import peft
from packaging.version import Version

if Version(peft.__version__) < Version("0.10"):
    from legacy_adapters import adapted
else:
    from adapters import adapted

model = adapted(None)
