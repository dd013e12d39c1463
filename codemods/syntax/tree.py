"""Parse, walk, spans, rendering: the only file that knows libcst's private corners.

libcst's own visitors and metadata providers cost 35 to 230 ms per 1,000 lines; the walk here costs 2, the spans 12.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

from codemods.model.edits import Skip, SkipReason, Unreadable

_SPACE = (
    "whitespace",
    "leading_",
    "lines_after",
    "lpar",
    "rpar",
    "header",
    "footer",
    "trailing",
    "semicolon",
    "comma",
    "dot",
    "lbracket",
    "rbracket",
    "lbrace",
    "rbrace",
    "equal",
    "indent",
    "newline",
    "comment",
    "encoding",
    "default_",
    "has_trailing",
    "operator",
    "asynchronous",
    "colon",
)
_ORDER: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.FunctionDef: ("decorators", "name", "type_parameters", "params", "returns", "body"),
    cst.ClassDef: ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    cst.TypeAlias: ("name", "type_parameters", "value"),
    cst.Arg: ("star", "keyword", "value"),
    cst.IfExp: ("body", "test", "orelse"),
    cst.ExceptHandler: ("type", "name", "body"),
    cst.ExceptStarHandler: ("type", "name", "body"),
    cst.ImportFrom: ("relative", "module", "names"),
    cst.Parameters: ("posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg"),
    cst.Slice: ("lower", "upper", "step"),
    cst.MatchCase: ("pattern", "guard", "body"),
}
"""Fields with code, in the order of the source, where libcst lists them in another."""


def parse(path: str, text: str) -> cst.Module | Skip:
    """The file as a tree, or why not. The text must have passed `ast` before."""
    try:
        module = cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        return Skip(path, SkipReason.UNPARSABLE, f"line {error.raw_line}: {error.message}")
    except RecursionError:
        return Skip(path, SkipReason.TOO_DEEP, "nested too deeply to be rewritten")
    if module.default_indent.strip(" \t"):  # with which libcst would parse nothing else
        return Skip(path, SkipReason.NO_ROUND_TRIP, "its lines are indented with form feeds")
    return module


class Tree:
    """A file as libcst reads it, with parents and spans.

    Raises:
        Unreadable: if libcst cannot read it.
    """

    def __init__(self, path: str, text: str) -> None:
        module = parse(path, text)
        if isinstance(module, Skip):
            raise Unreadable(module)
        self.path, self.text, self.module = path, text, module
        self._parents = {child: node for node in walk(module) for child in children(node)}

    @cached_property
    def spans(self) -> Mapping[cst.CSTNode, Span]:
        """Where each node stands.

        Raises:
            Unreadable: if the tree does not give back the text exactly.
        """
        return spans(self.path, self.text, self.module, walk(self.module))

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node directly around `node`."""
        return self._parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around `node`, innermost first."""
        while (above := self._parents.get(node)) is not None:
            yield above
            node = above

    def statement(self, node: cst.CSTNode) -> cst.BaseSmallStatement | cst.BaseCompoundStatement | None:
        """The statement that `node` belongs to: a small one, or the compound one whose header it stands in."""
        for each in (node, *self.ancestors(node)):
            if isinstance(each, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                return each
        return None


@cache
def _children_of(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """The fields of a node type that can hold code (not white space, punctuation or comments)."""
    if kind in _ORDER:
        return _ORDER[kind]
    return tuple(f.name for f in dataclasses.fields(kind) if not f.name.startswith(_SPACE))


class _Nodes(dict[type[Any], bool]):
    """Which classes are those of nodes: `isinstance` would ask an abstract base class each time."""

    def __missing__(self, kind: type[Any]) -> bool:
        self[kind] = issubclass(kind, cst.CSTNode)
        return self[kind]


_IS_NODE = _Nodes()


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The code below a node, in source order, white space and punctuation left out."""
    found: list[cst.CSTNode] = []
    for name in _children_of(type(node)):
        value = getattr(node, name)
        kind = type(value)
        if kind is list or kind is tuple:
            found += [item for item in value if _IS_NODE[type(item)]]
        elif _IS_NODE[kind]:
            found.append(value)
    return found


