"""What the benchmark is made of, to the byte: the packages of the corpora, and the tools that are compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

TORCH_FREE = "torch-free"
TORCH_HEAVY = "torch-heavy"
SMALL, LARGE = "timm", "transformers"
CONFIGURED = "nemo_toolkit"
"""Packages that are repositories of their own; the last one only that, with configuration files."""
ELSE = "else"
"""Packages that are only in the big repository."""
ALONE = "alone"
"""Packages that are in none of the corpora."""


@dataclass(frozen=True)
class Pin:
    """One archive of a package registry."""

    package: str
    version: str
    corpus: str
    sdist: bool
    """The sources as released rather than what is installed."""
    megabytes: float
    """Size of the archive."""
    sha256: str | None
    left_out: tuple[str, ...]
    """Files of the archive (globs) that the package's own repository does not hold."""

    @property
    def archive(self) -> str:
        """The file's name in our cache."""
        return f"{self.package}-{self.version}{'.tar.gz' if self.sdist else '.whl'}"


PYTHON = "3.11"
PLATFORM = "manylinux_2_28_x86_64"
"""Whose wheels are taken, on every machine: nothing in them is ever imported."""

# Home Assistant 2024.3 is the last that Python 3.11 can parse. Salt has no wheel; the wheels of the other sdists leave
# their tests out. monai must be a wheel: pip prepares an sdist with its build requirements, and monai's are torch.
# torch may be any build (CPU or CUDA, as the registry has it): their Python files are the same.
_TABLE = """\
torch-free  homeassistant 2024.3.3 wheel  35.4 6e1ec2c07441d63fdcfb8acd2c4bbb6f68bc97330855784d3623d10c38fe3577
torch-free  django        5.2.19   sdist  11.0 ad03d8abc51dbff95ebf34b27123cf0c26a3b62db7ba0cd520783686362533d1
torch-free  pandas        3.0.5    wheel  11.3 2c0cf1dd9b55a22d105fc46c1b489af3bd42264fcba7c66297bf47a9a1d9c78a
torch-free  sympy         1.14.0   wheel   6.3 e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5
torch-free  salt          3007.17  sdist  17.1 03c85d77ad4e9bc93877977ca68987b4b2a21cc9043e513cb2e40d96bbabd40b
torch-heavy torch         2.13.0   wheel 191.8 any
torch-heavy transformers  5.23.0   wheel  13.3 018e82fd07490ad5bb58414f65e31576033dc7f36bed10c574843f69b90991bf
torch-heavy diffusers     0.42.1   wheel   6.4 9154faa704ce00e0b77f568e0d64786064368528aab5fc14eeea92f87d788014
torch-heavy lightning     2.6.6    wheel   0.8 2bcbd6ee840071cd076c7dc9953d7ac1040df92f1c5fa76583aae644f037ab85
torch-heavy accelerate    1.15.0   sdist   0.4 5654f8c5eaa0d4fa68b33e287a97765da6849bf6d51dcac874e73fbbddfb6134
torch-heavy peft          0.21.2   sdist   1.0 b803ccfb3f3f316004d850284306687833a2235ea278fb56abc856203456142e
torch-heavy trl           1.16.0   wheel   0.9 c4726e139dd40e1a41661511c639c8a68416782b2e3e8c0befebd77bb7ba0396
torch-heavy timm          1.0.31   wheel   2.8 5bd50f7d0fe6d09bf9285ac2523234a1b7e6bf075c0be3e7aed09139fcb617c7
torch-heavy monai         1.6.1    wheel   1.7 dbd3b1dd309e752e0477ed73fde03b92f80ac74bfb8a8c4260f018b5d6ab2b0b
torch-heavy speechbrain   1.1.2    wheel   0.9 9fea4144c917ea58bcf13f17a1a1759179ed7472a30ec8416e7c7c8cf21d9c9a
else        plotly        7.1.0    wheel   9.7 dbb7fa18afce40d0a8e80d1bf162eceb3faa0ce5a77fe741ad09a74cf78f53f3
else        keras         3.15.1   wheel   2.4 836460e480930acbd19bb7a17e62f9ecad40e8a9af9a651fc8d0586a96d27e20
else        statsmodels   0.15.0   wheel  12.1 b67886b66d9c7ca118526accedb5c6de7ffd74c015dc0492ea0b1690192b65da
else        astropy       8.0.2    wheel  10.4 000d6998bcf4f097257b3776f29f1dafde0967bf1b091edbad95df564eee4eea
else        networkx      3.6.1    wheel   2.1 d47fbf302e7d9cbbb9e2555a0d267983d2aa476bac30e90dfbe5669bd57f3762
else        scipy         1.17.1   wheel  35.3 43af8d1f3bea642559019edfe64e9b11192a8978efbd1539d7bc2aaa23d92de4
else        scikit-learn  1.9.1    wheel   9.3 52a0703bbc07ad27f560fa63fa68e4c54dd735bfbbf65b4dd3c225dc7547b6df
else        torchmetrics  1.9.0    wheel   1.0 bfdcbff3dd1d96b3374bb2496eb39f23c4b28b8a845b6a18c313688e0d2d9ca1
else        ultralytics   8.4.190  wheel   1.4 bd309728efa168af64d39040136828edd2dbcb4aeceb4510bdff4f3ca0ea01b8
else        kubernetes    37.0.2   wheel   7.5 d72683392fc10f59fb78b89bd91cb3be60a05d6ff0bbb2150966a224af6edc03
alone       nemo_toolkit  2.4.0    sdist   5.1 459c7ae6800262a25531c32f020ee506f882cad9b17661ca4545425d8f290b90
"""
"""Corpus, package, version, kind of archive, its size in MB and its SHA-256."""

_LEFT_OUT = {"homeassistant": ("*/translations/*.json",)}


def _pins() -> Iterator[Pin]:
    for line in _TABLE.splitlines():
        corpus, package, version, kind, megabytes, sha256 = line.split()
        left_out = _LEFT_OUT.get(package, ())
        digest = None if sha256 == "any" else sha256
        yield Pin(package, version, corpus, kind == "sdist", float(megabytes), digest, left_out)


PACKAGES = tuple(_pins())

RUFF = ("ruff==0.17.5",)
TORCHFIX = (
    "torchfix==0.7.0",
    "libcst==1.5.1",
    "flake8==7.5.0",
    "mccabe==0.7.0",
    "pycodestyle==2.15.0",
    "pyflakes==4.1.0",
    "PyYAML==6.0.3",
)
"""All of the environment; TorchFix asks for a libcst older than ours."""
