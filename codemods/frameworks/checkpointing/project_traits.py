"""The program around a checkpointed call: adapters, frozen weights, ZeRO-3, flex attention, each with its place."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Sequence

import libcst as cst

from codemods.model.edits import Evidence
from codemods.project.index import Index
from codemods.rules.context import Context
from codemods.sources.config import Config, Scalar, Table
from codemods.syntax import rewrite
from codemods.syntax.tree import walk

ADAPTERS = frozenset(
    {
        *("peft.get_peft_model", "peft.LoraConfig", "peft.PeftModel.from_pretrained", "peft.AdaLoraConfig"),
        *("peft.PeftModelForCausalLM.from_pretrained", "peft.inject_adapter_in_model", "peft.LoHaConfig"),
        *("peft.tuners.lora.LoraConfig", "loralib.mark_only_lora_as_trainable"),
    }
)
_HOOKS = (
    *("register_forward_hook", "register_forward_pre_hook", "register_module_forward_hook"),
    *("register_module_forward_pre_hook", "register_full_backward_hook"),
)
_INPUT_GRADS = ("enable_input_require_grads", "make_inputs_require_grad", "make_inputs_require_grads")
_EMBEDDINGS = ("get_input_embeddings", "embed_tokens", "embeddings", "wte", "word_embeddings", "emb", "embed")
_ZERO3 = re.compile(r"(?:z|zero|stage)[-_]?3(?![0-9])", re.IGNORECASE)
_ZERO3_FILES = ("ds_config.json", "ds_config_zero3.json", "deepspeed.json", "deepspeed_config.json", "zero3.json")
_ZERO3_FOLDERS = ("", "configs", "config", "deepspeed", "scripts", "ds_configs")
_MOST_FILES = 100
"""Of one program, beyond which it is not followed."""


def program(ctx: Context) -> tuple[str, ...]:
    """The files of the program that a file belongs to: what it imports, who imports it, and what those import."""

    def files() -> tuple[str, ...]:
        stem = posixpath.basename(ctx.path).removesuffix(".py")
        if stem == "__init__":
            stem = posixpath.basename(posixpath.dirname(ctx.path))
        above = [
            path for path in ctx.index.search(ctx.path, (stem.encode(),)) if ctx.path in _imported(ctx.index, path)
        ]
        return _followed(ctx.index, [ctx.path, *above])

    return ctx.index.recall((program, ctx.path), files)


def _followed(index: Index, paths: Sequence[str]) -> tuple[str, ...]:
    """Some files and what they import, directly and by way of others."""
    found = dict.fromkeys(paths)
    waiting = list(found)
    while waiting and len(found) < _MOST_FILES:
        new = [path for path in sorted(_imported(index, waiting.pop(0))) if path not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return tuple(found)


def _imported(index: Index, path: str) -> frozenset[str]:
    """The files of the project that a file imports."""
    facts = index.facts(path) if path.endswith(".py") else None
    found = set()
    for each in facts.imports if facts is not None else ():
        for dotted in (each.path or each.target, (each.path or each.target).rpartition(".")[0]):
            module = index.module(path, dotted) if dotted.strip(".") else None
            if isinstance(module, str):
                found.add(module)
    return frozenset(found)


def _calls(ctx: Context, *names: str) -> Iterator[tuple[Context, cst.Call]]:
    """The calls of these last names in the program."""
    for path in program(ctx):
        facts = ctx.index.facts(path)
        if facts is not None and not facts.called.isdisjoint(names) and (other := ctx.other(path)) is not None:
            yield from ((other, call) for call in other.named_calls(*names))


def hooks(ctx: Context) -> Evidence | None:
    """Where the program registers a hook that runs with a module, and so in the checkpointed block, too."""
    for other, call in _calls(ctx, *_HOOKS):
        return other.evidence(call, "a hook that may do something else when it is recomputed is registered")
    return None


def adapters(ctx: Context, near: cst.CSTNode | None = None, model: str | None = None) -> Evidence | None:
    """Where the program puts adapters (LoRA and its kin) on a model.

    Args:
        near: leave out code of this file that has nothing to do with this node: other tests, and what never runs
            together with it.
        model: leave out other models of the same function.
    """
    names = {name.rpartition(".")[2] for name in ADAPTERS}
    made = [(other, call) for other, call in _calls(ctx, *names) if other.means(call.func, ADAPTERS)]
    if near is not None:
        home = _outermost(ctx, near)
        here = [(o, call) for o, call in made if o is ctx and _outermost(ctx, call) is home and _wrapped(ctx, call)]
        made = [(o, call) for o, call in here or made if o is not ctx or _belongs(ctx, call, near, model)]
    return next((o.evidence(call, "adapters are trained beside frozen weights") for o, call in made), None)


def _wrapped(ctx: Context, call: cst.Call) -> set[str]:
    """The names of the model that a call puts adapters on, before and after; none for a mere configuration."""
    wrapped, statement = rewrite.positional(call, 0), ctx.statement(call)
    if wrapped is None:
        return set()
    targets = [t.target for t in statement.targets] if isinstance(statement, cst.Assign) else []
    return {name for node in (wrapped.value, *targets) if (name := ctx.name(node))}


def _belongs(ctx: Context, call: cst.Call, near: cst.CSTNode, model: str | None) -> bool:
    """Whether adapters that a call of this file makes may be those of a model that `near` is about."""
    here, there = _outermost(ctx, near), _outermost(ctx, call)
    if here is not there:
        tests = (each for each in (here, there) if isinstance(each, cst.FunctionDef))
        return not any(each.name.value.startswith("test") for each in tests)
    if _contrary(ctx, call, near):
        return False
    wrapped = _wrapped(ctx, call)
    return model is None or not wrapped or model in wrapped


def _outermost(ctx: Context, node: cst.CSTNode) -> cst.CSTNode:
    """The function at module or class level around a node; the module itself outside of them."""
    functions = [above for above in ctx.ancestors(node) if isinstance(above, cst.FunctionDef)]
    return functions[-1] if functions else ctx.module


def _contrary(ctx: Context, a: cst.CSTNode, b: cst.CSTNode) -> bool:
    """Whether two nodes stand under tests of which one says what the other denies."""
    here, there = set(_assumed(ctx, a)), set(_assumed(ctx, b))
    return any((text, not holds) in there for text, holds in here)


def _assumed(ctx: Context, node: cst.CSTNode) -> Iterator[tuple[str, bool]]:
    """What the `if`s around a node say, part by part: the text of a test, and whether it holds."""
    below = node
    for above in ctx.ancestors(node):
        if isinstance(above, cst.If) and below in (above.body, above.orelse):
            yield from _parts(ctx, above.test, below is above.body)
        below = above


def _parts(ctx: Context, test: cst.BaseExpression, holds: bool) -> Iterator[tuple[str, bool]]:
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            yield from _parts(ctx, inner, not holds)
        case cst.BooleanOperation(operator=cst.And() | cst.Or() as operator) if isinstance(operator, cst.And) is holds:
            yield from (*_parts(ctx, test.left, holds), *_parts(ctx, test.right, holds))
        case _:
            yield _plain(ctx, test), holds


def frozen(ctx: Context, model: str, near: cst.CSTNode | None = None) -> Evidence | None:
    """Where this file freezes a model, or a part of it, by the name `model`.

    Args:
        near: leave out other functions, whose variables are others, and code that never runs together with this node.
    """
    for node, text in _frozen(ctx):
        if near is not None and not text.startswith("self."):
            if _outermost(ctx, node) is not _outermost(ctx, near) or _contrary(ctx, node, near):
                continue
        part = text.startswith(f"{model}.") and "pos" not in text[len(model) :]
        if part or (text == model and _trains_a_part(ctx, model)):
            return ctx.evidence(node, f"`{text}` is frozen")
    return None


def _trains_a_part(ctx: Context, model: str) -> bool:
    """Whether a part of a model is switched on again in this file: of one that is all frozen, nothing is lost."""
    for call, text in _switches(ctx):
        given = rewrite.argument(call, "requires_grad", 0)
        if text.startswith(f"{model}.") and (given is None or _is_true(given.value)):
            return True
    targets = (t.target for a in ctx.all(cst.Assign, "requires_grad") if _is_true(a.value) for t in a.targets)
    return any(isinstance(target, cst.Attribute) and target.attr.value == "requires_grad" for target in targets)


def _is_true(node: cst.BaseExpression) -> bool:
    return rewrite.literal(node) is True


def frozen_embeddings(ctx: Context) -> Evidence | None:
    """Where the program freezes embeddings of tokens or patches; positions are added to these, and cut nothing."""
    for path in program(ctx):
        facts = ctx.index.facts(path)
        other = ctx.other(path) if facts is not None and "requires_grad" in (ctx.index.text(path) or "") else None
        for node, text in _frozen(other) if other is not None else ():
            parts = re.findall(r"\w+", text)
            if any("emb" in part or part == "wte" for part in parts) and not any("pos" in part for part in parts):
                return other.evidence(node, f"`{text}` is frozen") if other is not None else None
    return None


def _frozen(ctx: Context) -> Iterator[tuple[cst.CSTNode, str]]:
    """What a file freezes, as it is written: the statement, and `model.embeddings`."""
    for call, text in _switches(ctx):
        given = rewrite.argument(call, "requires_grad", 0)
        if given is not None and rewrite.literal(given.value) is False:
            yield call, text
    for assignment in ctx.all(cst.Assign, "requires_grad"):
        match assignment.targets:
            case [cst.AssignTarget(target=cst.Attribute(value=owner, attr=cst.Name("requires_grad")))]:
                if rewrite.literal(assignment.value) is False:
                    yield assignment, _plain(ctx, owner)
    for loop in ctx.all(cst.For, "requires_grad"):
        match loop.iter:
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("parameters" | "named_parameters"))):
                if any(_freezes(node) for node in walk(loop.body)):
                    yield loop, _plain(ctx, owner)


def _switches(ctx: Context) -> Iterator[tuple[cst.Call, str]]:
    """The calls of `X.requires_grad_(…)` in a file, each with `X` as it is written."""
    for call in ctx.all(cst.Call, "requires_grad_"):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "requires_grad_":
            yield call, _plain(ctx, call.func.value)


def _plain(ctx: Context, node: cst.BaseExpression) -> str:
    """An expression without spaces and comments."""
    return ast.unparse(ast.parse(f"({ctx.module.code_for_node(node)}\n)", mode="eval"))


def _freezes(node: cst.CSTNode) -> bool:
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name("requires_grad")))], value=value):
            return rewrite.literal(value) is False
        case cst.Call(func=cst.Attribute(attr=cst.Name("requires_grad_")), args=[cst.Arg(value=value)]):
            return rewrite.literal(value) is False
    return False


def gives_inputs_gradients(ctx: Context) -> bool:
    """Whether the program lets the embeddings' outputs require gradients."""
    if any(name in (ctx.index.text(path) or "") for path in program(ctx) for name in _INPUT_GRADS):
        return True
    for path in program(ctx):
        other = ctx.other(path) if "requires_grad_" in (ctx.index.text(path) or "") else None
        for call, owner in _switches(other) if other is not None else ():
            given = rewrite.argument(call, "requires_grad", 0)
            switched_on = not call.args or (given is not None and rewrite.literal(given.value) is True)
            if switched_on and set(re.findall(r"\w+", owner)) & {*_EMBEDDINGS}:
                return True
    return False


