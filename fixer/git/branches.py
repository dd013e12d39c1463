"""Where a branch may be made: its name, what stands there now, and the commit to start from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

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
    heads = repository.heads(*{name.partition("/")[0] for name in names})
    olds = {name: heads.get(name) for name in names}
    taken = [name for name, old in olds.items() if old is not None]
    _check_neighbours([name for name, old in olds.items() if old is None], heads)
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


def _check_neighbours(names: Iterable[str], heads: Collection[str]) -> None:
    """Git cannot keep a branch `fix` and a branch `fix/amp`."""
    below = {above: head for head in heads for above in _above(head)}
    for name in names:
        other = below.get(name) or next((above for above in _above(name) if above in heads), None)
        if other is not None:
            raise Refusal(f"git cannot hold a branch {name} beside the branch {other}: name it otherwise")


def _above(name: str) -> Iterator[str]:
    return (name[:position] for position, char in enumerate(name) if char == "/")
