"""Shell scripts: which words of which commands stand where, and which Python programs are started."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.model.edits import Skip, SkipReason
from codemods.sources.shell import Command, Script, Word, launched, read


def script(text: str) -> Script:
    found = read("run.sh", text)
    assert isinstance(found, Script), found
    return found


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in script(text).commands]


def test_a_script_without_commands() -> None:
    assert words("") == []
    assert words("#!/bin/bash\n\n# python train.py --precision 16\n") == []


@pytest.mark.parametrize("first", ["#!/usr/bin/env python3", "#!/usr/bin/perl -w", "#!/usr/bin/env fish"])
def test_a_script_for_another_interpreter_has_no_commands(first: str) -> None:
    assert words(f"{first}\nprint(\"it's no shell)\n") == []


@pytest.mark.parametrize("first", ["#!/bin/sh", "#!/bin/bash -l", "#!/usr/bin/env zsh", "#! /bin/dash"])
def test_a_script_for_a_shell(first: str) -> None:
    assert words(f"{first}\npython train.py\n") == [["python", "train.py"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python train.py --precision 16 # --devices 2", [["python", "train.py", "--precision", "16"]]),
        ("python train.py \\\n    --precision 16 \\\r\n  -x", [["python", "train.py", "--precision", "16", "-x"]]),
        ("python tra\\\nin.py", [["python", "train.py"]]),
        ("a#b '#' c", [["a#b", "#", "c"]]),
        ("""a 'b "c" d' "e 'f' \\"g\\" \\h" i\\ j k""", [["a", 'b "c" d', "e 'f' \"g\" \\h", "i j", "k"]]),
        ("a $'b\\'c' ''", [["a", "b\\'c", ""]]),
        ("a; b && c || d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a > log 2>&1 b &>> all < in c 2> /dev/null", [["a", "b", "c"]]),
        ("a 2 >log", [["a", "2"]]),
        ("tee >(gzip) <(cat x)", [["gzip"], ["cat", "x"], ["tee", ">(gzip)", "<(cat x)"]]),
        ("(cd x; a) && { b; c; }", [["cd", "x"], ["a"], ["b"], ["c"]]),
        ("if a; then b; elif c; then d; else e; fi; f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("for s in 1 2; do a $s; done", [["a", "$s"]]),
        ("while ! a; do b; done < list", [["a"], ["b"]]),
        ("for ((i=0; i<<2; i++)); do a; done", [["a"]]),
        ("(( x = 1 << 2 ))\na", [["a"]]),
        ("f() { a; }\nfunction g { b; }\nfunction h() { c; }", [["a"], ["b"], ["c"]]),
        ("case $1 in\n  a|b) c x ;;\n  *) d ;;\nesac\ne", [["c", "x"], ["d"], ["e"]]),
        ("case $1 in a) b;; esac; c", [["b"], ["c"]]),
        ("x=$(case $1 in a) b;; esac)\nc", [["b"], [], ["c"]]),
        ("[[ -f x ]] && a", [["a"]]),
        ("cat <<EOF\npython train.py --precision 16\nit's\nEOF\na", [["cat"], ["a"]]),
        ("cat <<-'EOF' > x && a\n\tit's\n\tEOF\nb", [["cat"], ["a"], ["b"]]),
        ("cat <<A <<B\nit's\nA\nit's\nB\nc", [["cat"], ["c"]]),
        ("cat <<EOF\nit's never ended", [["cat"]]),
        ("a <<< 'b c' d", [["a", "d"]]),
        ("a $(b \"$(c)\") `d 'e'`", [["c"], ["b", "$(c)"], ["a", '$(b "$(c)")', "`d 'e'`"]]),
        (
            """a "${x:-it's}" ${y:-'}'} $((1 << (2 + 3))) b""",
            [["a", "${x:-it's}", "${y:-'}'}", "$((1 << (2 + 3)))", "b"]],
        ),
        ("args=(--precision 16 # one\n --devices 2)\na ${args[@]}", [[], ["a", "${args[@]}"]]),
        ("X=1 Y='a b' c Z=3", [["c", "Z=3"]]),
        ("a $# $? $", [["a", "$#", "$?", "$"]]),
        ("a\rb\u00a0c\n", [["a", "b\u00a0c"]]),
    ],
)
def test_commands(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected
    assert words(f"{text}\n") == expected
    assert words(f"echo\n{text}\necho") == [["echo"], *expected, ["echo"]] or "never ended" in text


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        *((text, True) for text in ("a$", "'$a'", '"a b"', "\\$a", '"\\$a"', "$'a'")),
        *((text, False) for text in ("$a", "${a}", '"x$a"', "$(a)", "`a`", "$((1))", "$'a\\n'", "<(a)", "$1")),
    ],
)
def test_a_word_is_literal_if_nothing_in_it_is_expanded(text: str, literal: bool) -> None:
    (word,) = script(f"echo {text}").commands[-1].words[1:]
    assert word.literal is literal


def test_assignments_stand_apart() -> None:
    (command,) = script("CUDA_VISIBLE_DEVICES=0 A[1]+=x python train.py B=2").commands
    assert [word.text for word in command.assignments] == ["CUDA_VISIBLE_DEVICES=0", "A[1]+=x"]
    assert [word.text for word in command.words] == ["python", "train.py", "B=2"]


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\nb 'c\n", 2), ('a "b', 1), ('"${a', 1), ("a\n\n(b", 3), ("$(a", 1), ("`a", 1), ('a "$(b "', 1), ("x=(a", 1)],
)
def test_what_never_ends_is_a_skip_with_the_line_where_it_begins(text: str, line: int) -> None:
    skip = read("run.sh", text)
    assert isinstance(skip, Skip)
    assert skip.reason is SkipReason.UNPARSABLE
    assert skip.detail.startswith(f"line {line}: ")


@pytest.mark.parametrize("opening", ["( ", "$(", '"$(', "${x:-", '"${x:-', "$((", "<("])
def test_deep_nesting_is_a_skip(opening: str) -> None:
    skip = read("run.sh", "echo " + opening * 5_000)
    assert isinstance(skip, Skip)
    assert skip.reason is SkipReason.TOO_DEEP


def test_nodes_and_labels() -> None:
    found = script("cd x\nA=1 python train.py --precision 16\n")
    command = found.commands[1]
    assert list(found.nodes()) == [
        found,
        found.commands[0],
        *found.commands[0].words,
        command,
        *command.assignments,
        *command.words,
    ]
    assert (found.start, found.end) == (0, len(found.text))
    assert found.label(found) == ""
    assert found.label(command) == "A=1 python"
    assert found.label(command.words[3]) == "A=1 python 16"
    assert found.together({command.words[3]: "16-mixed"}) is None


@pytest.mark.parametrize(
    ("text", "program", "arguments"),
    [
        ("python train.py --precision 16", "train.py", 2),
        ("CUDA_VISIBLE_DEVICES=0 /usr/bin/python3.11 -u src/train.py a", "src/train.py", 1),
        ("./train.py a b", "./train.py", 2),
        ("python $DIR/train.py a", "$DIR/train.py", 1),
        ("$PYTHON train.py a", "train.py", 1),
        ("python -m package.train a", "package.train", 1),
        ("python3 -m torch.distributed.launch --nproc_per_node=8 train.py a", "train.py", 1),
        ("python -m torch.distributed.run --nproc_per_node 8 -m package.train a b", "package.train", 2),
        ("torchrun --nproc_per_node 8 train.py a", "train.py", 1),
        ("accelerate launch --config_file x.yaml train.py a", "train.py", 1),
        ("deepspeed --num_gpus 8 train.py a", "train.py", 1),
        ("fabric run --devices 2 train.py a", "train.py", 1),
        ("srun -n 8 python -u train.py a other.py", "train.py", 2),
        ("nohup nice -n 10 python train.py a &", "train.py", 1),
        ("poetry run python train.py a", "train.py", 1),
        ("uv run train.py a", "train.py", 1),
        ("conda run -n base python train.py a", "train.py", 1),
        ("srun singularity exec --nv image.sif python train.py a", "train.py", 1),
    ],
)
def test_launches(text: str, program: str, arguments: int) -> None:
    launch = launched(script(text).commands[-1])
    assert launch is not None
    assert (launch.program, len(launch.arguments)) == (program, arguments)


@pytest.mark.parametrize(
    "text",
    [
        "ls",
        "X=1",
        "cat train.py",
        "vim train.py --precision 16",
        "echo python train.py",
        "git add train.py",
        "python -c 'import train' train.py",
        "python - train.py",
        "python",
        "python -m",
        "srun bash run.sh train.py",
        "pip install x.py",
        "bash -c 'python train.py'",
        "uv pip compile setup.py",
    ],
)
def test_no_launch(text: str) -> None:
    assert launched(script(text).commands[-1]) is None


PLAIN = st.text(st.sampled_from("abc-_./=,:@%+16~{}[]*?!^"), min_size=1, max_size=8)
ANY = st.text(st.sampled_from("ab \t\n\"'\\$`#;&|()<>é16-"), max_size=8)


@st.composite
def written(draw: st.DrawFn) -> tuple[str, str]:
    """A word, and one of the ways to write it."""
    value, text = "", ""
    for how in draw(st.lists(st.sampled_from(["plain", "single", "double", "escaped", "continued"]), min_size=1)):
        if how == "plain":
            part = draw(PLAIN)
            value, text = value + part, text + part
        elif how == "single":
            part = draw(ANY).replace("'", "")
            value, text = value + part, f"{text}'{part}'"
        elif how == "double":
            part = draw(ANY)
            escaped = "".join(f"\\{c}" if c in '$`"\\' else c for c in part)
            value, text = value + part, f'{text}"{escaped}"'
        elif how == "escaped":
            part = draw(ANY).replace("\n", "")
            value, text = value + part, text + "".join(f"\\{c}" for c in part)
        elif text:
            text += "\\\n"
    return f"-{value}", f"-{text}"


@given(
    st.lists(st.lists(written(), min_size=1, max_size=4), min_size=1, max_size=4),
    st.sampled_from([" ", "  ", "\t", " \\\n  "]),
    st.sampled_from(["\n", " ; ", "&&", " # it's\n", " > log\n", "\n\n", " <<< 'a b' |", " <<E\nit's\nE\n"]),
)
def test_words_come_back_as_they_were_meant(commands: list[list[tuple[str, str]]], between: str, ending: str) -> None:
    text = "".join(between.join(text for _, text in command) + ending for command in commands)
    found = script(text)
    assert [[w.text for w in c.words] for c in found.commands] == [[value for value, _ in c] for c in commands]
    for command, meant in zip(found.commands, commands, strict=True):
        for word, (_, as_written) in zip(command.words, meant, strict=True):
            while as_written.endswith("\\\n"):
                as_written = as_written[:-2]
            assert text[word.start : word.end] == as_written
            assert word.literal


PIECES = [*"a1 \t\n\r\"'\\$`#;&|()<>{}[]=-!é", "case x in ", "esac", "<<E\n", "${", "$((", "function f {"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_is_a_script_or_a_skip(text: str) -> None:
    found = read("run.sh", text)
    if isinstance(found, Skip):
        assert found.path == "run.sh" and found.detail.startswith("line ")
        return
    for node in found.nodes():
        assert 0 <= node.start <= node.end <= len(text)
        assert isinstance(node, (Script, Command, Word))
    for command in found.commands:
        places = [(word.start, word.end) for word in (*command.assignments, *command.words)]
        assert places == sorted(places)
        assert (command.start, command.end) == (places[0][0], places[-1][1])
        assert all(start < end for start, end in places)