def unsloth(ctx: Context) -> Evidence | None:
    """Where the program hands checkpointing to Unsloth, which requires the reentrant variant."""
    for path in program(ctx):
        facts = ctx.index.facts(path)
        for each in facts.imports if facts is not None else ():
            if each.target.partition(".")[0] == "unsloth":
                return Evidence(path, each.line, "Unsloth owns checkpointing")
    return None


def forbids_non_reentrant(ctx: Context, *, partly_frozen: bool) -> Evidence | None:
    """What shows that non-reentrant checkpointing fails in this program.

    Args:
        partly_frozen: whether weights are frozen or adapters trained: only then ZeRO-3 is in the way.
    """
    inside = _followed(ctx.index, [ctx.path])
    for path in program(ctx):
        text = ctx.index.text(path) or ""
        for node in ast.walk(ast.parse(text)) if "flex_attention" in text else ():
            if _is_flex_attention(node, imports=path in inside):
                return Evidence(path, getattr(node, "lineno", 1), "flex attention is used")
    return _zero3(ctx) if partly_frozen else None


def _is_flex_attention(node: ast.AST, *, imports: bool) -> bool:
    """Whether a model is made with flex attention or, where `imports` count, it is imported."""
    match node:
        case ast.keyword(arg="attn_implementation", value=ast.Constant(value="flex_attention")):
            return True
        case ast.ImportFrom(module=module, names=names):
            return imports and ("flex_attention" in (module or "") or any(n.name == "flex_attention" for n in names))
    return False


