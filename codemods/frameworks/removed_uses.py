"""Where code uses names that a library removed or renamed, and how each place is brought up to date."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codemods.analysis import instances
from codemods.analysis.calls import keyword, literal
from codemods.analysis.mentions import mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks.autocast.version_tests import version_tested
from codemods.frameworks.config_owners import is_interpolated, scalar
from codemods.frameworks.minimum_versions import floor_edits
from codemods.frameworks.removed_names import RemovedName, as_one, by_position, inherited, of_rule
from codemods.model.edits import Consequence, Evidence
from codemods.model.names import canonical
from codemods.project import versions
from codemods.project.index import Ref
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.sources.config import Entry, Pair, Table, plain
from codemods.syntax.module import Function, parameters
from codemods.syntax.verbs import Verb, delete, drop, edit_call, insert_before
from codemods.syntax.verbs import replace as replaced

_MODELS = re.compile(r"transformers\.(?!TF|Flax)(?:AutoModel\w*|\w+Model|\w+For[A-Z]\w+|AutoBackbone|pipeline)")
_TOKENIZERS = re.compile(r"transformers\.\w*Tokenizer(?:Fast)?")
_CONFIGURATIONS = re.compile(r"transformers\.\w+Config")
_FAMILIES = (
    (_MODELS, "transformers.PreTrainedModel"),
    (_TOKENIZERS, "transformers.PreTrainedTokenizerBase"),
    (_CONFIGURATIONS, "transformers.PreTrainedConfig"),
)
_MAKERS = ("from_pretrained", "from_config", "_from_config")
"""Class methods that make an object of a class, or of one that they choose."""


def meant(name: str) -> tuple[str, ...]:
    """The owners in the tables that a canonical name stands for: itself, what it inherits from, and its family."""
    klass, _, method = name.rpartition(".")
    for pattern, family in _FAMILIES:
        if method and pattern.fullmatch(klass):
            return (name, f"{family}.{method}")
        if pattern.fullmatch(name):
            return (name, family)
    return inherited(name)


# -- arguments


def old_arguments(rule: Rule, call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """The arguments of a call, given by keyword, by position or in a dictionary, that its owner no longer takes."""
    table = of_rule(rule.code, "argument")
    given = [*_by_keyword(call, table), *_by_position(call, rule.code)]
    if not given and all(each.arg for each in call.keywords):
        return
    owners = owners_of(ctx, call)
    if not owners:
        return
    for each in (*given, *_spread(call, ctx, table)):
        row = next((table[each.name][owner] for owner in owners if owner in table[each.name]), None)
        if row is not None and not version_tested(ctx, call, row.library) and _takes_position(row, each):
            yield from _draft(rule, row, each.node, ctx, _argument_remedy(row, each, ctx), each.is_bug)


@dataclass(frozen=True, slots=True)
class _Given:
    """An argument with an old name."""

    name: str
    node: ast.keyword | ast.expr
    """What a finding points at, and what a fix changes: a keyword, a value by position, or the key of a dictionary."""
    value: ast.expr
    call: ast.Call
    position: int | None = None
    is_bug: tuple[Answer, ...] = ()
    in_dictionary: ast.Dict | None = None


def _by_keyword(call: ast.Call, table: Mapping[str, Mapping[str, RemovedName]]) -> Iterator[_Given]:
    for each in call.keywords:
        if each.arg is not None and each.arg in table:
            yield _Given(each.arg, each, each.value, call)


def _by_position(call: ast.Call, code: str) -> Iterator[_Given]:
    for name, position in by_position(code):
        if position < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: position + 1]):
            yield _Given(name, call.args[position], call.args[position], call, position)


def _takes_position(row: RemovedName, given: _Given) -> bool:
    return given.position is None or given.position == row.position


def _spread(call: ast.Call, ctx: PythonContext, table: Mapping[str, Mapping[str, RemovedName]]) -> Iterator[_Given]:
    """The keys of the literal dictionary that `**` spreads into a call."""
    for each in call.keywords:
        if each.arg is not None:
            continue
        found, complete = possible_values(ctx, each.value)
        if not complete or len(found) != 1 or found[0].ctx is not ctx or found[0].path:
            continue
        node = found[0].node
        if isinstance(node, ast.Dict):
            answer = only_this_call_reads_it(ctx, each.value, node)
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in table:
                    yield _Given(str(key.value), key, value, call, None, (answer,), node)


@question
def only_this_call_reads_it(ctx: PythonContext, spread: ast.expr, written: ast.Dict) -> Answer:
    """Whether a dictionary is spread into one call, and nothing else may change or read it."""
    if spread is written:
        return yes()
    name = ctx.name(spread)
    if name is None or "." in name:
        return unknown(ctx.evidence(spread, "something else may change these arguments"))
    if ctx.index.imported_elsewhere(ctx.path, name):
        return unknown(ctx.evidence(written, f"`{name}` is read in another file"))
    others = (node for node in ctx.all(ast.Name) if node.id == name and isinstance(node.ctx, ast.Load))
    return unless(ctx.evidence(node, f"`{name}` is used here, too") for node in others if node is not spread)


def owners_of(ctx: PythonContext, call: ast.Call) -> tuple[str, ...]:
    """The owners in the tables whose arguments a call surely gives; none where it may be another's call.

    Through classes of the project that leave the constructor as it is, and in `super().__init__(…)` of such classes.
    """
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[]), attr="__init__"):
            here = ctx.klass(call)
            return _inherits_constructor(ctx, here, above=True) if here is not None else ()
        case ast.Attribute(value=receiver, attr=method) if not ctx.origin(call.func):
            return tuple(f"{owner}.{method}" for owner in _instance(ctx, receiver)[0])
    origins = sorted(ctx.origin(call.func))
    found = [
        _inherits_constructor(ctx, Ref(*origin.split(":", 1))) if ":" in origin else meant(origin) for origin in origins
    ]
    return tuple(name for name in found[0] if all(name in each for each in found)) if found else ()


def _inherits_constructor(ctx: PythonContext, ref: Ref, *, above: bool = False) -> tuple[str, ...]:
    """The owners whose constructor a class of the project has; with `above`, the one that its base has."""
    lineage = ctx.index.lineage(ref)
    classes = [ctx.index.klass(each) for each in lineage.refs[1 if above else 0 :]]
    if not lineage.complete or any(each is None or "__init__" in each.methods for each in classes):
        return ()
    return tuple(dict.fromkeys(name for base in sorted(lineage.external) for name in meant(base)))


def _instance(ctx: PythonContext, node: ast.expr) -> tuple[tuple[str, ...], tuple[Ref, ...]]:
    """The owners that an object is an instance of, by its constructor or annotation, or as `self` of a subclass; and
    the classes of the project among its own.
    """
    method = ctx.method(node)
    if method is not None and ctx.name(node) == method.self:
        return _made(ctx, str(method.owner)), (method.owner,)
    kind = instances.of(ctx, node)
    if kind is None or kind.how == "protocol":
        return (), ()
    names = sorted(kind.names)
    found = [_made(ctx, name) for name in names]
    owners = tuple(name for name in found[0] if all(name in each for each in found)) if found else ()
    return owners, tuple(Ref(*name.split(":", 1)) for name in names if ":" in name)


def _made(ctx: PythonContext, name: str) -> tuple[str, ...]:
    """What a call of this name makes."""
    if ":" in name:
        lineage = ctx.index.lineage(Ref(*name.split(":", 1)))
        return tuple(dict.fromkeys(each for base in sorted(lineage.external) for each in meant(base)))
    klass, _, method = name.rpartition(".")
    return meant(klass if method in _MAKERS else name)


def _argument_remedy(row: RemovedName, given: _Given, ctx: PythonContext) -> Remedy | None:
    if given.in_dictionary is not None:
        verbs = _in_dictionary(row, given, ctx)
    else:
        verbs = _in_call(row, given)
    if not verbs:
        return None
    answers = [nothing_else_gives(ctx, given.call, row.new)] if row.kind == "rename" else []
    return replace(_remedy(row, verbs, ctx), is_right=answers)


@question
def nothing_else_gives(ctx: PythonContext, call: ast.Call, name: str) -> Answer:
    """Whether no `**` of a call may give it an argument of this name as well."""
    return unless(_may_give(ctx, call, name))


def _may_give(ctx: PythonContext, call: ast.Call, name: str) -> Iterator[Evidence]:
    for each in call.keywords:
        if each.arg is not None:
            continue
        found, complete = possible_values(ctx, each.value)
        known = complete and all(isinstance(value.node, ast.Dict) and not value.path for value in found)
        keys = [key for value in found if isinstance(value.node, ast.Dict) for key in value.node.keys]
        if not known or any(not isinstance(key, ast.Constant) or key.value == name for key in keys):
            yield ctx.evidence(each.value, f"`{name}` may be given here as well")


def _in_call(row: RemovedName, given: _Given) -> Sequence[Verb]:
    call, node = given.call, given.node
    if says_nothing(row, given.value):
        last = given.position is None or given.position == len(call.args) - 1
        return [edit_call(call, drop=[node])] if last else []
    if row.kind == "rename" and given.position is None and keyword(call, row.new) is None:
        value = new_value(row, given.value)
        if value is not None:
            return [edit_call(call, named={node: row.new}, values={node: value} if value else {})]
    return []


def _in_dictionary(row: RemovedName, given: _Given, ctx: PythonContext) -> Sequence[Verb]:
    assert isinstance(given.node, ast.Constant) and given.in_dictionary is not None
    known = [key.value for key in given.in_dictionary.keys if isinstance(key, ast.Constant)]
    if says_nothing(row, given.value):
        return [drop(given.node)]
    if row.kind == "rename" and row.new not in known and keyword(given.call, row.new) is None:
        value = new_value(row, given.value)
        if value is not None:
            key = replaced(given.node, ctx.quoted(row.new))
            return [key, replaced(given.value, value)] if value else [key]
    return []


def new_value(row: RemovedName, value: ast.expr) -> str | None:
    """The value under the new name: "" as it is; None where that cannot be told."""
    if row.values is None:
        return ""
    held = literal(value)
    return row.values.get(repr(held)) if held is not ... else None


def says_nothing(row: RemovedName, value: ast.expr) -> bool:
    """Whether an argument may go: it was given what it is without, or nothing is lost with any value."""
    if row.harmless is not None:
        return literal(value) is not ... and _is_harmless(row, literal(value))
    return row.kind == "delete" and isinstance(value, (ast.Constant, ast.Name, ast.Attribute))


def _is_harmless(row: RemovedName, held: object) -> bool:
    said = (None if each == "None" else each for each in row.harmless or ())
    return any(held == each and type(held) is type(each) for each in said)


# -- values, attributes and imports


def old_values(rule: Rule, call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """The values of arguments that their owner no longer takes."""
    table = of_rule(rule.code, "value")
    for each in call.keywords:
        held = literal(each.value)
        at = table.get(f"{each.arg}={held}") if each.arg and held is not ... else None
        row = next((at[owner] for owner in owners_of(ctx, call) if owner in at), None) if at else None
        if row is None or version_tested(ctx, call, row.library):
            continue
        new = row.values.get(repr(held)) if row.values is not None else ctx.quoted(row.new) if row.new else None
        verbs = [replaced(each.value, new)] if row.kind == "rename" and new else []
        yield from _draft(rule, row, each.value, ctx, _remedy(row, verbs, ctx) if verbs else None)


def old_attributes(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """An attribute or a method that objects of a class no longer have, with the arguments that go with it."""
    table = of_rule(rule.code, "attribute")
    if node.attr not in table or not isinstance(node.ctx, ast.Load) or ctx.origin(node):
        return
    owners, own = _instance(ctx, node.value)
    row = next((table[node.attr][owner] for owner in owners if owner in table[node.attr]), None)
    if row is None or version_tested(ctx, node, row.library):
        return
    if any(ctx.index.method(ref, node.attr) or next(ctx.index.assigned(ref, node.attr), None) for ref in own):
        return  # a class of the project has an attribute of that name itself
    verbs: list[Verb] = []
    if row.kind == "rename":
        new, call = f"{ctx.operand(node.value)}.{row.new}", ctx.parent(node)
        if isinstance(call, ast.Call) and call.func is node:
            arguments = of_rule(rule.code, "argument")
            named: dict[ast.expr | ast.keyword, str] = {
                each: renamed[f"{row.owner}.{row.old}"].new
                for each in call.keywords
                if (renamed := arguments.get(each.arg or "", {})) and f"{row.owner}.{row.old}" in renamed
            }
            verbs = [edit_call(call, function=new, named=named)]
        else:
            verbs = [replaced(node, new)]
    remedy = _remedy(row, verbs, ctx) if verbs else None
    yield from _draft(rule, row, node, ctx, remedy, (nobody_sets_it(ctx, node.attr),))


@question
def nobody_sets_it(ctx: PythonContext, name: str) -> Answer:
    """Whether nothing in the program gives an object an attribute of this name."""
    return unless(each.evidence(f"`{name}` may be set here") for each in stores(ctx, name) if each.word == name)


def old_imports(rule: Rule, statement: ast.ImportFrom, ctx: PythonContext) -> Iterator[Draft]:
    """The names in `from … import …` that a library no longer has there."""
    table = of_rule(rule.code, "name")
    if statement.level or not statement.module or ctx.enclosing(statement, ast.Try) is not None:
        return
    for alias in statement.names:
        row = table.get(as_one(f"{statement.module}.{alias.name}"), {}).get("")
        bound = alias.asname or alias.name
        if row is None or version_tested(ctx, statement, row.library):
            continue
        if any(i.conditional or i.type_checking for i in ctx.facts.named(bound)):
            continue
        if any(":" in origin for origin in ctx.index.imported(ctx.path, bound)):
            continue  # a module of the project of that name
        verbs = _import(row, statement, alias, ctx) if row.kind == "rename" else []
        yield from _draft(rule, row, alias, ctx, _remedy(row, verbs, ctx) if verbs else None)


def _import(row: RemovedName, statement: ast.ImportFrom, alias: ast.alias, ctx: PythonContext) -> Sequence[Verb]:
    """The import of the new name in the place of the old one, and the new name where the old one is used."""
    module, _, name = row.new.rpartition(".")
    if str(statement.module).partition(".")[0] == "lightning" and module.startswith("pytorch_lightning"):
        module = module.replace("pytorch_lightning", "lightning.pytorch", 1)
    kept = alias.asname or (alias.name if name == alias.name else "")
    uses: list[Verb] = []
    if not kept:
        if any(ctx.facts.named(name)) or name in ctx.facts.rebound or alias.name in ctx.facts.exports:
            kept = alias.name
        else:
            loads = (n for n in ctx.all(ast.Name) if n.id == alias.name and isinstance(n.ctx, ast.Load))
            uses = [replaced(each, name) for each in loads if canonical(row.old) in ctx.origin(each)]
    shown = f"{name} as {kept}" if kept and kept != name else name
    new = insert_before(statement, f"from {module} import {shown}")
    return [new, drop(alias) if len(statement.names) > 1 else delete(statement), *uses]


def old_names(rule: Rule, node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    """A dotted name, `pl.utilities.seed.seed_everything`, that a library no longer has."""
    table = of_rule(rule.code, "name")
    origins = ctx.origin(node)
    row = next((table[old][""] for old in origins if old in table), None) if len(origins) == 1 else None
    if row is None or (isinstance(ctx.parent(node), ast.Attribute) and ctx.origin(ctx.parent(node)) & table.keys()):
        return
    if not isinstance(node.ctx, ast.Load) or version_tested(ctx, node, row.library):
        return
    spelled = ctx.spell(canonical(row.new), at=node) if row.kind == "rename" else None
    remedy = _remedy(row, [replaced(node, spelled.code)], ctx) if spelled is not None else None
    needs = [spelled.need] if spelled is not None else []
    yield from _draft(rule, row, node, ctx, replace(remedy, needs=needs) if remedy is not None else None)


# -- methods that a class overrides


def old_hooks(rule: Rule, function: Function, ctx: PythonContext) -> Iterator[Draft]:
    """A method that nobody calls any more, or that a library refuses to find."""
    row = _overridden(rule, "hook", function, ctx)
    if row is not None:
        yield from _draft(rule, row, function, ctx, None, (nobody_calls_it(ctx, function),))


@question
def nobody_calls_it(ctx: PythonContext, function: Function) -> Answer:
    """Whether the program never calls a method of this name itself."""
    return unless(
        each.evidence(f"`{function.name}` may be called here")
        for each in mentions(ctx, function.name)
        if each.call is not None and not _is_super(each.call)
    )


def _is_super(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call)


def overridden_with(rule: Rule, function: Function, ctx: PythonContext) -> tuple[RemovedName, list[ast.arg]] | None:
    """The row of a method whose parameters changed, with those that nobody gives it any more."""
    row = _overridden(rule, "signature", function, ctx)
    if row is None:
        return None
    spread = (function.args.vararg, function.args.kwarg)
    old = [each for each in parameters(function) if each.arg in row.drop and each not in spread]
    return row, old


def signature_finding(
    rule: Rule,
    row: RemovedName,
    function: Function,
    ctx: PythonContext,
    *,
    message: str,
    verbs: Sequence[Verb] = (),
    is_right: Sequence[Answer] = (),
) -> Iterator[Draft]:
    """A method whose parameters a library changed."""
    gone = f"since {row.library} {row.gone}"
    text = f"{message}, which the caller {'gives' if row.add else 'does not give'} {gone}"
    if not verbs and row.decide:
        text += f". {row.decide.rstrip('.')}"
    remedy = Remedy(verbs, is_right=is_right, requires=dict(row.affected)) if verbs else None
    for draft in _draft(rule, row, function, ctx, remedy):
        yield replace(draft, message=text)


def _overridden(rule: Rule, place: str, function: Function, ctx: PythonContext) -> RemovedName | None:
    table = of_rule(rule.code, place)
    if function.name not in table or not isinstance(ctx.parent(function), ast.ClassDef):
        return None
    klass = ctx.klass(function)
    above = ctx.index.lineage(klass).external if klass is not None else frozenset()
    owners = {name for base in above for name in meant(base)}
    row = next((row for owner, row in table[function.name].items() if owner in owners), None)
    return None if row is None or version_tested(ctx, function, row.library) else row


# -- configuration files


def old_keys(rule: Rule, table: Table, owners: Sequence[str], ctx: FileContext) -> Iterator[Draft]:
    """The keys of a table in a configuration file that its reader no longer knows."""
    rows = of_rule(rule.code, "argument")
    known = {entry.key.value for entry in table.entries}
    for entry in table.entries:
        at = rows.get(entry.key.value) if isinstance(entry.key.value, str) else None
        row = next((at[owner] for owner in owners if owner in at), None) if at else None
        if row is not None:
            fix = _of_entry(row, entry, known)
            remedy = Remedy(fix, _title(row), requires=_floor(row)) if fix else None
            yield from _draft(rule, row, entry.key, ctx, remedy)


def _of_entry(row: RemovedName, entry: Entry, known: set[object]) -> dict[object, object]:
    held = scalar(entry.value)
    if (row.harmless is not None and _is_harmless(row, held)) or (row.harmless is None and row.kind == "delete"):
        return {entry: None} if not is_interpolated(entry.value) else {}
    if row.kind == "rename" and row.new not in known:
        if row.values is None:
            return {entry: Pair(row.new, plain(entry.value))}
        new = row.values.get(repr(held))
        return {entry: Pair(row.new, ast.literal_eval(new))} if new is not None else {}
    return {}


# -- drafts


def _remedy(row: RemovedName, verbs: Sequence[Verb], ctx: FileContext) -> Remedy:
    """The repair, with the floor of the library raised where the project's requirements can hold it."""
    requires = _floor(row)
    floor = requires.get(row.library, "").removeprefix(">=")
    raised = floor_edits(ctx, row.library, floor) if floor else {}
    title = _title(row) + (f", and ask for {row.library} {floor}" if raised else "")
    return Remedy(verbs, title, requires=requires, also=raised or {})


