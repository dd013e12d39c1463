"""The corpora: pinned archives of a package registry, unpacked and put together in a cache directory.

`archives/` holds what was downloaded, `packages/` what is text in it. The corpora are hard links into `packages/`; so
is `repository/`, one git repository of one commit with all packages, and so are the parts of it in `growth/`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path, PurePosixPath

from benchmarks import planted
from benchmarks.measure import GIT, Failed
from benchmarks.pins import ALONE, CONFIGURED, LARGE, PACKAGES, PLATFORM, PYTHON, SMALL, TORCH_FREE, TORCH_HEAVY, Pin

LAYOUT = 1
"""Raised whenever the same archives give other corpora."""
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
PLANTED = {CONFIGURED: planted.CONFIGURATIONS}
"""Files that a package's repository has, and its archive has not."""
SIZES = (1_000, 2_000, 4_000, 8_000, 16_000)

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Corpora:
    """Directories of files to check."""

    torch_free: Path
    torch_heavy: Path
    as_shipped: Path
    """The torch-free packages with what Home Assistant ships and does not keep in its repository: 29,000 JSON files."""
    pair: Path
    """Accelerate and Lightning."""
    repository: Path
    alone: dict[str, Path]
    """Packages as repositories of their own, by name."""
    fifteen: Path
    """A repository of fifteen files."""
    growth: tuple[tuple[int, Path], ...]
    """Repositories with their numbers of Python files, ascending; the last is the whole one."""
    empty: Path
    """A repository without any."""


def build(cache: Path, pip: Sequence[str], tell: Tell) -> Corpora:
    """Make what the cache does not hold yet."""
    _refuse_a_repository_around(cache)
    _download(cache / "archives", pip, tell)
    for pin in PACKAGES:
        _make(cache / "packages" / pin.archive, (pin,), partial(_unpack, cache, pin), tell)

    def gathered(name: str, pins: Sequence[Pin], *, everything: bool = False) -> Path:
        return _make(cache / name, pins, partial(_gather, cache, pins, everything=everything), tell)

    torch_free = [pin for pin in PACKAGES if pin.corpus == TORCH_FREE]
    torch_heavy = [pin for pin in PACKAGES if pin.corpus == TORCH_HEAVY]
    pair = [pin for pin in PACKAGES if pin.package in ("accelerate", "lightning")]
    whole = (*(pin for pin in PACKAGES if pin.corpus != ALONE), planted.LINEAGE)
    repository = _make(cache / "repository", whole, partial(_repository, cache), tell)
    (repository / planted.CHANGED).write_text(planted.EDITED)
    alone = {
        pin.package: _make(
            cache / "alone" / pin.package, (pin, PLANTED.get(pin.package)), partial(_alone, cache, pin), tell
        )
        for pin in PACKAGES
        if pin.package in (SMALL, LARGE, CONFIGURED)
    }
    fifteen = _make(cache / "fifteen", (planted.FIFTEEN,), _fifteen, tell)
    growth = [
        _make(cache / "growth" / str(size), whole, partial(_part, repository, size), tell) for size in (0, *SIZES)
    ]
    return Corpora(
        torch_free=gathered("torch-free", torch_free),
        torch_heavy=gathered("torch-heavy", torch_heavy),
        as_shipped=gathered("torch-free-as-shipped", torch_free, everything=True),
        pair=gathered("accelerate-lightning", pair),
        repository=repository,
        alone=alone,
        fifteen=fifteen,
        growth=tuple((python_files(place), place) for place in (*growth[1:], repository)),
        empty=growth[0],
    )


def python_files(directory: Path) -> int:
    """How many Python files there are."""
    return sum(1 for _ in directory.rglob("*.py"))


def git(*arguments: str, at: Path) -> str:
    """What a git command says."""
    done = subprocess.run(["git", *arguments], cwd=at, env={**os.environ, **GIT}, capture_output=True, check=False)
    if done.returncode:
        raise Failed(f"git {' '.join(arguments)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace").strip()


def _refuse_a_repository_around(cache: Path) -> None:
    """Inside a repository the contestants would look at that repository."""
    cache.mkdir(parents=True, exist_ok=True)
    try:
        around = git("rev-parse", "--show-toplevel", at=cache)
    except Failed:
        return
    raise Failed(f"{cache} lies in the git repository {around}; name a directory outside with --cache")


def _make(place: Path, of: Sequence[object], make: Callable[[Path], None], tell: Tell) -> Path:
    """A directory that is there completely or not at all, and made again when it is to be made of something else."""
    made = place.with_name(f"{place.name}.made")
    wanted = f"{LAYOUT}\n{of!r}"
    if not made.exists() or made.read_text() != wanted:
        tell(f"making {place}")
        made.unlink(missing_ok=True)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        make(place)
        made.write_text(wanted)
    return place


