"""What a run looks for that carries a project to newer releases of libraries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fixer.errors import Refusal
from fixer.run.request import Request

ALWAYS = ("VER007", "VER008", "VER009")
"""The rules that speak during an upgrade only."""


def upgrading(request: Request, releases: Sequence[str]) -> Request:
    """The request with these releases as targets, and with the rules that know what they changed.

    Args:
        releases: each as `PACKAGE@VERSION`; none: the request stays as it is.

    Raises:
        Refusal: if one is no release, or a package that no table speaks of.
    """
    if not releases:
        return request
    from codemods.frameworks.removed_names.tables import LIBRARIES, upgrading
    from codemods.model.plan import UPGRADE
    from codemods.project.pins import TWINS
    from fixer.project.selectors import targets

    texts, codes = [], set(ALWAYS)
    for release in releases:
        package, at, version = release.partition("@")
        if not (package and at and version):
            raise Refusal(f"{release!r} is no release: write PACKAGE@VERSION, such as transformers@5.23.0")
        library = "lightning" if package in TWINS else package
        if library not in LIBRARIES:
            raise Refusal(f"no table says what {package} changed: give one of {', '.join(LIBRARIES)}")
        texts.append(f"{package}=={version}")
        codes.update(upgrading(library))
    found = targets(texts, "PACKAGE@VERSION", UPGRADE)
    wanted = tuple(code for code in sorted(codes) if not request.select or code in request.select or code in ALWAYS)
    return replace(request, select=wanted, targets=(*request.targets, *found))
