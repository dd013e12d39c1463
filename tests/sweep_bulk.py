"""A campaign over generated repositories, killed again and again, against one that nobody disturbed.

By hand (200 repositories take some minutes):

    python tests/sweep_bulk.py --packages DIRECTORY [--repositories 200] [--kills 10] [--engine local|ray]

The repositories are cut from the sources of real packages (unpacked below DIRECTORY) with bugs of
`tests/before_after` planted in most of them; two thirds are served by `git daemon` on the loopback interface, the
others are checkouts on disk. Afterwards every ref of every repository must be the same as without a kill, set once, and
nothing may be left behind. With `--engine ray` the disturbed campaign runs on a cluster of two nodes, and a node is
killed instead of the driver. `test_bulk_crash.py` calls `sweep` as well.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
PLANTED = (
    "raw-backward/example",
    "deprecated-amp-api/example",
    "implicit-reentrant/example",
    "bare-closure-in-no-grad-step/example",
    "detached-loss/example",
)
FILES = 25
"""In one repository at most."""
LARGEST = 60_000
WHO = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", "1700000000 +0000"))
}


@dataclass(frozen=True)
class World:
    """One set of repositories and the campaign over it."""

    root: Path
    served: tuple[Path, ...]
    checkouts: tuple[Path, ...]
    campaign: Path
    environment: Mapping[str, str]

    @property
    def repositories(self) -> tuple[Path, ...]:
        return self.served + self.checkouts


def git(*arguments: str, at: Path) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=at, env={**os.environ, **WHO, "GIT_CONFIG_GLOBAL": os.devnull}, capture_output=True
    )
    assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr.decode()}"
    return os.fsdecode(done.stdout).removesuffix("\n")


def sources(packages: Path) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Folders of real packages, as small projects: a name and files."""
    for folder in sorted({file.parent for file in packages.rglob("*.py")}):
        files = [file for file in sorted(folder.glob("*.py")) if file.stat().st_size < LARGEST][:FILES]
        if len(files) >= 3:
            yield str(folder), {file.relative_to(packages).as_posix(): file.read_bytes() for file in files}


def invented(count: int) -> Iterator[tuple[str, dict[str, bytes]]]:
    """The same without packages at hand."""
    for number in range(count):
        yield f"made{number}", {f"pkg/m{file}.py": f"VALUE = {file}\n".encode() for file in range(3)}


def make(root: Path, projects: Sequence[tuple[str, dict[str, bytes]]], port: int, settings: str) -> World:
    """Repositories of the projects with bugs planted, the same whenever the projects are."""
    chance = random.Random(len(projects))
    texts = [(CHECKOUT / "tests/before_after" / name / "before.py").read_bytes() for name in PLANTED]
    served, checkouts = [], []
    for number, (_, files) in enumerate(projects):
        planted = dict(files)
        for place in range(chance.choice((0, 1, 1, 2, 3))):
            planted[f"train_{place}.py"] = chance.choice(texts)
        name = f"r{number:03}"
        work = root / "checkouts" / name
        for path, data in planted.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_bytes(data)
        git("init", "-q", "-b", "main", at=work)
        git("add", "-A", "-f", at=work)
        git("commit", "-qm", "start", at=work)
        if number % 3:
            bare = root / "served" / f"{name}.git"
            git("clone", "-q", "--bare", str(work), str(bare), at=root)
            git("config", "core.logAllRefUpdates", "true", at=bare)
            shutil.rmtree(work)
            served.append(bare)
        else:
            checkouts.append(work)
    names = [f'"git://127.0.0.1:{port}/{bare.name}"' for bare in served]
    campaign = root / "CAMPAIGN.toml"
    campaign.write_text(f'name = "sweep"\nrepositories = ["checkouts/*", {", ".join(names)}]\n{settings}')
    temporary = root / "tmp"
    temporary.mkdir()
    environment = {**os.environ, **WHO, "TMPDIR": str(temporary), "GIT_CONFIG_GLOBAL": os.devnull}
    return World(root, tuple(served), tuple(checkouts), campaign, environment)


@contextmanager
def daemon(root: Path, port: int) -> Iterator[None]:
    """`git daemon` over the repositories below `root`; anybody may push."""
    served = root / "served"
    served.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        [
            "git",
            "daemon",
            "--reuseaddr",
            "--export-all",
            "--enable=receive-pack",
            f"--base-path={served}",
            "--listen=127.0.0.1",
            f"--port={port}",
            str(served),
        ],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull},
    )
    try:
        while process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        assert process.poll() is None, "git daemon did not start"
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start(world: World, *options: str) -> subprocess.Popen[bytes]:
    """`fixer bulk run` as a process of its own."""
    program = f"import sys; sys.path[0] = {str(CHECKOUT)!r}; sys.argv[0] = 'fixer'; from fixer.cli import main; main()"
    with (world.root / "output").open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-c", program, "bulk", "run", str(world.campaign), *options],
            env=world.environment,
            cwd=world.root,
            stdout=output,
            stderr=output,
        )