def _download(archives: Path, pip: Sequence[str], tell: Tell) -> None:
    archives.mkdir(parents=True, exist_ok=True)
    missing = [pin for pin in PACKAGES if not (archives / pin.archive).exists()]
    if missing:
        sizes = ", ".join(f"{pin.package} {pin.megabytes}" for pin in missing)
        tell(f"downloading {sum(pin.megabytes for pin in missing):.0f} MB to {archives} (in MB: {sizes})")
    for pin in missing:
        wheel = ["--only-binary", ":all:", "--python-version", PYTHON, "--platform", PLATFORM]
        how = ["--no-binary", pin.package, "--ignore-requires-python"] if pin.sdist else wheel
        if pin.package == "torch":
            how += ["--extra-index-url", TORCH_INDEX, "--retries", "1"]
        with tempfile.TemporaryDirectory(dir=archives) as scratch:
            wanted = f"{pin.package}=={pin.version}"
            subprocess.run([*pip, "download", "--no-deps", *how, "-d", scratch, wanted], check=True)
            (file,) = Path(scratch).iterdir()
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            if pin.sha256 not in (None, digest):
                raise Failed(f"{file.name} is not the file that was pinned: its SHA-256 is {digest}")
            file.rename(archives / pin.archive)
        tell(f"downloaded {wanted}")


def _unpack(cache: Path, pin: Pin, place: Path) -> None:
    """Write what is text; programs and pictures are nobody's business here.

    Files that speak to git are left out: they would decide which files the contestants see.
    """
    root = place.resolve()
    for name, data in _members(cache / "archives" / pin.archive):
        target = (place / name).resolve()
        ours = any(part.startswith(".git") for part in PurePosixPath(name).parts)
        if target.is_relative_to(root) and not ours and b"\0" not in data[:8000]:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for info in wheel.infolist():
                if not info.is_dir():
                    yield info.filename, wheel.read(info)
        return
    with tarfile.open(archive) as sdist:
        for member in sdist:
            if (file := sdist.extractfile(member) if member.isfile() else None) is not None:
                yield member.name, file.read()


def _gather(cache: Path, pins: Iterable[Pin], place: Path, *, everything: bool = False) -> None:
    """Put packages side by side."""
    for pin in pins:
        source = cache / "packages" / pin.archive
        names = (path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file())
        left_out = () if everything else pin.left_out
        _link(source, (n for n in names if not any(fnmatch(n, glob) for glob in left_out)), place / pin.package)


def _link(source: Path, names: Iterable[str], target: Path) -> None:
    for name in names:
        there = target / name
        there.parent.mkdir(parents=True, exist_ok=True)
        os.link(source / name, there)


def _repository(cache: Path, place: Path) -> None:
    _gather(cache, [pin for pin in PACKAGES if pin.corpus != ALONE], place)
    write(place, planted.LINEAGE)
    _commit(place)


def _alone(cache: Path, pin: Pin, place: Path) -> None:
    """Copies, because rows edit them."""
    shutil.copytree(cache / "packages" / pin.archive, place, dirs_exist_ok=True)
    write(place, PLANTED.get(pin.package, {}))
    _commit(place)


def _fifteen(place: Path) -> None:
    write(place, planted.FIFTEEN)
    _commit(place)


def write(place: Path, files: Mapping[str, str]) -> None:
    """Write files below a directory."""
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)


def _commit(place: Path) -> None:
    """Make a directory a repository of one commit."""
    git("init", "-q", "-b", "main", at=place)
    git("config", "gc.auto", "0", at=place)
    git("add", "-A", "-f", at=place)
    git("commit", "-q", "--allow-empty", "-m", "Everything", at=place)
    pack(place)


def pack(place: Path) -> None:
    """Put the objects of a repository into one file, as in a clone, but without the minutes that deltas take."""
    git("-c", "pack.window=0", "gc", "-q", at=place)


def _part(repository: Path, size: int, place: Path) -> None:
    """About `size` Python files of the repository: whole directories, in an order that has nothing to do with them."""
    directories: dict[str, list[str]] = defaultdict(list)
    for name in git("ls-files", "-z", at=repository).split("\0"):
        if name and name not in planted.LINEAGE:
            directories[str(PurePosixPath(name).parent)].append(name)
    chosen = 0
    for directory in sorted(directories, key=lambda d: hashlib.sha256(d.encode()).digest()):
        names = directories[directory]
        more = sum(name.endswith(".py") for name in names)
        if chosen + more <= size and size:
            chosen += more
            _link(repository, names, place)
    _commit(place)
