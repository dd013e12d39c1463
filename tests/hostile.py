"""Repositories that are made to harm who looks at them, each with one way of doing it.

    python tests/hostile.py DIRECTORY

makes all of them there, to be tried by hand. Whatever of theirs is executed makes a file `hit` in DIRECTORY; what lies
in `outside` is none of a repository's business.
"""

from __future__ import annotations

import itertools
import os
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from world import git, repository, write

CODE = "from torch.cuda.amp import autocast\n\nx = old_one(1)\nwith autocast():\n    pass\n"
BASE = {"a.py": CODE, "sub/b.py": CODE, "requirements.txt": "torch>=2.4\n"}
SECRET = "outside = old_one(1)\n"
MODULES = ("codemods", "fixer", "torch", "git", "typer", "libcst", "yaml", "rich", "sitecustomize", "conftest", "json")


class Making:
    """One repository on its way."""

    def __init__(self, place: Path, name: str) -> None:
        self.place, self.root = place, place / "repositories" / name
        self.hit, self.outside = place / "hit", place / "outside"

    @property
    def program(self) -> Path:
        """It says that it was run."""
        file = self.place / "program"
        if not file.exists():
            file.write_text(f"#!/bin/sh\ntouch '{self.hit}'\nexit 1\n")
            file.chmod(0o755)
        return file

    def git(self, *words: str, data: bytes | None = None) -> str:
        return git(*words, at=self.root, data=data)

    def set(self, **settings: str) -> None:
        for key, value in settings.items():
            self.git("config", key.replace("__", "."), value)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "more")

    def write(self, files: Mapping[str, str | bytes]) -> None:
        write(self.root, files)
        self.commit()

    def tree(self, *entries: tuple[str, str]) -> None:
        """A commit of files by names that no checkout would make."""
        blob = self.git("hash-object", "-w", "--stdin", data=CODE.encode())
        listed = b"".join(f"{mode} blob {blob}\t{name}\0".encode() for mode, name in entries)
        tree = self.git("mktree", "-z", data=listed)
        self.git("update-ref", "refs/heads/main", self.git("commit-tree", tree, "-p", "HEAD", "-m", "evil"))


def _submodule(made: Making, path: str, url: str) -> None:
    (made.root / ".gitmodules").write_text(
        f'[submodule "x"]\n\tpath = {path}\n\turl = {url}\n\tupdate = !{made.program}\n'
    )
    made.git("update-index", "--add", "--cacheinfo", f"160000,{made.git('rev-parse', 'HEAD')},{path}")
    made.git("add", ".gitmodules")
    made.git("commit", "-q", "-m", "sub")
    made.set(submodule__x__url=url, submodule__x__update=f"!{made.program}", submodule__recurse="true")


def _moved_git(made: Making, *, link: bool) -> None:
    elsewhere = made.place / f"git of {made.root.name}"
    (made.root / ".git").rename(elsewhere)
    if link:
        (made.root / ".git").symlink_to(elsewhere)
    else:
        (made.root / ".git").write_text(f"gitdir: {elsewhere}\n")


