"""What may take part in a training without a rule following it: beside it nothing is certain, and no fix is safe."""

from __future__ import annotations

import ast

import pytest
from cases import Case, cases, hold

from codemods.model.edits import Certainty, Consequence, Safety
from codemods.sources.files import is_document, is_manifest

_BESIDE = {
    "frozen": "def beside(model):\n    model.requires_grad_(False)\n",
    "frozen by an attribute": "def beside(model):\n    model.weight.requires_grad = False\n",
    "detached in place": "def beside(value):\n    value.detach_()\n",
    "output hook": "def beside(model, hook):\n    model.register_forward_hook(hook)\n",
    "input hook": "def beside(model, hook):\n    model.register_forward_pre_hook(hook)\n",
    "gradient hook": "def beside(value, hook):\n    value.register_hook(hook)\n",
    "hook of gradients": "def beside(model, hook):\n    model.register_full_backward_hook(hook)\n",
    "hook of accumulation": "def beside(weight, hook):\n    weight.register_post_accumulate_grad_hook(hook)\n",
    "hook of a step": "def beside(optimizer, hook):\n    optimizer.register_step_pre_hook(hook)\n",
    "weights from a vector": "def beside(t, weights):\n    t.nn.utils.vector_to_parameters(t.zeros(3), weights)\n",
    "function of weights": "def beside(func, model, weights, x):\n    func.functional_call(model, weights, x)\n",
}


def _unguarded(case: Case, files: dict[str, bytes]) -> list[str]:
    """What is said surely, or repaired safely, by rules that follow objects and know nothing of what stands beside."""
    found = (f for f in case.run(files, fix=False).findings if case.rule.code == f.code)
    return [
        f"{f.place.line} {f.message}"
        for f in found
        if (f.consequence >= Consequence.RAISES and f.certainty is Certainty.CERTAIN and f.safety is not Safety.DISPLAY)
        or (f.fix is not None and f.safety is Safety.SAFE)
    ]


@pytest.fixture(scope="module")
def followed() -> dict[str, Case]:
    """The fixtures of one Python file in which a rule that follows objects is sure, or repairs safely."""
    found = (c for c in cases() if c.kind != "same" and c.python and c.rule.follows)
    return {f"{each.rule.code} {each.name}": each for each in found if _unguarded(each, each.files)}


@pytest.mark.law
@pytest.mark.parametrize("what", _BESIDE)
def test_what_no_rule_follows_makes_nothing_safe(what: str, followed: dict[str, Case]) -> None:
    def law(case: Case) -> None:
        if any(f".{word}" in _BESIDE[what] for word in case.rule.knows):
            return  # it asks of that itself
        text = case.path.read_bytes().rstrip() + f"\n\n\n{_BESIDE[what]}".encode()
        assert _unguarded(case, {"case.py": text}) == []

    assert followed
    hold(law, followed)


_HELPERS = {
    "steps": "each.step()",
    "clears": "each.zero_grad()",
    "differentiates": "each.backward()",
    "drops a gradient": "each.weight.grad = None",
    "sets an attribute": "each.steps = 1",
    "sets one by name": "setattr(each, 'steps', 1)",
    "changes weights": "each.weight.mul_(0.5)",
    "unscales": "getattr(each, 'unscale_')()",
    "hooks": "each.register_forward_hook(print)",
    "sets a global name": "global loss; loss = each",
    "calls what is not known": "import engine; engine.run(each)",
    "runs what another does": "another(each)",
    "runs what it is given": "each()",
    "runs what nobody defines": "advance(each)",
    "enters what it is given": "with each: pass",
}
_ASIDE = """


def aside(*given):
    for each in given:
        {body}
    return given
"""
_ANOTHER = """

def another(each):
    return each.optimizer.step()
"""


