"""Pull requests on Gitea and Forgejo, whose API is close enough to GitHub's for PyGithub.

Source: https://docs.gitea.com/api/ (the operations of `repository` and `issue`). Other than there, a filter by
branch is not known, so the newest page is looked through, and a draft is a matter of the title.
"""

from __future__ import annotations

from fixer.git.forge.github import GitHub


class Gitea(GitHub):
    """The pull requests of one repository."""

    name = "Gitea"
    draft_prefix = "WIP: "