def walk(root: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """`root` and all code below it, in source order."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


@dataclass(frozen=True, slots=True)
class Span:
    """Where a node stands. `start:end` is all of its text (with leading lines, parentheses and line end, where it has
    them); `inner_start:inner_end` is the code itself. `indent` is the indentation of the block around it."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    indent: tuple[str, ...]


class _Spans(CodegenState):
    """Generates code and notes where the nodes asked for begin and end."""

    def __init__(self, module: cst.Module, wanted: set[cst.CSTNode]) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.wanted = wanted
        self.position = 0
        self.began: dict[cst.CSTNode, tuple[int, tuple[str, ...]]] = {}
        self.inner: dict[cst.CSTNode, tuple[int, int]] = {}
        self.found: dict[cst.CSTNode, Span] = {}

    def add_token(self, value: str) -> None:
        self.position += len(value)
        self.tokens.append(value)

    def add_indent_tokens(self) -> None:
        self.position += sum(map(len, self.indent_tokens))
        self.tokens += self.indent_tokens

    def before_codegen(self, node: cst.CSTNode) -> None:
        if node in self.wanted:
            self.began[node] = (self.position, tuple(self.indent_tokens))

    def after_codegen(self, node: cst.CSTNode) -> None:
        if node in self.wanted:
            start, indent = self.began[node]
            inner = self.inner.get(node, (start, self.position))
            self.found[node] = Span(start, self.position, *inner, indent)

    @contextlib.contextmanager
    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> Iterator[None]:
        for edge in (start_node, end_node):
            if edge is not None and node in self.wanted and edge not in self.wanted:
                self.wanted.add(edge)
        start = self.position
        yield
        if node in self.wanted:
            begin = self.inner[start_node][0] if start_node in self.inner else start
            end = self.position
            if end_node is not None and end_node in self.inner:
                end = self.inner[end_node][1]
            elif end_node is not None and end_node in self.found:
                end = self.found[end_node].inner_end
            if start_node is not None and start_node in self.found:
                begin = self.found[start_node].inner_start
            self.inner[node] = (begin, end)


def spans(path: str, text: str, module: cst.Module, wanted: Iterable[cst.CSTNode]) -> Mapping[cst.CSTNode, Span]:
    """Where the given nodes of `module`, the tree of `text`, stand in it.

    Raises:
        Unreadable: if the tree does not give back the text exactly.
    """
    state = _Spans(module, set(wanted))
    module._codegen(state)
    if "".join(state.tokens) != text:
        detail = "the parser does not give back the file's own text"
        raise Unreadable(Skip(path, SkipReason.NO_ROUND_TRIP, detail))
    return state.found


def render(module: cst.Module, node: cst.CSTNode, indent: Sequence[str], **flags: bool) -> str:
    """The text of a node as it would stand in `module` at an indentation; `flags` as its parent would give them."""
    state = CodegenState(default_indent=module.default_indent, default_newline=module.default_newline)
    state.indent_tokens = list(indent)
    node._codegen(state, **flags)
    return "".join(state.tokens)


_LARGEST = 20_000
_MOST = 60_000
"""Characters of one text whose tree is kept, and of all of them."""
_kept: OrderedDict[tuple[str, str], Tree] = OrderedDict()


def tree(path: str, text: str) -> Tree:
    """The tree of a file. Those of small files are kept for a while: each step of a plan reads the same texts.

    Raises:
        Unreadable: if libcst cannot read it.
    """
    if len(text) > _LARGEST:
        return Tree(path, text)
    key = path, text
    if key not in _kept:
        _kept[key] = Tree(path, text)
        while sum(len(kept) for _, kept in _kept) > _MOST:
            _kept.popitem(last=False)
    _kept.move_to_end(key)
    return _kept[key]


def text_of(node: cst.CSTNode) -> str:
    """The source of an expression on one line of thought: for messages and comparison, not for writing."""
    return cst.Module([]).code_for_node(node)
