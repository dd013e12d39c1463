"""Which messages of the protocol are answered, and how the server is run."""

from __future__ import annotations

import logging
import sys
import threading
from typing import BinaryIO

from lsprotocol import types

from codemods.sources import files
from fixer.lsp.actions import FIX_ALL
from fixer.lsp.diagnostics import hover
from fixer.lsp.server import FixerServer, findings_touched, rules

STACK = 64 * 2**20
"""Bytes of the stack of the thread that parses: what some systems give to threads is not enough for deep code."""
_OTHERS = (".txt", ".in", ".cfg", ".lock", ".gitignore", ".gitattributes")
WATCHED = f"**/*{{{','.join((*files.PYTHON, files.NOTEBOOK, *files.CONFIG, *files.SHELL, *_OTHERS))}}}"
"""The files of which the client is to tell that they were written."""


def serve(source: BinaryIO, sink: BinaryIO) -> int:
    """Serve one client until it ends.

    Returns:
        0 if the client has asked to shut down before, else 1, as the protocol has it.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="fixer: %(message)s")
    logging.getLogger("pygls.server").setLevel(logging.CRITICAL)  # messages that cannot be read: the server says so
    threading.stack_size(STACK)
    server = made()
    server.start_io(source, sink)
    server.end()
    return 0 if server.shut_down else 1


def made() -> FixerServer:
    """A server with all it answers."""
    server = FixerServer()
    for feature in (_texts, _notebooks, _disk, _asked):
        feature(server)
    return server


def _texts(server: FixerServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.on_open(params.text_document.uri, params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.on_change(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.on_written()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.on_close(params.text_document.uri, params.text_document.uri)


def _notebooks(server: FixerServer) -> None:
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenNotebookDocumentParams) -> None:
        server.on_open(params.notebook_document.uri, *(cell.uri for cell in params.cell_text_documents))

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeNotebookDocumentParams) -> None:
        structure = params.change.cells.structure if params.change.cells is not None else None
        new = (structure.did_open or ()) if structure is not None else ()
        gone = (structure.did_close or ()) if structure is not None else ()
        server.on_change(params.notebook_document.uri, (cell.uri for cell in new), (cell.uri for cell in gone))

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveNotebookDocumentParams) -> None:
        server.on_written()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseNotebookDocumentParams) -> None:
        server.on_close(params.notebook_document.uri, *(cell.uri for cell in params.cell_text_documents))


def _disk(server: FixerServer) -> None:
    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        can = server.client_capabilities.workspace and server.client_capabilities.workspace.did_change_watched_files
        if can and can.dynamic_registration:
            watchers = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(WATCHED)])
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            await server.client_register_capability_async(
                types.RegistrationParams([types.Registration("written-files", method, watchers)])
            )

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def written(params: types.DidChangeWatchedFilesParams) -> None:
        server.on_written()

    @server.feature(types.SHUTDOWN)
    def shut_down(*params: object) -> None:
        server.shut_down = True


def _asked(server: FixerServer) -> None:
    kinds = [types.CodeActionKind.QuickFix, FIX_ALL]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds))
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        file = server.opened.get(params.text_document.uri)
        return await server.actions(file, params) if file is not None else []

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        uri, there = params.text_document.uri, types.Range(params.position, params.position)
        if (file := server.opened.get(uri)) is None:
            return None
        found = findings_touched(file, await server.shown(file), uri, there)
        return hover(file, found, rules()) if found else None