def may_forbid_non_reentrant(ctx: Context) -> Evidence | None:
    """Where the program uses DeepSpeed, whose configuration may be ZeRO-3."""
    for path in program(ctx):
        facts = ctx.index.facts(path)
        for each in facts.imports if facts is not None else ():
            if each.target.partition(".")[0] == "deepspeed":
                return Evidence(path, each.line, "DeepSpeed is used, and its configuration may be ZeRO-3")
    return None


def _zero3(ctx: Context) -> Evidence | None:
    """Where ZeRO-3 is configured: in a call or a dictionary of the program, or in a file of DeepSpeed's usual name."""
    why = "ZeRO-3 is configured"
    for path in program(ctx):
        text = ctx.index.text(path) or ""
        if "deepspeed" in text.lower() or "zero_optimization" in text:
            for node in ast.walk(ast.parse(text)):
                if _is_zero3(node):
                    return Evidence(path, getattr(node, "lineno", 1), why)
    root = ctx.index.root(ctx.path)
    for folder in _ZERO3_FOLDERS:
        for name in _ZERO3_FILES:
            path = posixpath.join(root, folder, name)
            document = ctx.index.document(path)
            if isinstance(document, Config) and len(document.roots) == 1 and isinstance(document.roots[0], Table):
                stage = document.roots[0].get("zero_optimization", "stage")
                if isinstance(stage, Scalar) and stage.value == 3:
                    return Evidence(path, (ctx.index.text(path) or "").count("\n", 0, stage.start) + 1, why)
    return None


def _is_zero3(node: ast.AST) -> bool:
    match node:
        case ast.keyword(arg="deepspeed" | "deepspeed_config" | "strategy", value=ast.Constant(value=str(named))):
            return _ZERO3.search(named) is not None
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), keywords=keywords) if "DeepSpeed" in name:
            return any(k.arg in ("stage", "zero_stage") and getattr(k.value, "value", None) == 3 for k in keywords)
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return any(getattr(k, "value", None) == "stage" and getattr(v, "value", None) == 3 for k, v in pairs)
    return False
