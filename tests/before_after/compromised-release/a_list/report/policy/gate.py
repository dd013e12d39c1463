"""Run in CI over `pip freeze`: exits 1 if something on the list is installed."""
import sys
from pathlib import Path

LIST = Path(__file__).parent / "blocked-requirements.txt"


def blocked():
    lines = (line.split("#")[0].strip() for line in LIST.read_text().splitlines())
    return {line.lower() for line in lines if line}


def offenders(frozen):
    return sorted(blocked() & {line.strip().lower() for line in frozen})


if __name__ == "__main__":
    bad = offenders(sys.stdin)
    print(*bad, sep="\n")
    sys.exit(bool(bad))
