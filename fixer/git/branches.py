"""Where a branch may be made: its name, what stands there now, and the commit to start from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fixer.errors import Refusal
from fixer.git.repository import Repository


def start(repository: Repository, wanted: str | None) -> tuple[str, str]:
    """The commit to plan on, by default HEAD, and its name for people.

    Raises:
        Refusal: if there is none.
    """
    base = repository.commit(wanted or "HEAD")
    if base is None and wanted:
        raise Refusal(f"--base {wanted!r}: there is no such commit")
    if base is None:
        raise Refusal("the repository has no commit yet: commit first, or name one with --base")
    return base, wanted or repository.ask("rev_parse", "--abbrev-ref", "HEAD") or "HEAD"


def check_name(repository: Repository, name: str) -> None:
    """Raise Refusal if git does not allow a branch of that name."""
    if name.startswith("-") or name == "HEAD" or repository.ask("check_ref_format", f"refs/heads/{name}") is None:
        raise Refusal(f"--branch {name!r} is not a name that git allows; try one like fix/amp")


def places(repository: Repository, names: Sequence[str], on_conflict: str) -> dict[str, str | None]:
    """What the branches point at now; None for those that are new.

    Raises:
        Refusal: if one of them cannot be made, or exists and is not to be touched.
    """
    for name in names:
        check_name(repository, name)
    olds = {name: repository.commit(f"refs/heads/{name}") for name in names}
    taken = [name for name, old in olds.items() if old is not None]
    _check_neighbours(repository, [name for name, old in olds.items() if old is None])
    if taken and on_conflict == "refuse":
        exist = f"and {len(taken) - 1} more exist" if len(taken) > 1 else "exists"
        add = "--on-conflict append (add to it) or " if len(names) == 1 else ""
        raise Refusal(
            f"the branch {taken[0]} {exist}: name another one, or choose {add}"
            "--on-conflict reset (start it again from the base)"
        )
    here = repository.checked_out()
    for name in names:
        if f"refs/heads/{name}" in here:
            raise Refusal(
                f"the branch {name} is checked out in a work tree: switch that to another branch, or name another"
            )
    return olds


def _check_neighbours(repository: Repository, names: Iterable[str]) -> None:
    """Git cannot keep a branch `fix` and a branch `fix/amp`."""
    for name in names:
        parts = name.split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts))]
        taken = [other for other in repository.branches(*above) if other in above] if above else []
        taken = taken or list(repository.branches(f"{name}/"))
        if taken:
            raise Refusal(f"git cannot hold a branch {name} beside the branch {taken[0]}: name it otherwise")
