import pathlib
from importlib import metadata


def check():
    for path in pathlib.Path(__file__).parent.glob("requirements-*.txt"):
        for line in path.read_text().split():
            name, _, version = line.partition("==")
            try:
                found = metadata.version(name)
            except metadata.PackageNotFoundError:
                continue
            if found == version:
                raise SystemExit(f"{line} is not allowed here")