def finish(world: World) -> int:
    """Run to the end."""
    return start(world).wait()


def killed(world: World, kills: int, chance: random.Random, whole: float) -> int:
    """Start and kill, at moments spread over a whole run, then run to the end; how many runs were really killed."""
    hit = 0
    for _ in range(kills):
        process = start(world)
        try:
            process.wait(chance.uniform(0.1, 2.2 * whole / kills))
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            hit += 1
            process.wait()
    assert finish(world) == 0, (world.root / "output").read_text()[-2000:]
    return hit


def refs(world: World) -> dict[str, str]:
    """Every ref of every repository."""
    return {
        repository.name.removesuffix(".git"): git("for-each-ref", "--format=%(refname) %(objectname)", at=repository)
        for repository in world.repositories
    }


def faults(world: World) -> Iterator[str]:
    """What a killed run may have left behind, or done twice."""
    for repository in world.repositories:
        for lock in repository.rglob("*.lock"):
            yield f"a lock: {lock}"
        if len(git("worktree", "list", "--porcelain", at=repository).split("\n\n")) > 1:
            yield f"a work tree of {repository}"
        git("fsck", "--no-dangling", "--connectivity-only", at=repository)
        for ref in git("for-each-ref", "--format=%(refname)", "refs/heads/fixer", at=repository).split():
            if len(git("reflog", "show", ref, at=repository).splitlines()) != 1:
                yield f"{ref} of {repository} was set more than once"
    for work in world.checkouts:
        if git("status", "--porcelain", at=work):
            yield f"the checkout of {work} was touched"
    for left in (world.root / "tmp").glob("fixer*/*"):
        yield f"a temporary directory: {left}"
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = process.read_bytes()
        except OSError:
            continue
        if str(world.root / "tmp").encode() in command:
            yield f"a process: {command!r}"
    with sqlite3.connect(world.campaign.with_suffix(".sqlite")) as connection:
        if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            yield "the state is damaged"


@contextmanager
def cluster(environment: Mapping[str, str]) -> Iterator[tuple[str, Callable[[], None]]]:
    """A Ray cluster of two nodes on this machine: its address, and a function that kills the second node."""
    os.environ.update(environment, PYTHONPATH=str(CHECKOUT), RAY_USAGE_STATS_ENABLED="0")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    node = made.add_node(num_cpus=1)
    try:
        yield made.address, lambda: made.remove_node(node, allow_graceful=False)
    finally:
        made.shutdown()


def on_ray(world: World, chance: random.Random) -> int:
    """Run to the end on the cluster, and kill a node meanwhile."""
    with cluster(world.environment) as (address, kill):
        world = replace(world, environment={**world.environment, "RAY_ADDRESS": address})
        process = start(world)
        done = 0
        while done < len(world.repositories) * chance.uniform(0.2, 0.6):
            time.sleep(0.2)
            assert process.poll() is None, "a node is to be killed in the middle"
            done = (world.root / "output").read_bytes().count(b"\n[")
        kill()
        assert process.wait() == 0, (world.root / "output").read_text()[-2000:]
    return 1


def sweep(
    root: Path,
    projects: Sequence[tuple[str, dict[str, bytes]]],
    kills: int,
    seed: int,
    settings: str = "",
    engine: str = "local",
) -> str:
    """Both campaigns; what they came to, as a sentence.

    Raises:
        AssertionError: if they differ, or something was left behind.
    """
    port = free_port()
    results = []
    chance = random.Random(seed)
    whole, hit = 0.0, 0
    for name in ("calm", "stormy"):
        (root / name).mkdir()
        chosen = 'engine = "ray"\n' if engine == "ray" and name == "stormy" else ""
        world = make(root / name, projects, port, chosen + settings)
        with daemon(world.root, port):
            begin = time.monotonic()
            if name == "calm":
                assert finish(world) == 0, (world.root / "output").read_text()[-2000:]
                whole = time.monotonic() - begin
            elif engine == "ray":
                hit = on_ray(world, chance)
            else:
                hit = killed(world, kills, chance, whole)
            left = list(faults(world))
            assert not left, left
            results.append(refs(world))
    assert results[0] == results[1], [name for name in results[0] if results[0][name] != results[1][name]]
    branches = sum("refs/heads/fixer" in listed for listed in results[0].values())
    how = "a node of two killed" if engine == "ray" else f"driver killed {hit} times in {kills + 1} runs"
    return (
        f"{len(projects)} repositories, {branches} with a branch; undisturbed in {whole:.0f} s; "
        f"{how}: the same refs, each set once, nothing left behind"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--repositories", type=int, default=200)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", choices=("local", "ray"), default="local")
    options = parser.parse_args()
    projects = random.Random(options.seed).sample(list(sources(options.packages)), options.repositories)
    with tempfile.TemporaryDirectory(prefix="sweep-bulk-") as root:
        print(sweep(Path(root), projects, options.kills, options.seed, engine=options.engine))


if __name__ == "__main__":
    main()
