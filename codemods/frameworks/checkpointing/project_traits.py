"""The program around a checkpointed call: adapters, frozen weights, ZeRO-3, flex attention, each with its place."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from codemods.analysis.calls import argument, binder, literal, named_calls, positional
from codemods.analysis.mentions import Occurrence, mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.model.edits import Evidence
from codemods.project.index import Index
from codemods.rules.file_context import FileContext
from codemods.sources.config import Config, Scalar, Table
from codemods.syntax.module import FUNCTIONS, Module, walk

ADAPTERS = frozenset(
    {
        *("peft.get_peft_model", "peft.LoraConfig", "peft.PeftModel.from_pretrained", "peft.AdaLoraConfig"),
        *("peft.PeftModelForCausalLM.from_pretrained", "peft.inject_adapter_in_model", "peft.LoHaConfig"),
        *("peft.tuners.lora.LoraConfig", "loralib.mark_only_lora_as_trainable"),
    }
)
_TRAINED_TOO = frozenset({"modules_to_save", "trainable_token_indices"})
"""Arguments of adapters that name what is trained beside them."""
_HOOKS = (
    *("register_forward_hook", "register_forward_pre_hook", "register_module_forward_hook"),
    *("register_module_forward_pre_hook", "register_full_backward_hook"),
)
KBIT = "prepare_model_for_kbit_training"
"""PEFT's function that lets the inputs require gradients, too."""
_INPUT_GRADS = frozenset(("enable_input_require_grads", "make_inputs_require_grad", "make_inputs_require_grads"))
_EMBEDDINGS = frozenset(
    ("get_input_embeddings", "embed_tokens", "embeddings", "wte", "word_embeddings", "emb", "embed")
)
_ZERO3 = re.compile(r"(?:z|zero|stage)[-_]?3(?![0-9])", re.IGNORECASE)
_ZERO3_FILES = ("ds_config.json", "ds_config_zero3.json", "deepspeed.json", "deepspeed_config.json", "zero3.json")
_ZERO3_FOLDERS = ("", "configs", "config", "deepspeed", "scripts", "ds_configs")
_MOST_FILES = 100
"""Of one program, beyond which it is not followed."""
_TELLING = (
    "requires_grad",
    "flex_attention",
    "deepspeed",
    "DeepSpeed",
    "DEEPSPEED",
    "zero_optimization",
    "_require_grad",
)
"""Without one of these words a file has no trait."""


def program(ctx: FileContext) -> tuple[str, ...]:
    """The files of the program that a file belongs to: what it imports, who imports it, and what those import."""

    def files() -> tuple[str, ...]:
        above = [path for path in ctx.index.importing(ctx.path) if ctx.path in _imported(ctx.index, path)]
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

    def files() -> frozenset[str]:
        facts = index.facts(path) if path.endswith(".py") else None
        written = {each.path or each.target for each in facts.imports} if facts is not None else set()
        written |= {dotted.rpartition(".")[0] for dotted in written}
        found = (index.module(path, dotted) for dotted in sorted(written) if dotted.strip("."))
        return frozenset(module for module in found if isinstance(module, str))

    return index.recall((_imported, path), files)


@dataclass(frozen=True, slots=True)
class Traits:
    """What one file says of the model and its training, by line."""

    frozen_embeddings: tuple[int, str] | None = None
    """Where embeddings of tokens or patches are frozen, and how they are called."""
    gives_inputs_gradients: bool = False
    """Whether it lets the embeddings' outputs require gradients."""
    flex_attention: int | None = None
    """Where a model is made with flex attention."""
    imports_flex_attention: int | None = None
    zero3: int | None = None
    """Where ZeRO-3 is configured."""


def traits(index: Index, path: str) -> Traits:
    """What a file says of the model and its training; nothing where it cannot be read."""
    return index.recall((traits, path), lambda: _traits(index, path))


