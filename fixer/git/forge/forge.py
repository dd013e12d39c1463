"""How a pull request is opened, renewed, closed or left alone: the same on every host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from fixer.errors import Refusal
from fixer.git.forge.patience import Failed, FailedRequest
from fixer.git.forge.pull_request import Delivered, Existing, Host, PullRequest, short, signed, unsigned
from fixer.git.forge.refused import explained

GONE = "Nothing is left to fix here: {base} has it all. Closed by fixer; it opens another one if that changes."


@dataclass(frozen=True, slots=True)
class Forge:
    """The pull requests of one repository."""

    host: Host

    @property
    def name(self) -> str:
        """`GitHub`, `GitLab` or `Gitea`."""
        return self.host.name

    def standing(self, branch: str) -> tuple[Existing, ...]:
        """The pull requests from a branch, newest first.

        Raises:
            Refusal: if the host will not say.
        """
        with self._understanding():
            return tuple(self.host.find(branch))

    def deliver(
        self, pull: PullRequest, standing: Sequence[Existing] | None = None, *, unfinished: bool = False
    ) -> Delivered:
        """See to it that there is one open pull request of this text, or none if it is empty.

        The branch must have been pushed. Text that a person has changed stays as it is; a pull request that a person
        has closed is not opened again.

        Args:
            standing: what `standing` said, if it has been asked.
            unfinished: whoever opened it may have been cut off, and labels and reviewers be missing.

        Raises:
            Refusal: if the host does not take it; the text says why.
        """
        with self._understanding():
            return self._deliver(pull, standing, unfinished)

    @contextmanager
    def _understanding(self) -> Iterator[None]:
        """Turn what libraries raise about half an answer, of whatever class, into a sentence."""
        try:
            yield
        except (Refusal, Failed):
            raise
        except Exception as error:
            answer = FailedRequest(0, f"{type(error).__name__} in its answer")
            raise Refusal(explained(self.name, "", answer)) from error

    def _deliver(self, pull: PullRequest, standing: Sequence[Existing] | None, unfinished: bool) -> Delivered:
        found = self.standing(pull.branch) if standing is None else standing
        existing = next((one for one in found if one.state == "open"), None)
        if pull.empty:
            return self._close(existing, pull) if existing else Delivered("unchanged")
        if existing is None and (declined := declined_in(found)) is not None:
            return Delivered("left-alone", declined.number, declined.url, (why_declined(declined, pull.branch),))
        if existing is not None:
            return self._renew(existing, pull, unfinished)
        title = short(pull.title)
        opened = self.host.open(_worded(pull, title))
        if opened is None:
            # An earlier request came through though its answer did not.
            existing = next((one for one in self.standing(pull.branch) if one.state == "open"), None)
            if existing is None:
                raise Refusal(f"{self.name} says that {pull.branch} has a pull request, and does not show it")
            return self._renew(existing, pull, True)
        return Delivered("opened", opened.number, opened.url, self._shown_to(opened, pull))

    def _shown_to(self, opened: Existing, pull: PullRequest) -> tuple[str, ...]:
        """Set labels and ask reviewers; sentences about what could not be done."""
        notes = [*self.host.label(opened.number, pull.labels)] if pull.labels else []
        notes += self.host.ask(opened.number, pull.reviewers) if pull.reviewers else []
        return tuple(notes)

    def _renew(self, existing: Existing, pull: PullRequest, unfinished: bool) -> Delivered:
        if not existing.ours:
            why = f"the text of {existing.url} was changed by a person and stays as it is"
            return Delivered("unchanged", existing.number, existing.url, (why,))
        title = short(pull.title)
        body = signed(title, pull.body)
        moved = existing.base not in ("", pull.base)
        notes = self._shown_to(existing, pull) if unfinished else ()
        if not moved and existing.title == title and _same(existing.body, body):
            return Delivered("unchanged", existing.number, existing.url, notes)
        self.host.edit(existing.number, title=title, body=body, base=pull.base)
        return Delivered("updated", existing.number, existing.url, notes)

    def _close(self, existing: Existing, pull: PullRequest) -> Delivered:
        # The mark first: should we be cut off here, the next run closes it, and nobody takes it for declined.
        body = signed(existing.title, unsigned(existing.body), "closed")
        self.host.edit(existing.number, title=existing.title, body=body, base=existing.base or pull.base)
        self.host.comment(existing.number, GONE.format(base=f"`{pull.base}`"))
        self.host.close(existing.number)
        return Delivered("closed", existing.number, existing.url)


def declined_in(found: Sequence[Existing]) -> Existing | None:
    """The newest of some pull requests, if a person has closed it and none is open."""
    return found[0] if found and found[0].declined and all(one.state != "open" for one in found) else None


def why_declined(existing: Existing, branch: str) -> str:
    """The sentence about it."""
    return f"{existing.url} was closed by a person, so {branch} is left alone; choose another branch to ask again"


def _worded(pull: PullRequest, title: str) -> PullRequest:
    return replace(pull, title=title, body=signed(title, pull.body))


def _same(one: str, other: str) -> bool:
    return [line.rstrip() for line in one.strip().splitlines()] == [
        line.rstrip() for line in other.strip().splitlines()
    ]
