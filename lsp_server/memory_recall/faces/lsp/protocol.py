"""JSON-RPC as this server speaks it: what pygls does on the wire, without its traps.

Every message gets exactly one fate here: a request is answered once, whatever happens; a notification is never answered
and never causes a pop-up. Arguments are data: only the outermost object of a message is read as a message, so a key
named `jsonrpc` further in means nothing. What goes wrong inside is answered in a sentence, without a traceback and
without a path, and logged without a word of what notes, memories or queries say. Knows the life of a session, not what
it answers.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
import traceback
from collections.abc import Callable, Coroutine, Mapping
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, TypeGuard, cast

from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol

from memory_recall.errors import Cancelled, RecallError, UsageError
from memory_recall.faces.lsp import transport
from memory_recall.text.untrusted import for_log

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

logger = logging.getLogger(__name__)

MessageId = int | str
Handler = Callable[[Any], Any]
"""Takes the parameters; returns the answer, or a coroutine that gives it."""

_SHOWN = 80


class Life(Enum):
    """How far a session has come."""

    UNINITIALIZED = 1
    RUNNING = 2
    SHUT_DOWN = 3


class RecallProtocol(LanguageServerProtocol):
    """The server's end of the wire. All of it runs on the event loop, but `foresee`."""

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.life = Life.UNINITIALIZED
        self.handlers: Mapping[str, Handler] = {}
        self.raw_methods: frozenset[str] = frozenset()
        """Methods whose handlers take the parameters as JSON and read them leniently themselves."""
        self._output: BinaryIO | None = None
        self._abandoned: Callable[[], object] = lambda: None
        self._answering: dict[MessageId, asyncio.Task[Any]] = {}
        self._withdrawn: set[MessageId] = set()

    def _register_builtin_features(self) -> None:
        """None: pygls's own handlers keep documents by `str.splitlines` and re-read them from disk."""

    def connect(self, output: BinaryIO, abandoned: Callable[[], object]) -> None:
        """Where messages to the client go, and what to call when nobody reads them any more."""
        self._output, self._abandoned = output, abandoned

    # Receiving

    def foresee(self, message: object) -> None:
        """Note a cancellation as soon as it was read, so that a request still in the queue is not begun.

        Called on the reading thread; adding to a set is all it does.
        """
        if isinstance(message, dict) and message.get("method") == types.CANCEL_REQUEST:
            identity = _cancelled_id(message)
            if identity is not None:
                self._withdrawn.add(identity)

    def receive(self, message: object) -> None:
        """Deal with one parsed message. Never raises."""
        if isinstance(message, transport.Malformed):
            self._refuse(None, types.ErrorCodes.ParseError, message.message)
        elif not isinstance(message, dict) or message.get("jsonrpc") != self.VERSION:
            self._refuse(
                _id_of(message),
                types.ErrorCodes.InvalidRequest,
                'A message is one object with "jsonrpc": "2.0"; batches are not part of the protocol.',
            )
        elif "method" not in message:
            self._receive_response(message)
        elif not isinstance(message["method"], str) or ("id" in message and not _is_id(message["id"])):
            self._refuse(
                _id_of(message), types.ErrorCodes.InvalidRequest, "A method is a text, an id a text or a whole number."
            )
        elif "id" in message:
            self._receive_request(message["id"], message["method"], message.get("params"))
        else:
            self._receive_notification(message["method"], message)

    def _receive_request(self, identity: MessageId, method: str, params: object) -> None:
        began = time.perf_counter()
        refusal = self._not_now(method)
        handler = self.handlers.get(method)
        if identity in self._withdrawn:
            self._refuse_cancelled(identity)
        elif refusal is not None:
            self._refuse(identity, *refusal)
        elif handler is None:
            name = for_log(method)[:_SHOWN]
            self._refuse(identity, types.ErrorCodes.MethodNotFound, f"This server does not handle {name}.")
        else:
            try:
                answer = handler(self._structured(method, params))
            except Exception as failure:
                self._fail(identity, method, failure)
            else:
                if inspect.iscoroutine(answer):
                    self._await(identity, method, answer, began)
                    return
                self._answer(identity, method, answer)
        _log_time(method, began, identity)

    def _receive_notification(self, method: str, message: dict[str, Any]) -> None:
        if method == types.CANCEL_REQUEST:
            self._cancel(_cancelled_id(message))
            return
        began = time.perf_counter()
        handler = self.handlers.get(method)
        if handler is None or (self._not_now(method) is not None and method != types.EXIT):
            return
        try:
            answer = handler(self._structured(method, message.get("params")))
        except Exception as failure:
            log_failure(method, failure)
            return
        _log_time(method, began)
        if inspect.iscoroutine(answer):
            task = asyncio.create_task(answer)
            task.add_done_callback(lambda done: None if done.cancelled() else log_failure(method, done.exception()))

    def _receive_response(self, message: dict[str, Any]) -> None:
        identity = message.get("id")
        if not _is_id(identity):
            return
        future = self._request_futures.pop(identity, None)
        if future is None or future.done():
            return
        result_type = self._result_types.pop(identity, None)
        error = message.get("error")
        try:
            if isinstance(error, dict):
                future.set_exception(JsonRpcException(str(error.get("message", "")), error.get("code")))
            elif result_type is None:
                future.set_result(message.get("result"))
            else:
                future.set_result(self._converter.structure(message, result_type).result)
        except Exception as failure:
            future.set_exception(JsonRpcException(f"The client's answer could not be read: {type(failure).__name__}."))

    def _not_now(self, method: str) -> tuple[types.ErrorCodes, str] | None:
        if self.life is Life.UNINITIALIZED and method != types.INITIALIZE:
            return types.ErrorCodes.ServerNotInitialized, "Send initialize before anything else."
        if self.life is Life.SHUT_DOWN:
            return types.ErrorCodes.InvalidRequest, "The server was shut down; only exit is left."
        if self.life is Life.RUNNING and method == types.INITIALIZE:
            return types.ErrorCodes.InvalidRequest, "The server is initialized already."
        return None

    def _structured(self, method: str, params: object) -> Any:
        known = types.METHOD_TO_TYPES.get(method)
        params_type = known[2] if known else None
        if params_type is None or method in self.raw_methods:
            return params
        try:
            return self._converter.structure({} if params is None else params, cast("type[Any]", params_type))
        except Exception as failure:
            raise JsonRpcException(
                f"The parameters of {method} cannot be read: {_mistake(failure)}", types.ErrorCodes.InvalidParams.value
            ) from failure

    # Answering

    def _await(self, identity: MessageId, method: str, answer: Coroutine[Any, Any, Any], began: float) -> None:
        task = asyncio.create_task(answer)
        self._answering[identity] = task

        def finish(done: asyncio.Future[Any]) -> None:
            if self._answering.get(identity) is done:
                del self._answering[identity]
            if done.cancelled():
                self._refuse_cancelled(identity)
            elif (failure := done.exception()) is not None:
                self._fail(identity, method, failure)
            else:
                self._answer(identity, method, done.result())
            _log_time(method, began, identity)

        task.add_done_callback(finish)

    def cancel_all(self) -> None:
        """Withdraw every request that is being answered; each is answered all the same."""
        for task in list(self._answering.values()):
            _withdraw(task)

    def _cancel(self, identity: MessageId | None) -> None:
        if identity is None:
            return
        self._withdrawn.discard(identity)
        task = self._answering.get(identity)
        if task is not None:
            _withdraw(task)

    def _answer(self, identity: MessageId, method: str, result: Any) -> None:
        try:
            plain = self._converter.unstructure(result) if not isinstance(result, dict) else result
            self._send({"jsonrpc": self.VERSION, "id": identity, "result": plain})
        except Exception as failure:
            self._fail(identity, method, failure)

    def _fail(self, identity: MessageId, method: str, failure: BaseException) -> None:
        if isinstance(failure, Cancelled | asyncio.CancelledError):
            self._refuse_cancelled(identity)
        elif isinstance(failure, UsageError | RecallError):
            invalid = isinstance(failure, UsageError)
            code = types.ErrorCodes.InvalidParams if invalid else types.LSPErrorCodes.RequestFailed
            data = {"code": failure.code, "recoverable": failure.recoverable}
            self._refuse(identity, code, failure.message, data)
        elif isinstance(failure, JsonRpcException):
            self._refuse(identity, failure.code, failure.message)
        else:
            log_failure(method, failure)
            self._refuse(
                identity,
                types.ErrorCodes.InternalError,
                f"The server made a mistake ({type(failure).__name__}) and goes on; its log says where.",
            )

    def _refuse_cancelled(self, identity: MessageId) -> None:
        self._refuse(identity, types.LSPErrorCodes.RequestCancelled, "The request was cancelled.")

    def _refuse(
        self, identity: MessageId | None, code: Enum | int, message: str, data: dict[str, Any] | None = None
    ) -> None:
        error: dict[str, Any] = {"code": code.value if isinstance(code, Enum) else code, "message": message}
        if data is not None:
            error["data"] = data
        self._send({"jsonrpc": self.VERSION, "id": identity, "error": error})

    def _send_data(self, data: Any) -> None:
        """What pygls sends of itself: requests and notifications to the client."""
        self._send(self._converter.unstructure(data))

    def _send(self, message: object) -> None:
        if self._output is None:
            return
        try:
            transport.write(self._output, message)
        except transport.ClientGone:
            self._output = None
            self._abandoned()


