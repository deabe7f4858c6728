"""`docs/commands.md`, written from the table of commands: `python -m memory_recall.faces.command_docs`.

A test fails where the file and the table differ.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from memory_recall.faces.commands import COMMANDS, Command, expectation, options_of
from memory_recall.faces.lsp.settings import SETTINGS
from memory_recall.text.json_values import dumps

_INTRODUCTION = """\
# Commands of the language server

<!-- Written by `python -m memory_recall.faces.command_docs`; a change by hand is undone there. -->

Run one by `workspace/executeCommand`. `arguments` is empty, or holds one object of options, or one text that means the
option marked ¹. An option that is null counts as not given; 1, 0, "true" and "false" are taken as booleans.

Every result is one object with `"v": 1`; more members may stand beside those named. A standing is a reason why a memory
may no longer hold: `{code, message, successor}`, its code one of superseded, expired, extinct, conflicting, unverified,
archived.

A request that cannot be understood is answered with `InvalidParams` (-32602) and a sentence that names the option; a
recall that fails, with `RequestFailed` (-32803), a sentence, and `data` of `code` and `recoverable`. One that is
cancelled stops, leaves nothing behind and is answered with `RequestCancelled` (-32800); where it had left something
already, such as a recorded read, it is answered as if it had not been cancelled.

The project is that of `workspace` or `uri` where one is given, else the first workspace folder, else, with no folder
open, the server's working directory. While folders are open, a file outside them all is refused.

Initialization options, as they are here or in an object named `memoryRecall` or `memory-recall`:

| option | default | |
|---|---|---|
"""


def documentation() -> str:
    """The whole text."""
    settings = (f"| `{name}` | {setting.default} | {setting.about} |" for name, setting in SETTINGS.items())
    commands = (line for command in COMMANDS for line in _section(command))
    return _INTRODUCTION + "\n".join([*settings, "", *commands])


def _section(command: Command) -> Iterator[str]:
    yield from (f"## `{command.id}`", "", f"*{command.title}.* {command.about}", "")
    yield from ("| option | must be | default | |", "|---|---|---|---|")
    for name, field in options_of(command).items():
        mark = "¹" if name == command.positional else ""
        default = "required" if field.is_required() else "" if field.default is None else f"`{dumps(field.default)}`"
        yield f"| `{name}`{mark} | {expectation(field)} | {default} | {field.description} |"
    yield from ("", f"Returns {command.returns}", "")


if __name__ == "__main__":
    sys.stdout.write(documentation())
