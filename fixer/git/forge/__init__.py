"""Pull requests on GitHub, GitLab and Gitea: opened, renewed and closed in one way; a file for each host."""

from fixer.git.forge.find import forge_for
from fixer.git.forge.forge import Forge
from fixer.git.forge.patience import Patience
from fixer.git.forge.pull_request import Delivered, PullRequest

__all__ = ["Delivered", "Forge", "Patience", "PullRequest", "forge_for"]
