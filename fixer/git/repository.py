"""A repository: what is read from it (with GitPython) and the objects and refs that are written (with git itself).

Nothing here touches HEAD, the index or the work tree of the person who runs us.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import git

from codemods.project.dependencies import name_of
from codemods.sources.files import is_listed
from fixer.errors import Refusal
from fixer.git.command import HARMLESS, OPTIONS, GitFailed, environment
from fixer.git.provenance import seal
from fixer.project.worktree import WorkTree

FILES = frozenset({"100644", "100755"})
"""Modes of regular files; links and submodules are not sources."""
SHA1 = 40
"""Digits of an object's name, unless the repository says otherwise."""


class TreeEntry(NamedTuple):
    """One file of a tree."""

    mode: str
    oid: str


class Repository:
    """An opened repository, bare or not.

    It reads blobs through one `git cat-file`, which ends with `close` or with the block of `with Repository.open(…)`.
    """

    def __init__(self, repo: git.Repo) -> None:
        self._repo = repo
        self._closed = False
        self._entries: dict[str, Mapping[str, TreeEntry]] = {}
        repo.git.set_persistent_git_options(c=list(HARMLESS))
        repo.git.update_environment(**environment(self.directory))

    @classmethod
    def open(cls, here: Path) -> Repository:
        """The repository that `here` lies in.

        Raises:
            Refusal: if there is none, or git does not trust it.
        """
        try:
            repository = cls(git.Repo(here, search_parent_directories=True))
            repository.call("rev_parse", "--git-dir")
            return repository
        except GitFailed as error:
            raise Refusal(str(error)) from error
        except (git.InvalidGitRepositoryError, git.NoSuchPathError) as error:
            raise Refusal(
                f"{here} is not in a git repository: run `git init` and commit, or apply without --branch"
            ) from error

    def __enter__(self) -> Repository:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process that reads blobs. Whoever still reads some pays for a process each time."""
        self._closed = True
        self._repo.git.clear_cache()

    @property
    def directory(self) -> Path:
        """Where git runs: the root of the work tree, or the git directory of a bare repository."""
        return Path(self._repo.working_dir)

    @property
    def root(self) -> Path | None:
        """The root of the work tree; None in a bare repository."""
        return None if self._repo.bare or not self._repo.working_tree_dir else Path(self._repo.working_tree_dir)

    def call(
        self,
        command: str,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        connecting: bool = False,
        **options: Any,
    ) -> bytes:
        """Run a git command; its output as bytes.

        Args:
            env: variables of the environment, on top of ours.
            connecting: get to a remote as the repository's configuration says.
            options: of `subprocess.Popen`, and `istream`, the file that git reads.

        Raises:
            Refusal: with git's own words, if it fails.
        """
        try:
            variables = environment(self.directory, env, connecting=connecting)
            answer = self._repo.git.execute(
                [git.Git.GIT_PYTHON_GIT_EXECUTABLE, *OPTIONS, command.replace("_", "-"), *arguments],
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                env=variables,
                **options,
            )
        except GitFailed as error:
            raise Refusal(str(error)) from error
        except git.GitCommandNotFound as error:
            raise Refusal("git is not installed, or not on the PATH") from error
        except git.GitCommandError as error:
            raise Refusal(said(error)) from error
        assert isinstance(answer, bytes)
        return answer

    def ask(self, command: str, *arguments: str, **options: Any) -> str | None:
        """The same for a question that may have no answer: text without the last line end, or None."""
        try:
            return os.fsdecode(self.call(command, *arguments, **options)).removesuffix("\n")
        except Refusal:
            return None

    def commit(self, ref: str) -> str | None:
        """The commit that `ref` names; None if there is none."""
        if ref.startswith("-") or "\0" in ref:
            return None
        return self.ask("rev_parse", "--verify", "--quiet", f"{ref}^{{commit}}")

    def entries(self, commit: str) -> Mapping[str, TreeEntry]:
        """Every file of a commit by path, links and submodules included."""
        if commit not in self._entries:
            found = {}
            for line in os.fsdecode(self.call("ls_tree", "-r", "-z", "--full-tree", commit)).split("\0")[:-1]:
                head, _, path = line.partition("\t")
                mode, _, oid = head.split(" ")
                found[path] = TreeEntry(mode, oid)
            self._entries[commit] = found
        return self._entries[commit]

    def files(self, commit: str) -> CommitFiles:
        """The files of a commit, read through this repository."""
        files = CommitFiles(self.directory, commit)
        files.repository = self
        return files

    def blob(self, oid: str) -> bytes | None:
        """The bytes of a blob; None if this clone does not have it and cannot get it."""
        if self._closed or len(oid) > SHA1:
            # GitPython does not read the objects of a SHA-256 repository.
            try:
                return self.call("cat_file", "blob", oid)
            except Refusal:
                return None
        try:
            _, kind, _, data = self._repo.git.get_object_data(oid)
        except (ValueError, OSError, git.GitError):
            self._repo.git.clear_cache()
            return None
        return data if kind in ("blob", b"blob") else None

    def setting(self, name: str, *, boolean: bool = False) -> str | None:
        """A value of git's configuration."""
        return self.ask("config", *(["--type=bool"] if boolean else []), "--get", name)

    def identity(self, who: str) -> str | None:
        """`AUTHOR` or `COMMITTER` as `Name <address>`; None if git does not know who that is."""
        found = self.ask("var", f"GIT_{who}_IDENT")
        return found.rpartition(">")[0] + ">" if found else None

    def checked_out(self) -> frozenset[str]:
        """The refs that the work trees of this repository stand on."""
        answer = self.ask("worktree", "list", "--porcelain") or ""
        return frozenset(line.removeprefix("branch ") for line in answer.split("\n") if line.startswith("branch "))

    def branches(self, *patterns: str) -> tuple[str, ...]:
        """The branches at or below `patterns`, without `refs/heads/`."""
        return tuple(self.heads(*patterns))

    def heads(self, *patterns: str) -> dict[str, str]:
        """The branches at or below `patterns`, each with the commit that it points at."""
        names = (f"refs/heads/{pattern}" for pattern in patterns)
        answer = self.ask("for_each_ref", "--format=%(objectname) %(refname:lstrip=2)", *names) if patterns else ""
        found = (line.partition(" ") for line in (answer or "").split("\n") if line)
        return {name: oid for oid, _, name in found}

    def history(self, base: str, tip: str) -> list[tuple[str, bytes]]:
        """The commits from `base` to `tip`, oldest first: each with its tree, its author and its words."""
        lines = self.call("log", "-z", "--reverse", "--format=%H %T %an <%ae>%n%B", f"{base}..{tip}", "--")
        return [(oid.decode(), rest) for oid, _, rest in (e.partition(b" ") for e in lines.split(b"\0") if e)]

    def move(self, branch: str, new: str, old: str | None, reason: str) -> None:
        """Point a branch at a commit, provided that it still points at `old` (None: that it does not exist)."""
        self.call("update_ref", "-m", reason, f"refs/heads/{branch}", new, old or "0" * len(new))


