"""Releases that code installs: `session.install("pytorch-lightning==1.9.5")`, as for nox or an image."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from codemods.analysis import releases_beside_names
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Evidence
from codemods.model.plan import Target
from codemods.project import versions
from codemods.project.dependencies import Importing
from codemods.project.importing import module_of
from codemods.project.index import Index
from codemods.project.pins import TWINS
from codemods.rules.file_context import FileContext
from codemods.sources import files
from codemods.sources.manifest import Manifest
from codemods.sources.manifest.specifiers import alternatives

_IMAGES = {
    "transformers": ("transformers_version=", 'transformers_version": ', "transformers_version': "),
    "torch": ("pytorch_version=", 'pytorch_version": ', "pytorch_version': ", "pytorch-training:"),
}
"""By which code, or a definition of an image, chooses a release of a library (`image_of_a_service`, `base_image`)."""
_SPELLED = {"torch": ("torch", "pytorch", "PyTorch")}
_OPERATOR = r"(?:===|==|~=|!=|<=|>=|<|>|\^|~)"
_RELEASE = r"(?:[\"']?(?:v?\d|\$|\{|%)[^\s\"',;)\]|`]*|[\"'] *\+)"
_SPEC = (
    rf"\s*{_OPERATOR}\s*{_RELEASE}(?:\s*,\s*{_OPERATOR}\s*{_RELEASE})*"
    r"|[./_-]?v?\d+[.-]\d+(?:\.\d+|\.?(?:a|b|rc|dev|post)\d+)*"
    r"|[ \t]*=[ \t]*[\"']?v?\d[\w.*]*|(?:@|:)[ \t]*[\"']?v?\d[\w.*]*|[\"'][ \t]*:[ \t]*[\"']v?\d[\w.*]*"
)
"""What follows the name of a library where its release is chosen: a comparison, a tag, the value of a key, as in
`module load PyTorch/1.13.1`, `torch-1.13.1-cp310.whl`."""
_SAID = r"[` ]*(?:version)?[` ]*v?(\d+\.[\d.]+)"
"""The same where people tell what they used, as `- Transformers 4.30.2` in a model card (`readme`)."""
_COMMANDED = (b"install", b"requirements")
_CHOSEN = re.compile(
    r"(?:pip3?|conda|mamba|uv add|poetry add)\b[^\n#;&|]*\binstall\b(?:[^\n#;&|]*?[ \t])??[\"']?"
    r"(?P<variable>\$\{?\w+\}?)[\"']?(?:[=<>~!]=|[ \t\n])"
    r"|\b(?:sed|grep|awk|head|tail|cut)\b[^\n;&|]*\brequirements[\w.*-]*\.(?:txt|in)\b"
)
"""A command that installs what a variable names, or that reads a list of requirements in part."""
_LISTED = re.compile(r"\binstall\b[^\n#;&|]*?[ \t](?:-r|--requirement)[ =]?[\"']?(?P<list>[\w./-]+)")
"""A command that installs a list of requirements."""
_ADDRESSING = frozenset(
    {"-e", "--editable", "-c", "--constraint", "-f", "--find-links", "-i", "--index-url", "--extra-index-url"}
    | {"-t", "--target", "--prefix", "--root", "--cache-dir", "--trusted-host", "--timeout", "-n", "--name"}
)
"""Options whose value is no package."""
_TOLD = re.compile(r"(?i:readme|install)[^.]*(?:\.[\w-]+)?\.(?:md|rst|txt|org)|README|INSTALL")
_SECTIONED = (".toml", ".cfg")
"""Packaging files that other tools have sections in, of which not all are read."""
_DATED = {"torch": "(?:nvidia/|l4t-)pytorch:"}
"""Images whose tags are no releases of the library in them."""
_AFTER = (
    *("=~<>!^@:[/0123456789"),
    *(f".{digit}" for digit in range(10)),
    *(f" {sign}" for sign in "=~<>!"),
    *('":', "':", '":"'),
)


@question
def no_code_pins_another_release(ctx: FileContext, affected: Mapping[str, str]) -> Answer:
    """Whether no script of the project installs a release of a library out of a range (`pinned_by_nox`).

    Args:
        affected: package → the range that something holds for.
    """
    return unless(place for package, range in affected.items() for place in pins(ctx.index, ctx.path, package, range))


def keeps(answer: Answer) -> bool:
    """Whether code, a script or an image installs a release, which stays whatever packaging files say."""
    installing = (".py", ".sh")
    return answer.is_unknown and any(
        each.path.endswith(installing) or (files.is_installer(each.path) and not _is_told(each.path))
        for each in answer.places
    )


def pins(index: Index, path: str, package: str, range: str) -> Iterator[Evidence]:
    """The places in the project of a file, and around it, that install a release of a package out of a range."""
    root, told = index.root(path), _nothing_is_required(index, path, package)
    around = index.recall((pins, root, package, range, told), lambda: tuple(_around(index, root, package, range, told)))
    here: tuple[Evidence, ...] = ()
    if all(each.path != path for each in around):
        asked = (_pins_in, path, package, range, told)
        here = index.recall(asked, lambda: tuple(_pins_in(index, path, package, range, told)))
    yield from (*here, *around, *(_reads_its_requirements(index, root) if told else ()))
    for listed in _lists(index, root):
        yield from _pins_in(index, listed, package, range, told)
    yield from _by_address(index, path, package)
    yield from _by_notebooks(index, path, package, range)
    yield from _by_importers(index, path, package, range)
    yield from by_commands(index, root)


def by_commands(index: Index, root: str) -> tuple[Evidence, ...]:
    """What commands install that no file names: a package under a variable, a part of a list of requirements.

    `pip install "${PACKAGE}==${RELEASE}"`, `grep -v lightning requirements.txt` (test_releases_said).
    """
    return index.recall((by_commands, root), lambda: tuple(_by_commands(index, root)))


def _by_commands(index: Index, root: str) -> Iterator[Evidence]:
    for path in index.holding(root, _COMMANDED, ("",)):
        if not (path.endswith((*files.SHELL, ".yml", ".yaml")) or files.is_installer(path)):
            continue
        text = index.text(path) or ""
        for found in _CHOSEN.finditer(text):
            before = text[: found.start("variable")].rstrip("\"' \t").rpartition(" ")[2] if found["variable"] else ""
            if not _is_noted(text, found.start()) and before not in _ADDRESSING:
                says = "a variable names what this installs" if found["variable"] else "this takes a part of a list"
                yield _evidence(path, text, found.start(), says)


def _lists(index: Index, root: str) -> tuple[str, ...]:
    """The lists that commands install, and that are no packaging files by their names (`listed_by_a_command`)."""
    return index.recall((_lists, root), lambda: tuple(dict.fromkeys(_installed_lists(index, root))))


def _installed_lists(index: Index, root: str) -> Iterator[str]:
    for path in index.holding(root, _COMMANDED, ("",)):
        if path.endswith((*files.SHELL, ".yml", ".yaml")) or files.is_installer(path):
            for found in _LISTED.finditer(index.text(path) or ""):
                places = (posixpath.join(home, found["list"]) for home in (posixpath.dirname(path), root, ""))
                listed = next((each for each in map(posixpath.normpath, places) if index.exists(each)), None)
                if listed is not None and not files.is_manifest(listed):
                    yield listed


def _by_address(index: Index, path: str, package: str) -> Iterator[Evidence]:
    """What asks for a commit of any age: `lightning @ git+https://…@1.9.5` (`by_address`)."""
    for name in TWINS if package in TWINS else (package,):
        for manifest, requirement in index.requirements(path, name):
            document = index.document(manifest)
            if requirement.specs is None and isinstance(document, Manifest):
                says = f"a commit of {requirement.package} is installed for this"
                yield Evidence(manifest, document.line(requirement), says)


def _by_notebooks(index: Index, path: str, package: str, range: str) -> Iterator[Evidence]:
    """What a notebook that runs or imports a file installs first (`run.ipynb` in test_releases_said)."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    runs = tuple(f"{form}{stem}".encode() for form in ("%run ", "python ", "import ", "from "))
    for other in index.holding(index.root(path), runs, (files.NOTEBOOK,)) if path.endswith(files.PYTHON) else ():
        target = index.target(other, package)
        if target is not None and not versions.may(target, range):
            yield Evidence(other, 1, f"{package} {target.spec.lstrip('=')} may be installed for this")