def _traits(index: Index, path: str) -> Traits:
    module = index.syntax(path) if index.says(path, *_TELLING) else None
    if module is None:
        return Traits()
    embeddings = ((node.lineno, name) for node, name in _freezing(module) if _is_embedding(re.findall(r"\w+", name)))
    imported = (n.lineno for n in module.all(ast.ImportFrom) if _is_flex_attention(n))
    used = (n.lineno for n in module.all(ast.keyword) if _is_flex_attention(n))
    configuring: list[ast.keyword | ast.expr] = [*module.all(ast.keyword), *module.all(ast.Call), *module.all(ast.Dict)]
    zero3 = (n.lineno for n in configuring if _is_zero3(n))
    return Traits(
        frozen_embeddings=next(embeddings, None),
        gives_inputs_gradients=_gives_inputs_gradients(module),
        flex_attention=next(used, None),
        imports_flex_attention=next(imported, None),
        zero3=next(zero3, None) if _speaks_of_deepspeed(module) else None,
    )


# -- adapters and hooks


def _calls(ctx: PythonContext, *names: str) -> list[tuple[PythonContext, ast.Call]]:
    """The calls of these last names in the program."""
    key = (_calls, names)
    if key not in ctx.memo:
        found: list[tuple[PythonContext, ast.Call]] = []
        for path in program(ctx):
            facts = ctx.index.facts(path)
            if facts is not None and not facts.called.isdisjoint(names) and (other := ctx.other(path)) is not None:
                found += ((other, call) for call in named_calls(other, *names))
        ctx.memo[key] = found
    made: list[tuple[PythonContext, ast.Call]] = ctx.memo[key]
    return made


@question
def no_hook_runs_inside(ctx: PythonContext) -> Answer:
    """Whether the program registers no hook that runs with a module, and so in a checkpointed block, too."""
    why = "a hook that may do something else when it is recomputed is registered"
    return unless(each.evidence(why) for each in mentions(ctx, *_HOOKS))


@question
def no_hook_sees_the_inputs(ctx: PythonContext) -> Answer:
    """Whether no hook runs behind or in front of a module, which could let its output require gradients."""
    why = "a hook that may let the inputs require gradients is registered"
    return unless(each.evidence(why) for each in mentions(ctx, *_HOOKS))


def adapters(ctx: PythonContext, near: ast.AST | None = None, model: str | None = None) -> Evidence | None:
    """Where the program puts adapters (LoRA and its kin) on a model.

    Args:
        near: leave out code of this file that has nothing to do with this node: other tests, and what never runs
            together with it.
        model: leave out other models of the same function.
    """
    names = sorted({name.rpartition(".")[2] for name in ADAPTERS})
    made = [(other, call) for other, call in _calls(ctx, *names) if other.means(call.func, ADAPTERS)]
    if near is not None:
        home = _outermost(ctx, near)
        here = [(o, call) for o, call in made if o is ctx and _outermost(ctx, call) is home and _wrapped(ctx, call)]
        made = [(o, call) for o, call in here or made if o is not ctx or _belongs(ctx, call, near, model)]
    return next((o.evidence(call, "adapters are trained beside frozen weights") for o, call in made), None)


def _wrapped(ctx: PythonContext, call: ast.Call) -> set[str]:
    """The names of the model that a call puts adapters on, before and after; none for a mere configuration."""
    wrapped, statement = positional(call, 0), ctx.statement(call)
    if wrapped is None:
        return set()
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {name for node in (wrapped, *targets) if (name := ctx.name(node))}


def _belongs(ctx: PythonContext, call: ast.Call, near: ast.AST, model: str | None) -> bool:
    """Whether adapters that a call of this file makes may be those of a model that `near` is about."""
    here, there = _outermost(ctx, near), _outermost(ctx, call)
    if here is not there:
        tests = (each for each in (here, there) if isinstance(each, FUNCTIONS))
        return not any(each.name.startswith("test") for each in tests)
    if _contrary(ctx, call, near):
        return False
    wrapped = _wrapped(ctx, call)
    return model is None or not wrapped or model in wrapped


def _outermost(ctx: PythonContext, node: ast.AST) -> ast.AST:
    """The function at module or class level around a node; the module itself outside of them."""
    functions = [above for above in ctx.ancestors(node) if isinstance(above, FUNCTIONS)]
    return functions[-1] if functions else ctx.module.tree