def log_failure(method: str, failure: BaseException | None) -> None:
    """One line on what failed where, never with the failure's own words: they may quote a note or a memory."""
    if failure is None or isinstance(failure, Cancelled):
        return
    logger.error("%s failed: %s%s", method, type(failure).__name__, _where(failure.__traceback__))


def _log_time(method: str, began: float, identity: MessageId | None = None) -> None:
    """What happened and how long it took: for a log of debugging, which holds no text of a note, memory or query."""
    if logger.isEnabledFor(logging.DEBUG):
        name = for_log(method)[:_SHOWN] + ("" if identity is None else f" {for_log(str(identity))[:_SHOWN]}")
        logger.debug("%s: %.1f ms", name, 1_000 * (time.perf_counter() - began))


def _withdraw(task: asyncio.Task[Any]) -> None:
    """Ask once: what may not be broken off sees itself through then, and a second time would break it off."""
    if not task.cancelling():
        task.cancel()


def _where(trace: TracebackType | None) -> str:
    frames = traceback.extract_tb(trace)
    return "".join(f"\n  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)


def _mistake(failure: Exception) -> str:
    """The first thing wrong with parameters, without the value that is wrong."""
    sentences = transform_error(failure) if isinstance(failure, BaseValidationError) else []
    return f"{for_log(sentences[0])[:_SHOWN]}." if sentences else f"{type(failure).__name__}."


def _cancelled_id(message: dict[str, Any]) -> MessageId | None:
    return _id_of(message.get("params"))


def _id_of(message: object) -> MessageId | None:
    identity = message.get("id") if isinstance(message, dict) else None
    return identity if _is_id(identity) else None


def _is_id(value: object) -> TypeGuard[MessageId]:
    return isinstance(value, int | str) and not isinstance(value, bool)