def _by_importers(index: Index, path: str, package: str, range: str) -> Iterator[Evidence]:
    """What a project of the repository asks for that has another release and may import a file, or what does
    (`test_a_project_with_an_older_release_imports_the_file`).
    """
    key = (_by_importers, package, range)
    older = index.recall(key, lambda: frozenset(_projects_outside(index, package, range))) - {index.root(path)}
    seen, waiting = {path}, [path] if older and path.endswith(files.PYTHON) else []
    while waiting:
        module = waiting.pop()
        for other in index.found(Importing("", module_of(module))):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
                asked = index.requirements(other, package) if index.root(other) in older else []
                for manifest, requirement in asked[:1]:
                    document = index.document(manifest)
                    line = document.line(requirement) if isinstance(document, Manifest) else 1
                    yield Evidence(manifest, line, f"{other}, which uses this, has {package} {requirement.written}")


def _projects_outside(index: Index, package: str, range: str) -> Iterator[str]:
    """The folders of the projects that ask for a release of a package out of a range."""
    for root in index.versions.roots():
        target = index.versions.project(root).targets.get(package)
        if target is not None and not target.given and not versions.may(target, range):
            yield root


def _reads_its_requirements(index: Index, root: str) -> Iterator[Evidence]:
    """Where `setup.py` asks for what it reads from files that nobody else takes for requirements (`list_of_setup`)."""
    path = f"{root}/setup.py".lstrip("/")
    text = index.text(path) if index.exists(path) else None
    if text is not None and "install_requires" in text and re.search(r"read_text|readlines|\bopen\(", text):
        yield _evidence(path, text, text.find("install_requires"), "which releases this asks for is not in sight")


