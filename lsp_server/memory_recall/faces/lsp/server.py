"""The server: which method is answered by which function, and the beginning and end of a session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from memory_recall import __version__
from memory_recall.environment import Environment
from memory_recall.faces.lsp import transport
from memory_recall.faces.lsp.client import server_capabilities
from memory_recall.faces.lsp.definition import definition
from memory_recall.faces.lsp.ending import end_on_signals, end_when_unread, gone, is_watchable
from memory_recall.faces.lsp.execute import advertised, execute
from memory_recall.faces.lsp.folders import Folder
from memory_recall.faces.lsp.hover import hover
from memory_recall.faces.lsp.protocol import Handler, Life, RecallProtocol, log_failure
from memory_recall.faces.lsp.session import Session
from memory_recall.faces.lsp.work import Workers

logger = logging.getLogger(__name__)


class MemoryServer(LanguageServer):
    """One language server for one client over one pair of pipes."""

    protocol: RecallProtocol

    def __init__(self, environment: Environment) -> None:
        super().__init__("memory-recall", __version__, protocol_cls=RecallProtocol)
        self._environment = environment
        self._session: Session | None = None
        self._ended = asyncio.Event()
        self._exit_code = 0
        self._editor: asyncio.Task[None] | None = None
        self.workers = Workers()
        self.protocol.raw_methods = frozenset({types.INITIALIZE, types.WORKSPACE_EXECUTE_COMMAND})
        self.protocol.handlers = {
            types.INITIALIZE: self._initialize,
            types.INITIALIZED: self._initialized,
            types.SHUTDOWN: self._shut_down,
            types.EXIT: self._exit,
            types.TEXT_DOCUMENT_DID_OPEN: self._within(_open),
            types.TEXT_DOCUMENT_DID_CHANGE: self._within(_change),
            types.TEXT_DOCUMENT_DID_CLOSE: self._within(_close),
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self._within(_change_folders),
            types.TEXT_DOCUMENT_HOVER: self._within(hover),
            types.TEXT_DOCUMENT_DEFINITION: self._within(definition),
            types.WORKSPACE_EXECUTE_COMMAND: self._within(execute),
        }

    async def serve(self, source: BinaryIO, sink: BinaryIO) -> int:
        """Serve until `exit`, or until the client has gone; returns the exit code that the protocol asks for."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: log_failure("event loop", context.get("exception")))
        self.protocol.connect(sink, self._ended.set)

        def deliver(message: object) -> None:
            self.protocol.foresee(message)
            loop.call_soon_threadsafe(self.protocol.receive, message)

        end_on_signals(lambda number: self._end(128 + number))
        end_when_unread(sink, self._ended.set)
        transport.listen(source, deliver, lambda: _call_if_open(loop, self._ended.set))
        await self._ended.wait()
        self.protocol.cancel_all()
        return self._exit_code

    def report_server_error(self, error: Exception, source: Any) -> None:
        """One line in the log, and no pop-up."""
        log_failure(getattr(source, "__name__", "server"), error)

    def _within(self, handler: Callable[[Session, Any], Any]) -> Handler:
        """A handler that is called with the session; the protocol lets nothing through before there is one."""

        def handle(params: Any) -> Any:
            assert self._session is not None
            return handler(self._session, params)

        return handle

    def _initialize(self, params: object) -> types.InitializeResult:
        given = params if isinstance(params, dict) else {}
        session = Session.of(given, self._environment, self.workers)
        self._session = session
        self.protocol.life = Life.RUNNING
        editor = given.get("processId")
        if is_watchable(editor):
            self._editor = asyncio.ensure_future(gone(editor))
            self._editor.add_done_callback(lambda done: None if done.cancelled() else self._exit(None))
        logger.info("serving %d folders, columns in %s", len(session.folders.all), session.client.encoding)
        return types.InitializeResult(
            capabilities=server_capabilities(session.client, advertised(session.settings)),
            server_info=types.ServerInfo(self.name, self.version),
        )

    def _initialized(self, params: object) -> None:  # noqa: ARG002 - the parameters are empty by definition
        assert self._session is not None
        for complaint in self._session.complaints:
            logger.warning("%s", complaint)
            self.window_log_message(types.LogMessageParams(types.MessageType.Warning, complaint))

    def _shut_down(self, params: object) -> None:  # noqa: ARG002
        self.protocol.life = Life.SHUT_DOWN
        self.protocol.cancel_all()

    def _exit(self, params: object) -> None:  # noqa: ARG002
        self._end(0 if self.protocol.life is Life.SHUT_DOWN else 1)

    def _end(self, code: int) -> None:
        self._exit_code = code
        self._ended.set()


def _open(session: Session, params: types.DidOpenTextDocumentParams) -> None:
    document = params.text_document
    session.documents.open(document.uri, document.text, document.version)
    session.prepare(document.uri)


def _change(session: Session, params: types.DidChangeTextDocumentParams) -> None:
    session.documents.change(params.text_document.uri, params.content_changes, params.text_document.version)


def _close(session: Session, params: types.DidCloseTextDocumentParams) -> None:
    session.documents.close(params.text_document.uri)


def _change_folders(session: Session, params: types.DidChangeWorkspaceFoldersParams) -> None:
    opened = (Folder.opened(folder.uri, folder.name) for folder in params.event.added)
    session.folders.change(
        added=[folder for folder in opened if folder is not None],
        removed=[folder.uri for folder in params.event.removed],
    )


def _call_if_open(loop: asyncio.AbstractEventLoop, function: Callable[[], object]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(function)