def _contrary(ctx: PythonContext, a: ast.AST, b: ast.AST) -> bool:
    """Whether two nodes stand under tests of which one says what the other denies."""
    here, there = set(_assumed(ctx, a)), set(_assumed(ctx, b))
    return any((text, not holds) in there for text, holds in here)


def _assumed(ctx: PythonContext, node: ast.AST) -> Iterator[tuple[str, bool]]:
    """What the `if`s around a node say, part by part: the text of a test, and whether it holds."""
    below = node
    for above in ctx.ancestors(node):
        if isinstance(above, ast.If) and below is not above.test:
            yield from _parts(above.test, below in above.body)
        below = above


def _parts(test: ast.expr, holds: bool) -> Iterator[tuple[str, bool]]:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from _parts(inner, not holds)
        case ast.BoolOp(op=operator, values=values) if isinstance(operator, ast.And) is holds:
            for value in values:
                yield from _parts(value, holds)
        case _:
            yield ast.unparse(test), holds


# -- frozen weights


def frozen(ctx: PythonContext, model: str, near: ast.AST | None = None) -> tuple[Evidence, str] | None:
    """Where this file freezes a model, or a part of it, by the name `model`; and what, as it is written.

    Args:
        near: leave out other functions, whose variables are others, and code that never runs together with this node.
    """
    if (frozen,) not in ctx.memo:
        ctx.memo[frozen,] = list(_freezing(ctx.module))
    for node, text in ctx.memo[frozen,]:
        if near is not None and not text.startswith("self."):
            if _outermost(ctx, node) is not _outermost(ctx, near) or _contrary(ctx, node, near):
                continue
        part = text.startswith(f"{model}.") and "pos" not in text[len(model) :]
        if part or (text == model and _trains_a_part(ctx, model)):
            return ctx.evidence(node, f"`{text}` is frozen"), text
    return None


def _trains_a_part(ctx: PythonContext, model: str) -> bool:
    """Whether a part of a model is switched on again in this file: of one that is all frozen, nothing is lost."""
    if (_trains_a_part,) not in ctx.memo:
        assigned = (target for a in ctx.all(ast.Assign) if literal(a.value) is True for target in a.targets)
        any_flag = any(isinstance(target, ast.Attribute) and target.attr == "requires_grad" for target in assigned)
        switched_on = [
            text
            for call, text in _switches(ctx.module)
            if (given := argument(call, "requires_grad", 0)) is None or literal(given) is True
        ]
        ctx.memo[_trains_a_part,] = any_flag, switched_on
    any_flag, switched_on = ctx.memo[_trains_a_part,]
    return any_flag or any(text.startswith(f"{model}.") for text in switched_on)


def frozen_embeddings(ctx: FileContext) -> tuple[Evidence, str] | None:
    """Where the program freezes embeddings of tokens or patches, and how it writes them.

    Embeddings of positions are added to these, and cut nothing.
    """
    for path in program(ctx):
        if (found := traits(ctx.index, path).frozen_embeddings) is not None:
            return Evidence(path, found[0], f"`{found[1]}` is frozen"), found[1]
    return None


_PROMPTS = ("PromptTuningConfig", "PromptEncoderConfig", "PrefixTuningConfig", "MultitaskPromptTuningConfig")


@question
def adapters_train_no_embeddings(ctx: PythonContext) -> Answer:
    """Whether no adapters of the program train the embeddings too, so that the hidden states require gradients.

    `modules_to_save` may name them (`embeddings_are_saved`); prompts are trained in front of them (`prompts`).
    """
    found = [
        other.evidence(word.value, "the embeddings may be trained")
        for other, call in _calls(ctx, *sorted({name.rpartition(".")[2] for name in ADAPTERS}))
        for word in call.keywords
        if word.arg in _TRAINED_TOO and literal(word.value) is not None
    ]
    prompts = _calls(ctx, *_PROMPTS)
    return unless([*found, *(other.evidence(call, "prompts are trained before the layers") for other, call in prompts)])


def _is_embedding(parts: Sequence[str]) -> bool:
    tokens = any("emb" in part or part == "wte" for part in parts)
    return tokens and not any("pos" in part for part in parts)