def _floor(row: RemovedName) -> dict[str, str]:
    """The releases in which the repaired code means what the old code meant."""
    if row.kind == "delete" and row.harmless is None:
        return {row.library: f">={row.deprecated or row.gone}"}
    return {row.library: f">={row.since}"} if row.since else {}


def _title(row: RemovedName) -> str:
    return f"Use `{row.new}`" if row.kind == "rename" else f"Delete `{row.old}`"


def _draft(
    rule: Rule,
    row: RemovedName,
    node: ast.AST | object,
    ctx: FileContext,
    remedy: Remedy | None,
    is_bug: Sequence[Answer] = (),
) -> Iterator[Draft]:
    gone = bool(row.gone) and versions.may(ctx.target(row.library), row.removed)
    consequence = Consequence.SILENT if row.silent else Consequence.RAISES
    draft = rule.finding(
        node,
        message=said(row, gone=gone),
        bites=row.affected,
        consequence=consequence if gone else Consequence.DEPRECATED,
        is_bug=is_bug,
    )
    yield replace(draft, remedy=remedy) if remedy is not None and (remedy.fix or remedy.also) else draft


def said(row: RemovedName, *, gone: bool) -> str:
    """What became of an old name: in one line, with the release, and with what a person has to know."""
    release = f"{row.library} {row.gone if gone else row.deprecated}"
    last = row.owner.rpartition(".")[2]
    if row.place == "value":
        argument, _, value = row.old.partition("=")
        what = f"`{argument}={value!r}` of `{last}`"
    else:
        what = f"`{row.old}` of `{last}`" if row.owner else f"`{row.old}`"
    became = "is deprecated" if not gone else "is refused" if row.place == "value" else "is gone"
    if gone and row.silent:
        became = "is not called" if row.place == "hook" else "is ignored"
    text = f"{what} {became} since {release}"
    if row.kind == "rename":
        return f"{text}: `{row.new}`"
    return f"{text}. {row.decide.rstrip('.')}" if row.decide else text