def said(error: git.GitCommandError) -> str:
    """What git said, on one line."""
    text = str(error.stderr or error.stdout or error).strip()
    text = text.removeprefix("stderr:").strip().strip("'").strip()
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return " ".join(lines).removeprefix("fatal: ").removeprefix("error: ") or f"git ended with {error.status}"


class CommitFiles:
    """The files of a commit, as the engine reads them. Can be sent to another process."""

    def __init__(self, directory: Path, commit: str) -> None:
        self._directory = directory
        self._commit = commit

    def __reduce__(self) -> tuple[type[CommitFiles], tuple[Path, str]]:
        return CommitFiles, (self._directory, self._commit)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CommitFiles) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((self._directory, self._commit))

    @cached_property
    def repository(self) -> Repository:
        """The repository that they are read through."""
        return Repository.open(self._directory)

    @cached_property
    def entries(self) -> Mapping[str, TreeEntry]:
        """The regular files of the commit by path."""
        return {
            path: entry
            for path, entry in self.repository.entries(self._commit).items()
            if entry.mode in FILES and not (".." in path and ".." in path.split("/"))
        }

    @cached_property
    def _directories(self) -> frozenset[str]:
        found: set[str] = set()
        for path in self.entries:
            while (path := path.rpartition("/")[0]) and path not in found:
                found.add(path)
        return frozenset(found)

    def identity(self, path: str) -> str | None:
        """What git calls the content of a file."""
        entry = self.entries.get(path)
        return entry.oid if entry is not None else None

    def read(self, path: str) -> bytes | None:
        """The bytes of a regular file."""
        entry = self.entries.get(path)
        if entry is None:
            return None
        data = self._checked_out.read(path) if self._checked_out is not None else None
        if data is not None and name_of(data) == entry.oid:
            return data
        return self.repository.blob(entry.oid)

    @cached_property
    def _checked_out(self) -> WorkTree | None:
        """Where most blobs lie as files: to read and to hash them is several times as fast as to unpack them."""
        root = self.repository.root
        return WorkTree(root.resolve()) if root is not None else None

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory of that name."""
        return path in self.entries or path in self._directories

    @cached_property
    def _sources(self) -> Sequence[str]:
        return sorted(filter(is_listed, self.entries))

    def files(self) -> Sequence[str]:
        """Every file that may be read, sorted."""
        return self._sources


class CommitSeries:
    """Commits on top of a commit, made from objects alone, with an index of their own."""

    def __init__(self, repository: Repository, base: str, scratch: Path) -> None:
        self._repository = repository
        self._scratch = scratch
        self.index = scratch / "index"
        self._environment = {"GIT_INDEX_FILE": str(self.index)}
        self._entries = repository.entries(base)
        self._base = self.tip = base
        self._fill()

    def restart(self) -> None:
        """Go back to the base; what was committed stands on its own."""
        self.tip = self._base
        if self._touched:
            self._fill()

    def _fill(self) -> None:
        self._call("read_tree", self._base, env=self._environment)
        self._touched = False

    def add(self, files: Mapping[str, bytes], message: str, *, identity: Mapping[str, str]) -> str:
        """Commit new contents of files; those of the base keep their modes. The new commit.

        Raises:
            Refusal: if git cannot sign it, or a path is a link or a submodule.
        """
        self._touched = True
        paths = sorted(files)
        names = []
        for number, path in enumerate(paths):
            (self._scratch / f"blob{number}").write_bytes(files[path])
            names.append(str(self._scratch / f"blob{number}"))
        listed = self._feed("hash_object", "\n".join(names).encode(), "-w", "--no-filters", "--stdin-paths")
        lines = [
            f"{self._mode(path)} {oid}\t".encode() + os.fsencode(path)
            for path, oid in zip(paths, listed.decode().split(), strict=True)
        ]
        self._feed("update_index", b"\0".join(lines) + b"\0", "-z", "--index-info", env=self._environment)
        tree = self._call("write_tree", "--missing-ok", env=self._environment).decode().strip()
        sign = ["-S"] if self._repository.setting("commit.gpgSign", boolean=True) == "true" else []
        text = seal(message, tree).encode()
        try:
            commit = self._feed(
                "commit_tree", text, *sign, "-p", self.tip, tree, env=dict(identity), terminal=bool(sign)
            )
        except Refusal as refusal:
            if sign:
                advice = "repair signing, or set commit.gpgSign to false"
                raise Refusal(f"git could not sign the commit ({refusal}): {advice}") from refusal
            raise
        self.tip = commit.decode().strip()
        return self.tip

    def _mode(self, path: str) -> str:
        entry = self._entries.get(path)
        if entry is not None and entry.mode not in FILES:
            raise Refusal(f"{path} is not a regular file of this repository: make it one")
        return entry.mode if entry else "100644"

    def _feed(self, command: str, data: bytes, *arguments: str, **options: Any) -> bytes:
        with tempfile.TemporaryFile(dir=self._scratch) as stream:
            stream.write(data)
            stream.seek(0)
            return self._call(command, *arguments, istream=stream, **options)

    def _call(self, command: str, *arguments: str, terminal: bool = False, **options: Any) -> bytes:
        """Run a git command that writes, out of reach of Ctrl-C: git would leave half an object behind.

        Args:
            terminal: the command may ask for a passphrase there.
        """
        return self._repository.call(command, *arguments, start_new_session=not terminal, **options)
