"""`fixer lsp`, spoken to as an editor does. One server serves all tests; each test has documents of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path

import pytest
from world import CHECKOUT, LONG, SURROUNDINGS, fixer, repository, write

pytest_lsp = pytest.importorskip("pytest_lsp")
from lsprotocol import types  # noqa: E402
from pygls.protocol import default_converter  # noqa: E402

pytestmark = pytest.mark.asyncio(loop_scope="module")
STARTED = "import sys; sys.path.pop(0); sys.argv[0] = 'fixer'; from fixer.cli import main; main()"
COMMAND = [sys.executable, "-c", STARTED, "lsp"]
OLD = "import torch\n\n\ndef f(m, x):\n    with torch.cuda.amp.autocast():\n        return m(x)\n"
NEW = OLD.replace("torch.cuda.amp.autocast()", 'torch.amp.autocast("cuda")')
TITLES = [
    "AMP002: Use `torch.amp.GradScaler`, and ask for torch 2.3 (needs torch >=2.3) (unsafe)",
    "AMP002: Use `torch.amp.GradScaler` [version-guard]",
    "Silence AMP002 here (# fixer: ignore)",
]
PUBLISH = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS


class Editor(pytest_lsp.LanguageClient):  # type: ignore[misc, name-defined]
    """A client that notes what it is told."""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        self.published: list[types.PublishDiagnosticsParams] = []
        self.shown: list[str] = []

        @self.feature(PUBLISH)  # type: ignore[untyped-decorator]
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.published.append(params)

        @self.feature(types.WINDOW_SHOW_MESSAGE)  # type: ignore[untyped-decorator]
        def show(params: types.ShowMessageParams) -> None:
            self.shown.append(params.message)

        @self.feature(types.CLIENT_REGISTER_CAPABILITY)  # type: ignore[untyped-decorator]
        def register(params: types.RegistrationParams) -> None:
            self.registered = params

    def open(self, file: Path, text: str | None = None, language: str = "python") -> None:
        text = file.read_text() if text is None else text
        item = types.TextDocumentItem(file.as_uri(), language, 1, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, file: Path, version: int, text: str, at: types.Range | None = None) -> None:
        document = types.VersionedTextDocumentIdentifier(version, file.as_uri())
        part = types.TextDocumentContentChangePartial(at, text) if at is not None else None
        changes = [part or types.TextDocumentContentChangeWholeDocument(text)]
        self.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    def close(self, file: Path) -> None:
        document = types.TextDocumentIdentifier(file.as_uri())
        self.text_document_did_close(types.DidCloseTextDocumentParams(document))

    def save(self, file: Path) -> None:
        document = types.TextDocumentIdentifier(file.as_uri())
        self.text_document_did_save(types.DidSaveTextDocumentParams(document))

    async def diagnostics_of(self, file: Path | str, version: int | None = 1) -> Sequence[types.Diagnostic]:
        """What is published of a version of a document, as soon as it is."""
        uri = file if isinstance(file, str) else file.as_uri()

        def found() -> list[types.PublishDiagnosticsParams]:
            return [each for each in self.published if (each.uri, each.version) == (uri, version)]

        await until(lambda: bool(found()))
        return found()[-1].diagnostics

    async def codes(self, file: Path | str, version: int | None = 1) -> list[object]:
        return [each.code for each in await self.diagnostics_of(file, version)]

    async def becomes(self, file: Path, codes: Sequence[str]) -> None:
        """Wait until these are the codes that were published last of a document."""

        def last() -> list[object] | None:
            told = [each for each in self.published if each.uri == file.as_uri()]
            return [each.code for each in told[-1].diagnostics] if told else None

        await until(lambda: last() == list(codes))

    async def actions(
        self, file: Path, at: types.Range, *only: str, trigger: types.CodeActionTriggerKind | None = None
    ) -> list[types.CodeAction]:
        context = types.CodeActionContext([], list(only) or None, trigger)
        params = types.CodeActionParams(types.TextDocumentIdentifier(file.as_uri()), at, context)
        return list(await self.text_document_code_action_async(params) or [])

    async def hover(self, file: Path, line: int, character: int) -> types.Hover | None:
        document, place = types.TextDocumentIdentifier(file.as_uri()), types.Position(line, character)
        found: types.Hover | None = await self.text_document_hover_async(types.HoverParams(document, place))
        return found


async def until(condition: Callable[[], bool]) -> None:
    """Look again and again until it is so."""
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        await asyncio.sleep(0.01)


def applied(edit: types.WorkspaceEdit | None, texts: Mapping[Path, str]) -> dict[Path, str]:
    """The texts after an edit, which an editor applies back to front; columns count code units of UTF-16."""
    assert edit is not None and edit.document_changes is not None
    after = dict(texts)
    for change in edit.document_changes:
        assert isinstance(change, types.TextDocumentEdit)
        file = next(file for file in texts if file.as_uri() == change.text_document.uri)
        for each in sorted(change.edits, key=lambda each: each.range.start, reverse=True):  # type: ignore[union-attr]
            start, end = (_offset(texts[file], place) for place in (each.range.start, each.range.end))
            after[file] = after[file][:start] + each.new_text + after[file][end:]  # type: ignore[union-attr]
    return after


def _offset(text: str, place: types.Position) -> int:
    line = text.splitlines(keepends=True)[place.line] if place.line < text.count("\n") + 1 and text else ""
    before = sum(map(len, text.splitlines(keepends=True)[: place.line]))
    return before + len(line.encode("utf-16-le")[: 2 * place.character].decode("utf-16-le"))


def whole(text: str) -> types.Range:
    return types.Range(types.Position(0, 0), types.Position(text.count("\n") + 1, 0))


@pytest_lsp.fixture(  # type: ignore[untyped-decorator]
    scope="module",
    config=pytest_lsp.ClientServerConfig(
        server_command=COMMAND,
        client_factory=Editor,
        server_env={**SURROUNDINGS, "PYTHONPATH": str(CHECKOUT), "PATH": "/usr/bin:/bin"},
    ),
)
async def editor(lsp_client: Editor) -> AsyncIterator[None]:
    capabilities = pytest_lsp.client_capabilities("visual-studio-code")
    answer = await lsp_client.initialize_session(types.InitializeParams(capabilities))
    assert answer.server_info is not None and answer.server_info.name == "fixer"
    yield
    await lsp_client.shutdown_session()


async def test_a_bug_is_marked_and_what_is_right_is_not(editor: Editor, tmp_path: Path) -> None:
    file = write(tmp_path, {"train.py": OLD}) / "train.py"
    editor.open(file)
    (found,) = await editor.diagnostics_of(file)
    assert found.range == types.Range(types.Position(4, 9), types.Position(4, 34))
    assert (found.source, found.code, found.severity) == ("fixer", "AMP002", types.DiagnosticSeverity.Warning)
    assert found.message.startswith("`torch.cuda.amp.autocast` is deprecated")
    assert found.code_description is not None and found.code_description.href.startswith("https://")
    editor.change(file, 2, NEW)
    assert await editor.diagnostics_of(file, 2) == ()
    editor.close(file)
    assert await editor.diagnostics_of(file, None) == ()


@pytest.mark.parametrize(
    ("before", "start"),
    [('"e"; ', 9), ('"é"; ', 9), ('"→"; ', 9), ('"😀"; ', 10), ('"😀😀é"; ', 13)],
)
async def test_columns_count_code_units_of_utf16(editor: Editor, tmp_path: Path, before: str, start: int) -> None:
    file = tmp_path / "train.py"
    text = OLD.replace("    with torch.cuda.amp.autocast():", f"    {before}c = torch.cuda.amp.autocast()\n    with c:")
    editor.open(file, text)
    (found,) = await editor.diagnostics_of(file)
    assert found.range.start == types.Position(4, start + 4), "a file that was never saved is checked, too"
    (action, *_) = await editor.actions(file, found.range, "quickfix")
    assert 'c = torch.amp.autocast("cuda")\n' in applied(action.edit, {file: text})[file]


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("import torch\n", [(1, 0, 1, 0, OLD.partition("\n")[2])]),
        (OLD.replace("cuda.amp.", "😀cuda.amp."), [(4, 15, 4, 17, "")]),
        (OLD.replace("\n", "\r\n").replace("cuda", "xxx"), [(4, 15, 4, 18, "cuda")]),
        ('"""\f\x0b\u2028\x85"""\n' + OLD.replace("cuda", ""), [(5, 15, 5, 15, "cuda")]),
        (OLD + OLD, [(6, 0, 12, 0, "")]),
        (OLD.replace("cuda", ""), [(4, 15, 4, 15, "cu"), (4, 17, 4, 17, "da")]),
    ],
    ids=["appended", "astral", "crlf", "separators", "deleted", "two changes"],
)
async def test_changes_are_taken_in_pieces(
    editor: Editor, tmp_path: Path, text: str, edits: list[tuple[int, int, int, int, str]]
) -> None:
    file = tmp_path / "train.py"
    editor.open(file, text)
    for version, (line, column, end_line, end_column, new) in enumerate(edits, start=2):
        at = types.Range(types.Position(line, column), types.Position(end_line, end_column))
        editor.change(file, version, new, at)
    assert await editor.codes(file, len(edits) + 1) == ["AMP002"]


async def test_only_the_newest_text_is_told_of(editor: Editor, tmp_path: Path) -> None:
    file = write(tmp_path, {"train.py": OLD}) / "train.py"
    editor.open(file)
    assert await editor.codes(file) == ["AMP002"]
    for version in range(2, 40):
        editor.change(file, version, OLD if version % 2 else NEW)
    assert await editor.codes(file, 39) == ["AMP002"]
    told = [each.version for each in editor.published if each.uri == file.as_uri()]
    assert told == sorted(told) and len(told) < 10


async def test_code_that_is_half_written_has_no_findings(editor: Editor, tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    editor.open(file, OLD)
    assert await editor.codes(file) == ["AMP002"]
    for version, text in enumerate([OLD + "def (", "\0", "x = '\ud800'\n" + OLD, "(" * 5000, ""], start=2):
        editor.change(file, version, text)
        assert await editor.codes(file, version) == []
    editor.change(file, 7, OLD)
    assert await editor.codes(file, 7) == ["AMP002"]


async def test_unsaved_texts_of_other_files_count(editor: Editor, tmp_path: Path) -> None:
    root = repository(tmp_path / "p", {"train.py": OLD, "requirements.txt": "torch==2.6.0\n", "fixer.toml": ""})
    file, pins = root / "train.py", root / "requirements.txt"
    editor.open(file)
    assert await editor.codes(file) == ["AMP002"]
    editor.open(pins, "torch==2.0.1\n", "pip-requirements")
    await editor.becomes(file, [])
    editor.close(pins)
    await editor.becomes(file, ["AMP002"])
    shown = len(editor.shown)
    editor.open(root / "fixer.toml", "ignore = [", "toml")
    editor.open(pins, "torch==2.0.1\n", "pip-requirements")
    await editor.becomes(file, [])
    assert len(editor.shown) == shown, "settings are those on disk"


async def test_files_that_were_written_count(editor: Editor, tmp_path: Path) -> None:
    root = repository(tmp_path / "p", {"train.py": OLD, "requirements.txt": "torch==2.6.0\n"})
    file = root / "train.py"
    editor.open(file)
    assert await editor.codes(file) == ["AMP002"]
    write(root, {"requirements.txt": "torch==2.0.1\n"})
    changed = types.FileEvent((root / "requirements.txt").as_uri(), types.FileChangeType.Changed)
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
    await editor.becomes(file, [])
    write(root, {"requirements.txt": "", "fixer.toml": "select = ["})
    editor.save(file)
    await until(lambda: any(each.startswith("fixer: fixer.toml is not valid TOML") for each in editor.shown))
    write(root, {"fixer.toml": ""})
    editor.save(file)
    await editor.becomes(file, ["AMP002"])


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("train.py", {"fixer.toml": 'exclude = ["train.py"]\n'}),
        ("train.py", {"pyproject.toml": '[tool.fixer]\nignore = ["AMP002"]\n'}),
        ("train.py", {"fixer.toml": '[per-file-ignores]\n"train.py" = ["AMP"]\n'}),
        ("third_party/train.py", {}),
        ("train.py", {".gitattributes": "train.py linguist-vendored\n"}),
        ("train.py", {".gitignore": "train.py\n"}),
        ("train_pb2.py", {}),
        ("train.txt", {}),
    ],
)
async def test_what_a_check_leaves_out_is_left_out(
    editor: Editor, tmp_path: Path, path: str, files: dict[str, str]
) -> None:
    root = repository(tmp_path / "p", {path: OLD, "other.py": OLD, **files})
    if ".gitignore" in files:
        (root / ".git" / "index").unlink()
    editor.open(root / path)
    assert await editor.codes(root / path) == []


async def test_a_fix_is_offered_and_the_comment_that_silences(editor: Editor, tmp_path: Path) -> None:
    file = write(tmp_path, {"train.py": OLD}) / "train.py"
    editor.open(file)
    (found,) = await editor.diagnostics_of(file)
    fix, silence = await editor.actions(file, found.range, "quickfix")
    assert (fix.title, fix.kind, fix.is_preferred) == ("AMP002: Use `torch.amp.autocast`", "quickfix", True)
    assert fix.diagnostics == (found,)
    assert applied(fix.edit, {file: OLD}) == {file: NEW}
    assert (silence.title, silence.is_preferred) == ("Silence AMP002 here (# fixer: ignore)", None)
    silent = applied(silence.edit, {file: OLD})[file]
    assert "    with torch.cuda.amp.autocast():  # fixer: ignore[AMP002]\n" in silent
    editor.change(file, 2, silent)
    assert await editor.codes(file, 2) == []


CALLED = "import torch\n\nscaler = (\n    torch.cuda.amp.GradScaler(  # why\n        1.0\n    )\n)\n"
BLOCK = OLD.replace("    with torch.cuda", "    with open(x), \\\n            torch.cuda")
YAML = "stage: sft\nmodel_name_or_path: m\nfinetuning_type: lora\nfp16: true\nbf16: true\n"


@pytest.mark.parametrize(
    ("name", "text", "ending"),
    [
        ("a.py", OLD.replace("\n", "\r\n"), "amp.autocast():{}\r\n        return m(x)\r\n"),
        ("a.py", OLD.rstrip().replace("return m(x)", "pass") + "; torch.cuda.amp.autocast()", "amp.autocast(){}"),
        ("a.py", CALLED, "    )\n){}\n"),
        ("a.py", BLOCK, "torch.cuda.amp.autocast():{}\n        return m(x)\n"),
        ("a.py", OLD.replace("():", "():  # noqa: E501"), "  # noqa: E501{}\n        return m(x)\n"),
        ("a.yaml", YAML, "fp16: true{}\nbf16: true\n"),
    ],
    ids=["crlf", "no line end", "statement", "block", "beside a comment", "yaml"],
)
async def test_a_comment_silences(editor: Editor, tmp_path: Path, name: str, text: str, ending: str) -> None:
    file = tmp_path / name
    editor.open(file, text, "yaml" if name == "a.yaml" else "python")
    found = (await editor.diagnostics_of(file))[-1]
    action = (await editor.actions(file, found.range, "quickfix"))[-1]
    comment = f"  # fixer: ignore[{found.code}]"
    silent = applied(action.edit, {file: text})[file]
    assert silent.endswith(ending.format(comment)) and silent.replace(comment, "") == text
    editor.change(file, 2, silent)
    assert len(await editor.diagnostics_of(file, 2)) < len(await editor.diagnostics_of(file))


async def test_a_fix_may_change_several_files_and_be_unsafe(editor: Editor, tmp_path: Path) -> None:
    text = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"
    root = write(
        tmp_path, {"train.py": text, "requirements.txt": "torch>=2.0\n", "fixer.toml": "unsafe-fixes = true\n"}
    )
    file, pins = root / "train.py", root / "requirements.txt"
    editor.open(file)
    (found,) = await editor.diagnostics_of(file)
    offered = {each.title: each for each in await editor.actions(file, found.range, "quickfix")}
    assert list(offered) == TITLES
    after = applied(offered[TITLES[0]].edit, {file: text, pins: "torch>=2.0\n"})
    assert after == {file: text.replace(".cuda.amp.GradScaler()", '.amp.GradScaler("cuda")'), pins: "torch>=2.3\n"}
    assert [each.is_preferred for each in offered.values()] == [None, True, None], "the safe one"
    assert await editor.actions(file, whole(text), "source.fixAll.fixer") == [], (
        "safe ones only, whatever is configured"
    )


async def test_all_safe_fixes_of_a_file(editor: Editor, tmp_path: Path) -> None:
    text = "from torch.cuda.amp import autocast\n\nwith autocast():\n    pass\nwith autocast(False):\n    pass\n"
    file = write(tmp_path, {"train.py": text}) / "train.py"
    editor.open(file)
    assert len(await editor.diagnostics_of(file)) == 2
    for only in ("source.fixAll.fixer", "source.fixAll", "source"):
        (fix,) = await editor.actions(file, whole(text), only)
        assert fix.kind == "source.fixAll.fixer"
    first, second = ('with torch.amp.autocast("cuda"):', 'with torch.amp.autocast("cuda", enabled=False):')
    new = f"import torch\n\n{first}\n    pass\n{second}\n    pass\n"
    assert applied(fix.edit, {file: text}) == {file: new}
    invoked, automatic = types.CodeActionTriggerKind.Invoked, types.CodeActionTriggerKind.Automatic
    below = types.Range(types.Position(1, 0), types.Position(1, 0))
    assert [each.kind for each in await editor.actions(file, below, trigger=invoked)] == ["source.fixAll.fixer"]
    assert await editor.actions(file, below, trigger=automatic) == []
    assert await editor.actions(file, whole(text), "refactor") == []
    editor.change(file, 2, new)
    assert await editor.actions(file, whole(new)) == []


async def test_the_page_of_a_rule_is_shown_where_the_pointer_rests(editor: Editor, tmp_path: Path) -> None:
    file = write(tmp_path, {"train.py": OLD}) / "train.py"
    editor.open(file)
    shown = await editor.hover(file, 4, 20)
    assert shown is not None and isinstance(shown.contents, types.MarkupContent) and shown.range is not None
    for part in (
        "**AMP002** (deprecated): ",
        "# AMP002 deprecated-amp-api\n",
        "## Why is this bad?",
        "Versions: torch",
    ):
        assert part in shown.contents.value
    assert await editor.hover(file, 0, 0) is None


async def test_the_cells_of_a_notebook(editor: Editor, tmp_path: Path) -> None:
    uri = (tmp_path / "train.ipynb").as_uri()
    first, second = (f"vscode-notebook-cell:{uri.removeprefix('file:')}#{n}" for n in "ab")
    texts = {first: "%matplotlib inline\nimport torch\n", second: "with torch.cuda.amp.autocast():\n    pass"}
    items = [types.TextDocumentItem(each, "python", 1, text) for each, text in texts.items()]
    cells = [types.NotebookCell(types.NotebookCellKind.Code, each) for each in texts]
    notebook = types.NotebookDocument(uri, "jupyter-notebook", 1, cells)
    editor.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, items))
    assert await editor.codes(first) == []
    (found,) = await editor.diagnostics_of(second)
    assert (found.code, found.range.start, found.range.end.character) == ("AMP002", types.Position(0, 5), 30)
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(second), found.range, types.CodeActionContext([], ["quickfix"])
    )
    fix, silence = await editor.text_document_code_action_async(params)
    (edit,) = fix.edit.document_changes
    assert edit.text_document.uri == second
    assert [each.new_text for each in edit.edits] == ['amp.autocast("cuda"']
    assert silence.edit.document_changes[0].edits[0].new_text == "  # fixer: ignore[AMP002]"
    version = types.VersionedTextDocumentIdentifier(2, second)
    content = types.NotebookDocumentCellContentChanges(version, [types.TextDocumentContentChangeWholeDocument("pass")])
    editor.notebook_document_did_change(
        types.DidChangeNotebookDocumentParams(
            types.VersionedNotebookDocumentIdentifier(2, uri),
            types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[content])),
        )
    )
    assert await editor.codes(second, 2) == []
    closing = types.DidCloseNotebookDocumentParams(
        types.NotebookDocumentIdentifier(uri), [types.TextDocumentIdentifier(each) for each in texts]
    )
    editor.notebook_document_did_close(closing)
    assert await editor.codes(second, None) == []


async def test_a_client_that_misbehaves_ends_nothing(editor: Editor, tmp_path: Path) -> None:
    file, unknown = write(tmp_path, {"train.py": OLD}) / "train.py", tmp_path / "unknown.py"
    far = types.Range(types.Position(900, 3), types.Position(70, 900))
    editor.change(unknown, 2, OLD)
    editor.close(unknown)
    editor.save(unknown)
    assert await editor.hover(unknown, 0, 0) is None
    assert await editor.actions(unknown, far) == []
    for uri in ("untitled:Untitled-1", "file://", "file:///%00.py", "nonsense", "", "http://[", "file:///no/such/x.py"):
        item = types.TextDocumentItem(uri, "python", 1, OLD)
        editor.text_document_did_open(types.DidOpenTextDocumentParams(item))
        there = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(4, 20))
        try:
            await editor.text_document_hover_async(there)
        except Exception as error:
            assert "Internal" in type(error).__name__
        editor.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    for body in (b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b'{"jsonrpc": "2.0", "id": 1, "method": "x/y"}', b"\xff"):
        editor._server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    editor.open(file)
    editor.open(file)
    editor.change(file, 3, "x", far)
    editor.change(file, 4, OLD)
    assert await editor.codes(file, 4) == ["AMP002"]
    assert await editor.hover(file, 900, 900) is None
    assert await editor.actions(file, far, "quickfix") == []


def _ended(*messages: bytes) -> subprocess.CompletedProcess[bytes]:
    """A server of its own that is told these messages, and then nothing more."""
    data = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(each), each) for each in messages)
    environment = {**SURROUNDINGS, "PYTHONPATH": str(CHECKOUT), "PATH": "/usr/bin:/bin"}
    return subprocess.run(COMMAND, input=data, env=environment, capture_output=True, timeout=LONG, check=False)


INITIALIZE = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}'
SHUT_DOWN = b'{"jsonrpc": "2.0", "id": 2, "method": "shutdown"}'
EXIT = b'{"jsonrpc": "2.0", "method": "exit"}'


@pytest.mark.parametrize(
    ("messages", "code"),
    [((INITIALIZE, b"{", SHUT_DOWN, SHUT_DOWN, EXIT), 0), ((INITIALIZE, EXIT), 1), ((INITIALIZE,), 1)],
    ids=["shut down twice", "exit alone", "gone"],
)
async def test_how_it_ends(messages: tuple[bytes, ...], code: int) -> None:
    done = _ended(*messages)
    assert done.returncode == code, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert done.stdout.count(b"Content-Length: ") == (2 if SHUT_DOWN in messages else 1), "nothing but answers"


async def test_without_pygls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("fixer.lsp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygls", None)
    answer = fixer("lsp", at=tmp_path)
    assert (answer.code, answer.out) == (2, b"")
    assert answer.err == "fixer: lsp requires pygls: pip install 'ampfix[lsp]'\n"
