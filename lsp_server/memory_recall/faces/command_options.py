"""The options of each command: one closed pydantic model each, in the words that a client sends.

Types are strict, so that a mistake is told and not guessed around, with three courtesies for clients that cannot say
better: Vimscript sends 1, 0 and "true" for booleans, some encoders send 5.0 for 5, and null stands for "not given".
Loaded when a command runs, not when the server starts: pydantic takes longer to start than all else here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from memory_recall.faces.flags import flag


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _names(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(value) if isinstance(value, list) else value


Flag = Annotated[bool, BeforeValidator(flag)]
Whole = Annotated[int, BeforeValidator(_whole)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
MemoryType = Literal["episodic", "semantic", "procedural"]
Scope = Literal["user", "project", "skill", "runtime", "global"]
Notify = Literal["always", "failures", "never"]

Tokens = Annotated[int, BeforeValidator(_whole), Field(ge=20, le=1_000_000)]

_TEXT = "a text"
_YES_OR_NO = "true or false"


def _option(default: Any, expected: str, about: str, **limits: Any) -> Any:
    """A field that can say what it expects, in a sentence of an error and in the documentation."""
    return Field(default, description=about, json_schema_extra={"expected": expected}, **limits)


def _budget() -> Any:
    return _option(
        None,
        "a whole number of tokens from 20 to 1,000,000",
        "how many tokens the answer may take: the best memories that fit, the last one shortened",
    )


def _weak() -> Any:
    return _option(False, _YES_OR_NO, "whether memories are returned too that answer so poorly that they are held back")


class Options(BaseModel):
    """What every command may be told: which project is meant in a window with several."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, alias_generator=to_camel, hide_input_in_errors=True
    )

    uri: str | None = _option(None, "a URI", "a note or directory; the project is the workspace folder that holds it")
    workspace: str | None = _option(
        None, "the URI, path or name of a workspace folder", "the workspace folder that is meant"
    )


class NempRecallOptions(Options):
    """Options of `memoryRecall.nemp.recall`."""

    query: str = _option(..., _TEXT, "a key, a part of one, or words")
    limit: Whole = _option(10, "a whole number from 1 to 50", "how many memories at most", ge=1, le=50)
    record: Flag = _option(True, _YES_OR_NO, "whether the read is accounted for in access log and vitality")
    budget: Tokens | None = _budget()


class MemoryRecallOptions(Options):
    """Options of `memoryRecall.memory.recall`."""

    query: str = _option(..., _TEXT, "words; an empty text ranks by confidence and age alone")
    limit: Whole = _option(5, "a whole number from 1 to 50", "how many memories at most", ge=1, le=50)
    type: Annotated[tuple[MemoryType, ...], BeforeValidator(_names)] | None = _option(
        None,
        "a list, or a text with commas, of episodic, semantic and procedural",
        "only memories of these types; all where it is not given",
        min_length=1,
    )
    min_confidence: Share = _option(
        0.3, "a number from 0 to 1", "memories with a lower confidence are left out and counted"
    )
    scope: Scope | None = _option(
        None,
        "one of user, project, skill, runtime and global",
        "only memories of this scope; all where it is not given",
    )
    include_expired: Flag = _option(False, _YES_OR_NO, "whether memories past their expiry are returned too")
    include_weak: Flag = _weak()
    notify: Notify = _option(
        "always", "one of always, failures and never", "when a message is left in the project's inbox"
    )
    budget: Tokens | None = _budget()


class CovenRecallOptions(Options):
    """Options of `memoryRecall.coven.recall`."""

    query: str = _option(..., _TEXT, "words; they go to the coven-memory binary and nowhere else")
    familiar: str = _option("coven", "a name of letters, digits, _ and -", "whose documents are searched")
    k: Whole = _option(5, "a whole number from 1 to 20", "how many hits at most", ge=1, le=20)
    since: str | None = _option(None, "an ISO date or date-time", "only claims recorded then or later")
    until: str | None = _option(
        None, "an ISO date or date-time", "only claims recorded then or earlier; a date counts whole"
    )
    verified_only: Flag = _option(True, _YES_OR_NO, "whether claims that fail verification are dropped")
    budget: Tokens | None = _budget()


class SearchOptions(Options):
    """Options of `memoryRecall.search`."""

    query: str = _option(..., _TEXT, "words")
    limit: Whole = _option(10, "a whole number from 1 to 50", "how many hits at most", ge=1, le=50)
    with_coven: Flag = _option(False, _YES_OR_NO, "whether the query is also given to the coven-memory binary")
    include_weak: Flag = _weak()
    budget: Tokens | None = _budget()


class ShowOptions(Options):
    """Options of `memoryRecall.show`."""

    reference: str = _option(
        ..., _TEXT, "a key, a MEM- id or a ULID, bare, with its system (nemp:key) or in double brackets"
    )


class StatusOptions(Options):
    """Options of `memoryRecall.status`: none of its own."""