def _freezing(module: Module) -> Iterator[tuple[ast.stmt | ast.expr, str]]:
    """What a file freezes, as it is written: the statement or call, and `model.embeddings`."""
    for call, text in _switches(module):
        if literal(argument(call, "requires_grad", 0)) is False:
            yield call, text
    for assignment in module.all(ast.Assign):
        match assignment.targets:
            case [ast.Attribute(value=owner, attr="requires_grad")] if literal(assignment.value) is False:
                yield assignment, ast.unparse(owner)
    loops: list[ast.For | ast.AsyncFor] = [*module.all(ast.For), *module.all(ast.AsyncFor)]
    for loop in loops:
        match loop.iter:
            case ast.Call(func=ast.Attribute(value=owner, attr="parameters" | "named_parameters")):
                if any(_freezes(node) for statement in loop.body for node in walk(statement)):
                    yield loop, ast.unparse(owner)


def _switches(module: Module) -> Iterator[tuple[ast.Call, str]]:
    """The calls of `X.requires_grad_(…)` in a file, each with `X` as it is written."""
    for call in module.all(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "requires_grad_":
            yield call, ast.unparse(call.func.value)


def _freezes(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Attribute(attr="requires_grad")], value=value):
            return literal(value) is False
        case ast.Call(func=ast.Attribute(attr="requires_grad_")):
            return literal(argument(node, "requires_grad", 0)) is False
    return False


def gives_inputs_gradients(ctx: FileContext) -> bool:
    """Whether the program lets the embeddings' outputs require gradients."""
    return any(traits(ctx.index, path).gives_inputs_gradients for path in program(ctx))


@question
def inputs_get_no_gradients(ctx: PythonContext, near: ast.AST) -> Answer:
    """Whether nothing in the program lets the outputs of the embeddings require gradients."""
    thawed = (each for each in stores(ctx, "requires_grad") if each.ctx is not ctx and _is_thawed(each))
    switched = (each for each in mentions(ctx, "requires_grad_") if _is_on(each))
    found = [*mentions(ctx, *sorted(_INPUT_GRADS), KBIT), *switched, *thawed]
    scope = ctx.scope(near)
    for each in found:
        if (
            each.ctx is ctx
            and each.call is not None
            and ctx.scope(each.node) is scope
            and each.word != "requires_grad_"
        ):
            if ctx.flow_of(scope).surely_passes([each.call], None):
                return no(each.evidence(_GIVES.format(each.ctx.written(each.node))))
    return unless(each.evidence(_GIVES.format(each.ctx.written(each.node))) for each in found)


_GIVES = "`{}` may let the inputs of the layers require gradients"


def _is_thawed(store: Occurrence) -> bool:
    """Whether another file switches the gradients of weights on, whichever these are (`thawed_elsewhere`)."""
    match store.ctx.parent(store.node):
        case ast.Assign(value=ast.Constant(value=True)):
            return True
    return False


def _is_on(mention: Occurrence) -> bool:
    """Whether `X.requires_grad_()` may be about a tensor, and not the weights that a loop goes over."""
    call = mention.call
    if call is None or literal(argument(call, "requires_grad", 0)) is False:
        return call is None
    owner = mention.receiver
    if not isinstance(owner, ast.Name):
        return True
    bound = binder(mention.ctx, owner.id, owner)
    given = mention.ctx.bindings(bound).get(owner.id, ()) if bound is not None else ()
    return not any(isinstance(binding.node, (ast.For, ast.comprehension)) for binding in given)


@question
def embeddings_are_frozen(ctx: PythonContext, model: str, shown: Evidence, text: str) -> Answer:
    """Whether what is frozen holds the embeddings, and nothing trains them."""
    for each in mentions(ctx, "get_input_embeddings"):
        owner = each.ctx.parent(each.call) if each.call is not None else None
        if isinstance(owner, ast.Attribute) and owner.attr in ("parameters", "weight", "train", "requires_grad_"):
            switch = each.ctx.parent(owner)
            if isinstance(switch, ast.Call) and literal(argument(switch, "requires_grad", 0)) is False:
                continue
            return unknown(each.evidence("the token embeddings may be trained"))
    part = re.findall(r"\w+", text.removeprefix(model))
    if text == model or _is_embedding(part) or (len(part) == 1 and part[0] in _BASES):
        return yes()
    return unknown(replace(shown, why=f"`{text}` is frozen, which may not hold the embeddings"))


