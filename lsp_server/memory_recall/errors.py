"""The one exception family. Every error is a sentence a person can act on, with a code a program can act on."""

from __future__ import annotations


class RecallError(Exception):
    """A recall that could not be done.

    `code` is a stable kebab-case word, `message` one sentence that says what to do next, `recoverable` whether the same
    request can succeed after the person has done that. Neither ever carries the query of a Coven recall.
    """

    def __init__(self, code: str, message: str, *, recoverable: bool = True) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.recoverable = recoverable

    def as_json(self) -> dict[str, object]:
        """The contract's error object: `{"v": 1, "error": {code, message, recoverable}}`."""
        return {"v": 1, "error": {"code": self.code, "message": self.message, "recoverable": self.recoverable}}


class UsageError(RecallError):
    """The request itself is wrong (an option out of range, an empty query). Exit code 2; LSP `InvalidParams`."""

    def __init__(self, message: str, *, code: str = "usage") -> None:
        super().__init__(code, message)


class Cancelled(Exception):
    """The asker has gone: stop working, answer nothing."""
