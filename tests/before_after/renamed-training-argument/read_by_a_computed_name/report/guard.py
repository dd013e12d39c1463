from pathlib import Path


def may_write(arguments):
    """Refuse to train over somebody's results."""
    old = any(Path(arguments.output_dir).glob("*"))
    wanted = vars(arguments).get("overwrite_" + "output_dir", False)
    if old and not wanted:
        raise SystemExit(f"{arguments.output_dir} is not empty")
    return arguments