def _nothing_is_required(index: Index, path: str, package: str) -> bool:
    """Whether no packaging file chooses among the releases of a package."""
    target = index.target(path, package)
    return target is None or not target.spec


def _around(index: Index, root: str, package: str, range: str, told: bool) -> Iterator[Evidence]:
    """What other files say: those of a project, and installers that lie in the directories above it.

    What lies in another folder of the repository installs something else (`test_another_folder_says_nothing`).
    """
    names = (*_names(package), *(name.upper() for name in _names(package)), *_spoken(package))
    named = index.holding("", tuple(name.encode() for name in names), ("",))
    signs = [f"{name}{sign}" for name in _names(package) for sign in _AFTER]
    signs += [*releases_beside_names.signs(_names(package)), *_IMAGES.get(package, ())]
    chosen = {*index.holding("", tuple(sign.encode() for sign in signs), ("",))}
    for other in named:
        home, installs = index.root(other), files.is_installer(other) or other.endswith(files.SHELL)
        is_above = installs and f"{root}/".startswith(f"{posixpath.dirname(other)}/".lstrip("/"))
        chooses = other in chosen or installs or not files.is_python(other)
        if chooses and (home == root or is_above) and not _is_read(other):
            yield from _pins_in(index, other, package, range, told)


def _is_read(path: str) -> bool:
    """Whether what a file says is known, or says nothing of others: a notebook's commands, settings of this program.

    Of packaging files with sections of other tools only the requirements are known (`hatch_environment`).
    """
    known = files.is_manifest(path) and (files.LOCK.fullmatch(path) or not path.endswith((*files.PYTHON, *_SECTIONED)))
    return bool(known) or path.endswith((files.NOTEBOOK, "fixer.toml"))


