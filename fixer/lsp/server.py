"""The server: what the client says and asks, checked in a thread of its own while a person types."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from codemods import __version__
from codemods.model.edits import Finding
from codemods.rules.rule import Rule
from fixer.errors import Refusal
from fixer.lsp.actions import FIX_ALL, Actions
from fixer.lsp.diagnostics import published, span
from fixer.lsp.documents import OpenFile, OpenFiles, Snapshot, adopt
from fixer.run.request import Outcome
from fixer.run.warm import WarmTree

T = TypeVar("T")
PAUSE = 0.15
"""Seconds without a change after which a document is checked."""
REST = 0.5
"""The same for the other open documents, which a change may concern."""
_LOG = logging.getLogger("fixer.lsp")


class FixerServer(LanguageServer):
    """Speaks to one client."""

    def __init__(self) -> None:
        notebooks = types.NotebookDocumentFilterWithNotebook(
            notebook="jupyter-notebook", cells=[types.NotebookCellLanguage("python")]
        )
        super().__init__(
            "fixer",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=types.NotebookDocumentSyncOptions([notebooks], save=True),
        )
        self.shut_down = False
        self._opened: OpenFiles | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()
        """One check at a time: the next one begins with the text as it stands then."""
        self._waiting: set[str] = set()
        """Documents that a check waits for."""
        self._outcomes: dict[str, tuple[object, Outcome]] = {}
        """What was found last, by URI, with the versions of the texts."""
        self._trees: dict[Path, WarmTree] = {}
        self._written = False
        """Files on disk may have changed."""
        self._told: set[str] = set()
        self._worker = ThreadPoolExecutor(1, "check")

    def report_server_error(self, error: Exception, source: object) -> None:
        """Note what a message of the client led to; nothing pops up in the editor."""
        _LOG.error("a message could not be handled: %s: %s", type(error).__name__, error)

    @property
    def opened(self) -> OpenFiles:
        """The open files."""
        if self._opened is None:
            self._opened = OpenFiles(self.workspace)
        return self._opened

    # -- what the client says

    def on_open(self, uri: str, *texts: str) -> None:
        """A document is open, or a notebook with its cells."""
        for text in texts:
            adopt(self.workspace, text)
        self.opened.forget(uri)
        self._written = True
        self._soon(uri, 0)
        self._others(uri)

    def on_change(self, uri: str, new: Iterable[str] = (), gone: Iterable[str] = ()) -> None:
        """A document holds another text; of a notebook, cells may be new or gone."""
        for text in new:
            adopt(self.workspace, text)
        for text in gone:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(text, []))
        self._soon(uri, PAUSE)
        self._others(uri)

    def on_written(self) -> None:
        """Files have changed on disk."""
        self._written = True
        self._others(None, PAUSE)

    def on_close(self, uri: str, *texts: str) -> None:
        """A document is closed: nothing is said of it any more."""
        self._outcomes.pop(uri, None)
        if (timer := self._timers.pop(uri, None)) is not None:
            timer.cancel()
        for text in texts:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(text, []))
        self._others(uri)

    # -- checks

    def _soon(self, uri: str, delay: float) -> None:
        """Check a document when it has rested for so many seconds."""
        if (timer := self._timers.pop(uri, None)) is not None:
            timer.cancel()
        self._timers[uri] = asyncio.get_running_loop().call_later(delay, self._start, uri)

    def _others(self, uri: str | None, delay: float = REST) -> None:
        for file in self.opened.snapshot().files:
            if file.uri != uri:
                self._soon(file.uri, delay)

    def _start(self, uri: str) -> None:
        self._timers.pop(uri, None)
        if uri in self._waiting:
            return
        self._waiting.add(uri)
        task = asyncio.get_running_loop().create_task(self._check(uri))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _check(self, uri: str) -> None:
        """Publish what is found in a document, unless it has changed meanwhile: then a later check is on its way."""
        async with self._turn:
            self._waiting.discard(uri)
            try:
                await self._publish(uri)
            except Exception:
                _LOG.exception("%s could not be checked", uri)

    async def _publish(self, uri: str) -> None:
        file = self.opened.get(uri)
        if file is None:
            return
        outcome = await self.outcome(file)
        now = self.opened.get(uri)
        if now is None or now.versions != file.versions:
            return
        if outcome is not None:
            self._outcomes[uri] = file.versions, outcome
        for params in published(file, findings_of(file, outcome), rules()):
            self.text_document_publish_diagnostics(params)

    async def shown(self, file: OpenFile) -> Outcome | None:
        """What was published last, if it is about the text as it stands; else what a check finds."""
        versions, outcome = self._outcomes.get(file.uri, (None, None))
        return outcome if versions == file.versions else await self.outcome(file)

    async def outcome(self, file: OpenFile) -> Outcome | None:
        """What a check of a file finds; None where the settings cannot be understood."""
        opened = self.opened.snapshot()
        try:
            return await self._worked(lambda: self._outcome(file, opened))
        except Refusal as refusal:
            self._tell(str(refusal))
            return None

    async def actions(self, file: OpenFile, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What can be done about the findings that a range touches, and, if that is asked for, about all of the file.

        It is planned anew: the edits are for the texts as they stand now, in every file.
        """
        opened, only = self.opened.snapshot(), params.context.only
        edits = self.client_capabilities.workspace and self.client_capabilities.workspace.workspace_edit
        versioned = bool(edits and edits.document_changes)
        invoked = params.context.trigger_kind is not types.CodeActionTriggerKind.Automatic

        def made() -> list[types.CodeAction]:
            outcome = self._outcome(file, opened)
            maker = Actions(self._tree(file), opened, file, rules(), versioned)
            found = []
            if _asked_for(types.CodeActionKind.QuickFix.value, only):
                touched = findings_touched(file, outcome, params.text_document.uri, params.range)
                found += [action for finding in touched for action in maker.for_finding(outcome, finding)]
            if _asked_for(FIX_ALL, only) and (only or invoked) and (action := maker.all_safe()) is not None:
                found.append(action)
            return found

        try:
            return await self._worked(made)
        except Refusal as refusal:
            self._tell(str(refusal))
            return []

    async def _worked(self, work: Callable[[], T]) -> T:
        """What a function returns in the thread that checks."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def _outcome(self, file: OpenFile, opened: Snapshot) -> Outcome:
        outcome = self._tree(file).plan([file.path], opened.texts(file.root))
        if outcome.problems:
            raise Refusal(outcome.problems[0])
        return outcome

    def _tree(self, file: OpenFile) -> WarmTree:
        """The tree that a file lies in, as it is on disk; for the thread that checks."""
        if self._written:
            self._written = False
            for tree in self._trees.values():
                tree.refresh()
        if file.root not in self._trees:
            self._trees[file.root] = WarmTree(file.root, alone=file.place.alone)
        return self._trees[file.root]

    def _tell(self, sentence: str) -> None:
        """Show a sentence to the person, once."""
        if sentence not in self._told:
            self._told.add(sentence)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"fixer: {sentence}"))

    def end(self) -> None:
        """Wait for nothing any more."""
        self._worker.shutdown(wait=False, cancel_futures=True)


@cache
def rules() -> dict[str, Rule]:
    from codemods.transforms import load

    return {rule.code: rule for rule in load()}


def findings_of(file: OpenFile, outcome: Outcome | None) -> Sequence[Finding]:
    """What was found in a file that the editor can show: in one of the cells that it knows, if it is a notebook."""
    found = outcome.plan.findings if outcome is not None else ()
    return [finding for finding in found if finding.path == file.path and finding.cell in file.parts]


def _asked_for(kind: str, only: Sequence[str] | None) -> bool:
    """Whether a client wants actions of a kind: of all kinds, or of this one, or of one that it belongs to."""
    wanted = [each.value if isinstance(each, Enum) else each for each in only or ()]
    return only is None or any(not each or f"{kind}.".startswith(f"{each}.") for each in wanted)


def findings_touched(file: OpenFile, outcome: Outcome | None, uri: str, asked: types.Range) -> list[Finding]:
    """The findings of one text of a file (of a cell, in a notebook) that a range touches."""
    found = []
    for finding in findings_of(file, outcome):
        there = span(file, finding)
        if unquote(file.parts[finding.cell].uri) == unquote(uri) and _key(there.start) <= _key(asked.end):
            if _key(asked.start) <= _key(there.end):
                found.append(finding)
    return found


def _key(position: types.Position) -> tuple[int, int]:
    return position.line, position.character