_BASES = frozenset(
    {"model", "base_model", "transformer", "bert", "roberta", "distilbert", "electra", "deberta", "albert"}
    | {"xlm_roberta", "gpt_neox", "backbone", "longformer", "camembert", "mpnet", "rembert", "vit"}
)
"""Attributes under which models of Transformers hold everything but their heads (`base_model_prefix`)."""


def _gives_inputs_gradients(module: Module) -> bool:
    if any(_is_named(node, _INPUT_GRADS) for node in module.all(ast.Name, ast.Attribute, ast.keyword, ast.Constant)):
        return True
    if any(each.name in _INPUT_GRADS for each in module.all(ast.FunctionDef)):
        return True
    for call, owner in _switches(module):
        given = argument(call, "requires_grad", 0)
        switched_on = not (call.args or call.keywords) or literal(given) is True
        if switched_on and not _EMBEDDINGS.isdisjoint(re.findall(r"\w+", owner)):
            return True
    return False


def _is_named(node: ast.AST, names: frozenset[str]) -> bool:
    """Whether a node is one of these names, as a variable, an attribute, a keyword, or a string for `getattr`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)) | ast.Constant(value=str(name)):
            return name in names
    return False


# -- libraries in the way


def unsloth(ctx: FileContext) -> Evidence | None:
    """Where the program hands checkpointing to Unsloth, which requires the reentrant variant."""
    return _imports(ctx, "unsloth", "Unsloth owns checkpointing")


def may_forbid_non_reentrant(ctx: FileContext) -> Evidence | None:
    """Where the program uses DeepSpeed, whose configuration may be ZeRO-3."""
    return _imports(ctx, "deepspeed", "DeepSpeed is used, and its configuration may be ZeRO-3")


def _imports(ctx: FileContext, package: str, why: str) -> Evidence | None:
    """Where the program imports a package."""
    for path in program(ctx):
        facts = ctx.index.facts(path)
        for each in facts.imports if facts is not None else ():
            if each.target.partition(".")[0] == package:
                return Evidence(path, each.line, why)
    return None


def forbids_non_reentrant(ctx: FileContext, *, partly_frozen: bool) -> Evidence | None:
    """What shows that non-reentrant checkpointing fails in this program.

    Args:
        partly_frozen: whether weights are frozen or adapters trained: only then ZeRO-3 is in the way.
    """
    inside = _followed(ctx.index, [ctx.path])
    for path in program(ctx):
        found = traits(ctx.index, path)
        line = found.flex_attention or (found.imports_flex_attention if path in inside else None)
        if line is not None:
            return Evidence(path, line, "flex attention is used")
    return _zero3(ctx) if partly_frozen else None


def _is_flex_attention(node: ast.AST) -> bool:
    """Whether a model is made with flex attention, or it is imported."""
    match node:
        case ast.keyword(arg="attn_implementation", value=ast.Constant(value="flex_attention")):
            return True
        case ast.ImportFrom(module=module, names=names):
            return "flex_attention" in (module or "") or any(n.name == "flex_attention" for n in names)
    return False


def _zero3(ctx: FileContext) -> Evidence | None:
    """Where ZeRO-3 is configured: in a call or a dictionary of the program, or in a file of DeepSpeed's usual name."""
    why = "ZeRO-3 is configured"
    for path in program(ctx):
        if (line := traits(ctx.index, path).zero3) is not None:
            return Evidence(path, line, why)
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


def _speaks_of_deepspeed(module: Module) -> bool:
    """Whether a file names DeepSpeed, or a section of its configuration, other than in a comment."""
    for node in module.all(ast.Name, ast.Attribute, ast.keyword, ast.Constant, ast.alias, ast.arg):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)) | ast.arg(arg=name):
                pass
            case ast.Constant(value=str(name)) | ast.alias(name=name):
                pass
            case _:
                continue
        if "deepspeed" in name.lower() or "zero_optimization" in name:
            return True
    return any("deepspeed" in (each.module or "").lower() for each in module.all(ast.ImportFrom))


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