def _pins_in(index: Index, path: str, package: str, range: str, told: bool) -> Iterator[Evidence]:
    """What the text of one file installs."""
    text = index.text(path)
    if text is None:
        return
    read = index.document(path) if path.endswith(_SECTIONED) and files.is_manifest(path) else None
    known = [(each.start, each.end) for each in read.requirements] if isinstance(read, Manifest) else []
    names = "|".join(map(re.escape, _names(package)))
    images = "|".join(map(re.escape, _IMAGES.get(package, ()))) or "(?!)"
    start = rf"(?<!nvidia/)(?:(?<![\w.-])|(?<=\d[.-]))(?:{names})(?:\[[^\]\n]*\])?"
    pinned = rf"{start}(?P<spec>{_SPEC})|(?:{images})[\"']?(?P<image>\d[\d.]*)"
    addressed = rf"(?:git\+|@|github\.com[/:])\S+/(?:{names})(?:\.git)?(?=[@#\s\"']|$)"
    for pin in re.finditer(pinned, text):
        spec = f"=={pin['image'].rstrip('.')}.*" if pin["image"] else _spec(pin["spec"])
        if spec is None or _is_noted(text, pin.start()) or (_is_told(path) and not told):
            continue
        if any(first <= pin.start() < last for first, last in known):
            continue
        if not spec or not versions.may(Target(package, spec, path), range):
            release = spec.lstrip("=").removesuffix(".*")
            chosen = f"{package} {release} may be installed for this"
            says = chosen if spec else f"a variable chooses the {package} of this"
            yield _evidence(path, text, pin.start(), says)
    for place, release in releases_beside_names.beside(text, path, _names(package)) if not _is_told(path) else ():
        if _is_noted(text, place) or any(first <= place < last for first, last in known):
            continue
        if not versions.may(Target(package, f"=={release}.*", path), range):
            yield _evidence(path, text, place, f"{package} {release} may be installed for this")
    for image in re.finditer(_DATED.get(package, "(?!)"), text):
        if not _is_noted(text, image.start()):
            yield _evidence(path, text, image.start(), f"an image chooses the {package} of this")
    for commit in re.finditer(addressed, text):  # of any age, of any copy (by_address_in_a_script)
        line = text[text.rfind("\n", 0, commit.start()) + 1 : commit.start()]
        installs = re.search(r"\b(?:install|clone|url)\b", line)
        if installs and not _is_noted(text, commit.start()) and not (_is_told(path) and not told):
            yield _evidence(path, text, commit.start(), f"a commit of {package} may be installed for this")
    if told and _is_told(path):
        for said in re.finditer(rf"(?<![\w.-])(?:{'|'.join(_spoken(package))}){_SAID}", text):
            spec = f"=={said[1].rstrip('.')}"
            if not versions.may(Target(package, spec, path), range):
                yield _evidence(path, text, said.start(), f"{package} {said[1].rstrip('.')} was used for this")


def _spec(written: str) -> str | None:
    """A choice of releases as it is understood by `versions`; "" for any, None where it is no choice."""
    if re.search(r"[\"'] *\+", written):
        return ""  # of what is put together (`pinned_by_a_variable`)
    spec = re.sub(r"[\"'\s]", "", written)
    spec = re.sub(r"(?<=\d)-(?=\d)", ".", spec)  # of an image, `transformers.4-40` (`image_with_its_releases`)
    if spec[0] in "@:/._-v" or spec[0].isdigit():
        spec = f"={spec.lstrip('@:/._-').removeprefix('v')}"
    if re.search(r"[${%]", spec):
        return ""  # of a variable
    return spec if alternatives(spec) is not None else None


def _names(package: str) -> tuple[str, ...]:
    asked = (*TWINS, "PyTorch-Lightning") if package in TWINS else _SPELLED.get(package, (package,))
    return tuple(dict.fromkeys(name for each in asked for name in (each, each.replace("-", "_"))))


def _spoken(package: str) -> tuple[str, ...]:
    """How people write the name of a library."""
    others = ("PyTorch Lightning", "Pytorch Lightning") if package in TWINS else ()
    titles = (each.title() if len(each) > 4 else each.upper() for each in _names(package))
    return tuple(dict.fromkeys((*_names(package), *titles, *others)))


def _is_told(path: str) -> bool:
    """Whether a file is for readers: it counts where no packaging file says more."""
    return _TOLD.fullmatch(posixpath.basename(path)) is not None


def _is_noted(text: str, place: int) -> bool:
    """Whether a place is in a comment: a record of a run (cli), and no metadata of a script."""
    line = text[text.rfind("\n", 0, place) + 1 : place].lstrip()
    return line.startswith("#") and "# /// script" not in text[:place]


def _evidence(path: str, text: str, place: int, says: str) -> Evidence:
    return Evidence(path, text.count("\n", 0, place) + 1, says)