def _beside(text: str, body: str) -> bytes:
    """A file in which every function begins with a call of one that does something."""
    lines = text.rstrip().splitlines()
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    for first in sorted((node.body[0] for node in functions), key=lambda each: -each.lineno):
        lines.insert(first.lineno - 1, " " * first.col_offset + ("aside(Some.step)" if body == "each()" else "aside()"))
    helper = _ASIDE.format(body=body.replace("; ", "\n        "))
    return ("\n".join(lines) + helper + (_ANOTHER if "another" in body else "")).encode()


@pytest.fixture(scope="module")
def inside(followed: dict[str, Case]) -> dict[str, Case]:
    """Those of them in which every finding stands in a function that has lines of its own."""

    def is_in_one(case: Case) -> bool:
        tree = ast.parse(case.path.read_text())
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        lines = {line for each in functions for line in range(each.lineno, (each.end_lineno or 0) + 1)}
        apart = all(each.body[0].lineno > each.lineno for each in functions)
        found = {f.place.line for f in case.run(fix=False).findings if f.code == case.rule.code}
        return apart and found <= lines

    return {name: each for name, each in followed.items() if is_in_one(each)}


@pytest.mark.law
@pytest.mark.parametrize("what", _HELPERS)
def test_a_helper_that_acts_makes_nothing_sure(what: str, inside: dict[str, Case]) -> None:
    def law(case: Case) -> None:
        assert _unguarded(case, {"case.py": _beside(case.path.read_text(), _HELPERS[what])}) == []

    hold(law, inside)


@pytest.mark.law
def test_a_helper_that_prints_takes_nothing_away(inside: dict[str, Case]) -> None:
    def law(case: Case) -> None:
        text = _beside(case.path.read_text(), "print(each)")
        assert len(_unguarded(case, {"case.py": text})) == len(_unguarded(case, case.files))

    hold(law, inside)


_AROUND = {
    "suppresses": ("import contextlib\n", "with contextlib.suppress(ValueError):"),
    "suppresses by its name": ("from contextlib import suppress\n", "with suppress(ValueError, KeyError):"),
    "is not known": ("import engine\n", "with engine.guard():"),
    "is given": ("", "with GIVEN:"),
    "expects an error": ("import pytest\n", "with pytest.raises(ValueError):"),
    "catches": ("", "try:"),
}
"""What may leave a body before its end: an import, and the line that opens it."""


_BODIES = (ast.FunctionDef, ast.For)


def _around(text: str, way: str, kind: type[ast.FunctionDef | ast.For]) -> bytes:
    """A file in which the body of every function, or of every loop, stands under a manager or in a `try`."""
    imported, opened = _AROUND[way]
    lines = text.rstrip().splitlines()
    for each in reversed([node for node in ast.walk(ast.parse(text)) if isinstance(node, kind)]):
        first, last = each.body[0], each.body[-1].end_lineno or 0
        inside = [f"    {line}" if line else line for line in lines[first.lineno - 1 : last]]
        ends = [f"{' ' * first.col_offset}except ValueError:", f"{' ' * first.col_offset}    pass"]
        opening = f"{' ' * first.col_offset}{opened}"
        lines[first.lineno - 1 : last] = [opening, *inside, *(ends if way == "catches" else [])]
    return f"{imported}{chr(10).join(lines)}\n".encode()


def _is_wrapped(text: str, kind: type[ast.FunctionDef | ast.For]) -> bool:
    """Whether the bodies of a program can be moved to the right line by line, and none is in another."""
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kind)]
    parts = [part for each in found for part in ast.walk(each) if part is not each]
    nested = any(isinstance(part, (kind, ast.FunctionDef, ast.Lambda)) for part in parts)
    decorated = any(isinstance(each, ast.FunctionDef) and each.decorator_list for each in found)
    begin = all(each.body[0].lineno > each.lineno for each in found)
    return bool(found) and begin and not nested and not decorated and text.isascii() and '"""' not in text


