"""Edits that set, delete and insert in a configuration file: proposals, which `Config.edits` puts to the proof.

Where a comment would be lost, or would come to stand beside something else, there is no proposal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from codemods.model.edits import Edit
from codemods.sources.config.serialize import Manner, inline, is_bare, key, lines, pair, refused, spread
from codemods.sources.config.style import EOL, ChangePlace, manner_of
from codemods.sources.config.values import Alias, Array, Entry, Key, Opaque, Pair, Scalar, Table, Value, plain, same

_GAP = re.compile(r"\s*,\s*")
"""Between two entries of a flow collection, when there is no comment."""


_DISPUTED = re.compile("[\x85\u2028\u2029\ufeff]")
"""Line ends for YAML 1.1 but not for 1.2; a mark that some readers drop inside of a file."""


def why_not(at: ChangePlace, node: Value | Entry) -> str:
    """Why a node is never changed; empty where it may be."""
    if at.format == "yaml" and _DISPUTED.search(at.text):
        return "readers disagree about a character of the file"
    if node not in at.parents and not any(node is root for root in at.roots):
        return "it is no node of this document"
    if isinstance(node, (Alias, Opaque)):
        return "an alias" if isinstance(node, Alias) else "only its own program knows what it means"
    if isinstance(node, Scalar) and isinstance(node.value, str) and re.search(r"\$\{|\{\{", node.value):
        return "it is filled in elsewhere"
    named: set[Value | Entry] = {each.target for each in at.nodes() if isinstance(each, Alias)}
    named |= {target for each in at.nodes() if isinstance(each, Opaque) for target in each.targets}
    above: Value | Entry | None = node
    while above is not None:
        if above in named:
            return "an alias repeats it elsewhere"
        above = at.parents.get(above)
    return ""


def proposed(at: ChangePlace, fix: Mapping[Value | Entry, object]) -> tuple[Edit, ...] | None:
    """The edits that should turn each node into what `fix` says; deletions that overlap are one."""
    at = replace(at, gone=frozenset(node for node, new in fix.items() if isinstance(node, Entry) and new is None))
    edits: list[Edit] = []
    for node, new in fix.items():
        if (mine := _one(at, node, new)) is None:
            return None
        edits += mine
    edits = sorted(set(edits))
    if any(edit.end < edit.start for edit in edits):
        return None
    merged = edits[:1]
    for edit in edits[1:]:
        last = merged[-1]
        if edit.start < last.end and not edit.text and not last.text:
            merged[-1] = at.edit(last.start, max(last.end, edit.end), "")
        elif edit.start < last.end or (edit.start, edit.end) == (last.start, last.end):
            return None
        else:
            merged.append(edit)
    return tuple(merged)


def _one(at: ChangePlace, node: Value | Entry, new: object) -> tuple[Edit, ...] | None:
    if why_not(at, node):
        return None
    try:
        if not isinstance(node, Entry):
            return _set(at, node, new)
        if new is None:
            return _deleted(at, node)
        become = (new,) if isinstance(new, (Pair, Entry)) else tuple(new) if isinstance(new, (tuple, list)) else ()
        return _rewritten(at, node, become)
    except ValueError:  # unwritable
        return None


def _set(at: ChangePlace, node: Value, new: object) -> tuple[Edit, ...] | None:
    if same(plain(node), new):
        return ()
    if refused(new):
        return None
    holder = at.parents.get(node)
    table = at.parents.get(holder) if isinstance(holder, Entry) else holder
    flow = isinstance(table, (Table, Array)) and table.flow
    manner = manner_of(at, table if isinstance(table, Table) else None, node.end)
    start, end = node.start, node.end
    if isinstance(node, Scalar):
        if at.format == "yaml" and isinstance(node.value, bool):
            manner = replace(manner, case=at.text[start:end])
        quote = node.style[:1] if node.style[:1] in "\"'" else ""
        if not quote and isinstance(new, str) and not is_bare(new, flow=flow):
            quote = manner.quote or '"'
    else:
        quote = manner.quote
    if at.format == "json" and not _on_one_line(at, table, node):
        written = spread(new, manner, at.indent(start))
    else:
        written = inline(new, manner, quote, flow=flow)
    if not isinstance(node, Scalar) and at.format != "json" and "#" in at.text[start:end]:  # a comment, perhaps
        return None
    if isinstance(node, (Table, Array)) and not node.flow:  # a block, which mostly starts on the next line
        if isinstance(holder, Entry) and EOL.search(at.text, holder.key.end, start):
            colon = at.text.find(":", holder.key.end, start)
            if at.text[holder.key.end : start].strip() != ":":
                return None
            start, written = colon + 1, " " + written
    elif start == end and start and not at.text[start - 1].isspace():
        written = " " + written
    return (at.edit(start, end, written),)


def _on_one_line(at: ChangePlace, table: object, node: Value) -> bool:
    """Whether what is nested in JSON is written on one line here."""
    around = table if isinstance(table, (Table, Array)) else node
    return EOL.search(at.text, around.start, around.end) is None


def _deleted(at: ChangePlace, entry: Entry) -> tuple[Edit, ...] | None:
    table = at.parents[entry]
    assert isinstance(table, Table)
    if entry.key.value is Key.MERGE or any(each.entry(entry.key.value) for each in table.merged()):
        return None
    if table.flow:
        return _deleted_in_flow(at, table, entry)
    if at.format == "yaml" and at.gone.issuperset(table.entries):
        return _emptied(at, table)
    if not at.before(entry.start).strip():
        return (at.edit(at.line_start(entry.start), at.next_line(entry.end), ""),)
    following = next(iter(table.entries[1:]), None)
    if following is None or at.text[at.next_line(entry.end) : following.start].strip():
        return None
    return (at.edit(entry.start, following.start, ""),)  # the first one, after a dash


def _deleted_in_flow(at: ChangePlace, table: Table, entry: Entry) -> tuple[Edit, ...] | None:
    """With the comma after it; the last one, and what goes before that, with the comma ahead."""
    place = next(i for i, each in enumerate(table.entries) if each is entry)
    ahead, behind = table.entries[:place], table.entries[place + 1 :]
    if not at.gone.issuperset(behind):
        start, end, gap = entry.start, behind[0].start, at.text[entry.end : behind[0].start]
    elif stays := [each for each in ahead if each not in at.gone]:
        start, end, gap = stays[-1].end, entry.end, at.text[ahead[-1].end : entry.start]
    else:
        start, end = table.start + 1, table.end - 1
        gap = "" if "#" in at.text[start:end] and at.format != "json" else ","
    return (at.edit(start, end, ""),) if _GAP.fullmatch(gap) else None


def _emptied(at: ChangePlace, table: Table) -> tuple[Edit, ...] | None:
    """No entry of a YAML block stays: braces tell that there is an empty mapping, not nothing."""
    holder = at.parents.get(table)
    end = at.line_end(table.end)
    if not isinstance(holder, Entry):
        return (at.edit(table.start, end, "{}"),)
    start = holder.key.end + 1
    remark, rest = at.text[start : at.line_end(start)], at.text[at.line_end(start) : table.start]
    if at.text[start - 1] != ":" or rest.strip():
        return None
    if remark.lstrip().startswith("#"):
        return at.edit(start, start, " {}"), at.edit(at.line_start(table.start), at.next_line(end), "")
    return (at.edit(start, end, " {}"),) if not remark.strip() else None


def _rewritten(at: ChangePlace, entry: Entry, become: Sequence[object]) -> tuple[Edit, ...] | None:
    """An entry that gets another key or value, or neighbours."""
    if not become or any(not isinstance(each, Pair) and each is not entry for each in become):
        return None
    table = at.parents[entry]
    assert isinstance(table, Table)
    stays = next((i for i, each in enumerate(become) if each is entry), -1)
    edits: tuple[Edit, ...] | None = ()
    if stays < 0:
        stays = 0
        edits = _replaced(at, table, entry, become[0])
    ahead = [each for each in become[:stays] if isinstance(each, Pair)]
    behind = [each for each in become[stays + 1 :] if isinstance(each, Pair)]
    if edits is None or len(ahead) + len(behind) + 1 != len(become) or any(refused(p.value) for p in ahead + behind):
        return None
    manner = manner_of(at, table, entry.end)
    insert = _inserted_in_flow if table.flow else _inserted
    for pairs, after in ((ahead, False), (behind, True)):
        if pairs:
            edit = insert(at, table, entry, pairs, manner, after)
            if edit is None:
                return None
            edits += (edit,)
    return edits


def _replaced(at: ChangePlace, table: Table, entry: Entry, new: object) -> tuple[Edit, ...] | None:
    if not isinstance(new, Pair) or entry.key.value is Key.MERGE:
        return None
    if why_not(at, entry.value) and not same(plain(entry.value), new.value):
        return None
    edits = _set(at, entry.value, new.value)
    if edits is None or new.key == entry.key.value:
        return edits
    quote = entry.key.style if entry.key.style in ('"', "'") else ""
    written = key(new.key, replace(manner_of(at, table, entry.end), key_quote=quote), flow=table.flow)
    return (at.edit(entry.key.start, entry.key.end, written), *edits)


def _inserted(
    at: ChangePlace, table: Table, entry: Entry, pairs: Sequence[Pair], manner: Manner, after: bool
) -> Edit | None:
    """New lines above or below an entry of a block."""
    ahead = at.before(entry.start)
    indent = re.sub(r"\S", " ", ahead)
    dotted = at.text[entry.start : entry.key.start] if at.format == "toml" and at.text[entry.start] != "[" else ""
    written = [line for each in pairs for line in lines(each, manner)]
    if dotted:
        written = [dotted + line for line in written]
    if after:
        end = _after_remarks(at, at.line_end(entry.end), len(indent))
        return at.edit(end, end, "".join(f"{manner.eol}{indent}{line}" for line in written))
    if not ahead.strip():
        start = at.line_start(entry.start)
        return at.edit(start, start, "".join(f"{indent}{line}{manner.eol}" for line in written))
    if table.entries[0] is entry:
        return at.edit(entry.start, entry.start, "".join(f"{line}{manner.eol}{indent}" for line in written))
    return None


def _after_remarks(at: ChangePlace, end: int, column: int) -> int:
    """Where the comments end that stand below an entry and deeper than it: they are about what is in it."""
    position = end
    while match := re.compile(r"(?:\r\n|\n|\r)([ \t]*)(#[^\r\n]*|(?=[\r\n]))").match(at.text, position):
        position = match.end()
        if match[2]:
            if len(match[1]) <= column:
                break
            end = position
    return end


def _inserted_in_flow(
    at: ChangePlace, table: Table, entry: Entry, pairs: Sequence[Pair], manner: Manner, after: bool
) -> Edit | None:
    """New entries between braces, separated as their neighbours are."""
    place = next(i for i, each in enumerate(table.entries) if each is entry)
    indent = at.before(entry.start)
    own_line = not indent.strip()
    gap = f",{manner.eol}{indent}" if own_line else manner.comma
    following = table.entries[place + 1].start if place + 1 < len(table.entries) else table.end - 1
    if after and "#" in at.text[entry.end : following]:
        return None
    if at.format == "json" and own_line:
        written = [key(each.key, manner) + manner.colon + spread(each.value, manner, indent) for each in pairs]
    else:
        dotted = at.text[entry.start : entry.key.start] if at.format == "toml" else ""
        written = [dotted + pair(each, manner) for each in pairs]
    if after:
        return at.edit(entry.end, entry.end, "".join(gap + each for each in written))
    return at.edit(entry.start, entry.start, "".join(each + gap for each in written))