def _payloads(made: Making) -> None:
    (made.root / ".gitattributes").write_text("*.py filter=x diff=x merge=x\n")
    made.commit()
    (made.root / ".git/hooks").rename(made.root / ".git/samples")
    (made.root / ".git/hooks").mkdir()
    hooks = ("pre-commit", "post-commit", "reference-transaction", "post-checkout", "post-index-change", "pre-push")
    for name in hooks:
        (made.root / ".git/hooks" / name).symlink_to(made.program)
    keys = (
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "diff.x.textconv",
        "diff.external",
        "merge.x.driver",
    )
    keys += ("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "gpg.program")
    keys += ("credential.helper", "uploadpack.packObjectsHook", "core.alternateRefsCommand", "sequence.editor")
    for key in keys:
        made.git("config", key, str(made.program))
    made.git("config", "alias.ls-files", f"!{made.program}")
    made.git("config", "commit.gpgSign", "true")
    for file in made.root.rglob("*.py"):
        os.utime(file)


def _remote(made: Making) -> None:
    made.set(remote__origin__url=f"--upload-pack={made.program}")
    made.git("config", "remote.-x.url", f"ext::{made.program}")
    made.git("config", "remote.-x.promisor", "true")
    made.git("config", "extensions.partialClone", "-x")
    blob = made.git("rev-parse", "HEAD:sub/b.py")
    (made.root / ".git/objects" / blob[:2] / blob[2:]).unlink()


def _branch(made: Making) -> None:
    for name in ("-x", "--output=x", "HEAD"):
        made.git("update-ref", f"refs/heads/{name}", "HEAD")
    made.git("symbolic-ref", "HEAD", "refs/heads/--output=x")


def _worktree(made: Making) -> None:
    made.git("worktree", "add", "-q", "--detach", str(made.place / "linked tree"))
    made.set(extensions__worktreeConfig="true")
    made.git("config", "--worktree", "core.fsmonitor", str(made.program))


def _links(made: Making) -> None:
    for name, target in {
        "loop.py": "loop.py",
        "one.py": "two.py",
        "two.py": "one.py",
        "sub/up": "..",
        "dangling.py": "nothing.py",
        "absolute.py": "/etc/passwd",
        "endless.py": "/dev/zero",
    }.items():
        (made.root / name).symlink_to(target)
    made.commit()


def _out(made: Making) -> None:
    (made.root / "out.py").symlink_to("../../outside/secret.py")
    (made.root / "outside").symlink_to("../../outside", target_is_directory=True)
    (made.root / "pyproject.toml").symlink_to("../../outside/pyproject.toml")
    made.commit()


def _special(made: Making) -> None:
    os.mkfifo(made.root / "fifo.py")
    os.mkfifo(made.root / "pyproject.toml")
    if os.geteuid() == 0:
        os.mknod(made.root / "zero.py", stat.S_IFCHR | 0o666, os.makedev(1, 5))


def _names(made: Making) -> None:
    names = [
        "-rf.py",
        "--output=x.py",
        "@{u}.py",
        ":(top)x.py",
        "con.py",
        "aux.py",
        "nul.",
        "a.py.",
        "x:y.py",
        "a\\b.py",
    ]
    names += ["A.py", "SUB/b.py", "e\u0301.py", "\u00e9.py", "spa ce.py", "'q\".py", "%n.py", "$(touch hit).py", "#.py"]
    made.write(dict.fromkeys(names, CODE))


def _bytes_name(made: Making) -> None:
    for name in (b"\xff\xfe.py", b"sub\xe9.py"):
        Path(os.fsdecode(os.fsencode(made.root) + b"/" + name)).write_text(CODE)
    made.commit()


def _texts(made: Making) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    bomb = "".join(f"{two}: &{two} [*{one},*{one}]\n" for one, two in itertools.pairwise(letters))
    made.write(
        {
            "huge.py": "x = '" + "y" * 3_000_000 + "'\nold_one(1)\n",
            "deep.py": "x = " + "(" * 5000 + ")" * 5000 + "\nold_one(1)\n",
            "deeper.py": "x = " + "-" * 100_000 + "1\nold_one(1)\n",
            "nest.py": "".join(" " * n + "if x:\n" for n in range(99)) + " " * 99 + "old_one(1)\n",
            "nul.py": b"x = 1\0\nold_one(1)\n",
            "bytes.py": b"\xff\xfe\x00old_one(1)\n",
            "returns.py": CODE.replace("\n", "\r"),
            "feed.py": "\x0cclass A:\n    pass\n\x0cdef f():\n    old_one(1)\n",
            "coding.py": "# -*- coding: nowhere -*-\nold_one(1)\n",
            "deep.json": "[" * 100_000,
            "bomb.yaml": "a: &a [x,x]\n" + bomb,
            "tag.yaml": "a: !!python/object/apply:os.system ['touch hit']\n",
            "n.ipynb": '{"cells": [{"cell_type": "code", "source": {"x": 1}}], "nbformat": 4}',
            "deep.toml": "a = " + "[" * 5000,
        }
    )


def _settings(made: Making) -> None:
    evil = f'plugins = ["{made.program}"]\ncommand = "{made.program}"\n'
    made.write({"pyproject.toml": f"[tool.fixer]\n{evil}", "sub/fixer.toml": evil})


def _modules(made: Making) -> None:
    code = f"open({str(made.hit)!r}, 'w')\n"
    files = {f"{name}.py": code for name in MODULES} | {f"{name}/__init__.py": code for name in MODULES}
    entry = "[fixer.rules]\nx = evil\n"
    made.write(
        {**files, "evil.py": code, "evil-1.dist-info/entry_points.txt": entry, "evil.pth": f"import evil;{code}"}
    )


def _broken(name: str, data: bytes) -> Callable[[Making], None]:
    def make(made: Making) -> None:
        (made.root / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
        (made.root / ".git" / name).write_bytes(data)

    return make


HOSTILE: Mapping[str, Callable[[Making], None]] = {
    "submodule": lambda made: _submodule(made, "lib", "../outside"),
    "submodule-option": lambda made: _submodule(made, "-uprogram", f"-u{made.program}"),
    "submodule-ext": lambda made: _submodule(made, "lib", f"ext::{made.program}"),
    "names": _names,
    "bytes-in-names": _bytes_name,
    "texts": _texts,
    "links": _links,
    "links-out": _out,
    "special-files": _special,
    "alternates": lambda made: void(
        (made.root / ".git/objects/info/alternates").write_text(f"{made.outside}/objects\n../../../x\n")
    ),
    "linked-work-tree": _worktree,
    "git-file": lambda made: _moved_git(made, link=False),
    "git-link": lambda made: _moved_git(made, link=True),
    "git-file-nowhere": lambda made: void(
        _moved_git(made, link=False), (made.root / ".git").write_text("gitdir: /nowhere\n")
    ),
    "core-worktree": lambda made: made.set(core__worktree=str(made.outside)),
    "bare-with-files": lambda made: made.set(core__bare="true"),
    "payloads": _payloads,
    "remote": _remote,
    "branch": _branch,
    "settings": _settings,
    "modules": _modules,
    "include-loop": lambda made: made.git("config", "include.path", "config") and None,
    "config-broken": _broken("config", b"[core\nx"),
    "head-broken": _broken("HEAD", b"\xff\0"),
    "head-elsewhere": _broken("HEAD", b"ref: refs/heads/../../../../outside/secret.py\n"),
    "index-broken": _broken("index", b"DIRC" + b"\xff" * 100),
    "refs-broken": _broken("packed-refs", b"# pack-refs\nxyz refs/heads/../../x\n"),
    "shallow-broken": _broken("shallow", b"zzz\n"),
    "grafts": _broken("info/grafts", b"x y z\n"),
    "lock": _broken("index.lock", b""),
    "tree-up": lambda made: made.tree(("100644", "..")),
    "tree-git": lambda made: made.tree(("100644", ".git"), ("100644", "a.py")),
    "tree-twice": lambda made: made.tree(("100644", "a.py"), ("100755", "a.py"), ("120000", "b.py")),
    "tree-slash": lambda made: made.tree(("100644", "b.py"), ("120000", "pyproject.toml")),
}


def void(*values: object) -> None:
    """Nothing."""


def make(place: Path) -> dict[str, Path]:
    """All of them below a directory, by what is the matter with them."""
    write(place, {"outside/secret.py": SECRET, "outside/pyproject.toml": "[tool.fixer]\nunsafe-fixes = true\n"})
    found = {}
    for name, harm in HOSTILE.items():
        made = Making(place, name)
        repository(made.root, BASE)
        harm(made)
        found[name] = made.root
    made.hit.unlink(missing_ok=True)  # git, in making them
    return found


if __name__ == "__main__":
    print(*make(Path(sys.argv[1]).resolve()).values(), sep="\n")