@pytest.mark.law
@pytest.mark.parametrize("kind", _BODIES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("way", _AROUND)
def test_a_body_that_may_be_left_makes_nothing_sure(
    way: str, kind: type[ast.FunctionDef | ast.For], inside: dict[str, Case]
) -> None:
    def law(case: Case) -> None:
        text = case.path.read_text()
        loops = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kind)]
        lines = {line for each in loops for line in range(each.lineno + 1, (each.end_lineno or 0) + 1)}
        found = {f.place.line for f in case.run(fix=False).findings if f.code == case.rule.code}
        if _is_wrapped(text, kind) and found <= lines:
            assert _unguarded(case, {"case.py": _around(text, way, kind)}) == []

    hold(law, inside)


def _heirs(text: str, lines: set[int]) -> list[str]:
    """A class for each method that holds one of some lines, which overrides it."""
    found = []
    for klass in (node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)):
        for method in (node for node in klass.body if isinstance(node, ast.FunctionDef)):
            start = min([method.lineno, *(each.lineno for each in method.decorator_list)])
            if lines & {*range(start, (method.end_lineno or 0) + 1)}:
                head = f"class Heir{len(found)}({klass.name}):\n    def {method.name}(self, *given):"
                found.append(f"{head}\n        return super().{method.name}(*given) * 0.5\n")
    return found


@pytest.mark.law
def test_a_helper_that_an_heir_overrides_is_not_sure(inside: dict[str, Case]) -> None:
    """A method that does nothing is called everywhere in a class, and an heir steps in its place."""

    def law(case: Case) -> None:
        text = case.path.read_text().rstrip()
        classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
        methods = [f for c in classes for f in c.body if isinstance(f, ast.FunctionDef) and f.args.args]
        found = {f.place.line for f in case.run(fix=False).findings if f.code == case.rule.code}
        if not found <= {n for f in methods for n in range(f.body[0].lineno, (f.end_lineno or 0) + 1)}:
            return  # of functions that stand in no class
        lines = text.splitlines()
        for method in sorted(methods, key=lambda each: -each.lineno):
            first = method.body[0]
            lines.insert(first.lineno - 1, f"{' ' * first.col_offset}{method.args.args[0].arg}.note_it()")
        for klass in sorted(classes, key=lambda each: -each.lineno):
            place = klass.body[-1].end_lineno + sum(m.body[0].lineno <= klass.body[-1].end_lineno for m in methods)
            lines[place:place] = ["", "    def note_it(self):", "        print(1)"]
        for klass in classes:
            lines += ["", "", f"class Heir{klass.name}({klass.name}):", "    def note_it(self):"]
            lines += ["        self.optimizer.step()"]
        assert _unguarded(case, {"case.py": "\n".join(lines).encode()}) == []

    hold(law, inside)


@pytest.mark.law
def test_a_method_that_an_heir_overrides_is_not_sure(followed: dict[str, Case]) -> None:
    def law(case: Case) -> None:
        text = case.path.read_text()
        lines = {f.place.line for f in case.run(fix=False).findings if f.code == case.rule.code}
        heirs = _heirs(text, lines)
        if len(heirs) == len(lines):  # each finding stands in a method of its own
            assert _unguarded(case, {"case.py": "\n\n".join([text.rstrip() + "\n", *heirs]).encode()}) == []

    hold(law, followed)


@pytest.mark.law
def test_no_fix_in_a_configuration_file_is_safe() -> None:
    """A schema, a digest, a script of another language may read it: no import shows who does."""

    def law(case: Case) -> None:
        found = (f for f in case.run(fix=False).findings if f.fix is not None and f.safety is Safety.SAFE)
        edited = {edit.path for f in found if f.fix is not None for edit in f.fix.edits}
        assert [path for path in edited if is_document(path) and not is_manifest(path)] == []

    hold(law, {f"{each.rule.code} {each.name}": each for each in cases() if each.kind != "same" and not each.python})
