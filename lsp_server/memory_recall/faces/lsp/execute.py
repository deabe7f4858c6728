"""`workspace/executeCommand`: from a client's id and arguments to the table of commands, in a thread, cancellable."""

from __future__ import annotations

from typing import Any

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Place
from memory_recall.errors import UsageError
from memory_recall.faces.commands import COMMANDS, Command, Surroundings, find
from memory_recall.faces.lsp.session import Session
from memory_recall.faces.lsp.settings import Settings
from memory_recall.faces.lsp.uris import EXAMPLE, path_of, scheme_of
from memory_recall.faces.lsp.work import Lane
from memory_recall.text.untrusted import for_log

_SHOWN = 80


def prefix_of(settings: Settings) -> str:
    """What stands before each id: the prefix and a dot, or the prefix alone where it ends in a sign of its own."""
    prefix = settings.command_prefix
    return f"{prefix}." if prefix and prefix[-1].isalnum() else prefix


def advertised(settings: Settings) -> list[str]:
    """The ids that the client is told."""
    if not settings.advertise_commands:
        return []
    return [f"{prefix_of(settings)}{command.id}" for command in COMMANDS]


async def execute(session: Session, params: object) -> dict[str, Any]:
    """Run one command. Raises `UsageError` for a request that names none or misuses it, else what the command raises.

    `params` is the request's JSON as it came: an argument is data, whatever its members are called.
    """
    command = _named(session, params.get("command") if isinstance(params, dict) else None)
    arguments = params.get("arguments") if isinstance(params, dict) else None
    if arguments is not None and not isinstance(arguments, list):
        raise UsageError(f"The arguments of {command.id} must be a list.")

    # In a thread, for the first parsing loads pydantic.
    options = await session.workers.run(lambda _: command.parse(arguments), Lane.COMMAND)

    def work(cancellation: Cancellation) -> dict[str, Any]:
        surroundings = Surroundings(
            place=_place(session, command, options.uri, options.workspace),
            environment=session.environment,
            shelf=session.shelf,
            cancellation=cancellation,
            agent=session.settings.agent_name or None,
        )
        return command.execute(options, surroundings)

    lane = (
        Lane.PROCESS if command.starts_process(options) else Lane.RECORD if command.records(options) else Lane.COMMAND
    )
    return await session.workers.see_through(work, lane)


def _named(session: Session, name: object) -> Command:
    prefix = prefix_of(session.settings)
    if isinstance(name, str) and name.startswith(prefix):
        command = find(name.removeprefix(prefix))
        if command is not None:
            return command
    shown = f"{for_log(name)[:_SHOWN]!r} is" if isinstance(name, str) else "What was named is"
    known = ", ".join(f"{prefix}{command.id}" for command in COMMANDS)
    raise UsageError(f"{shown} not a command of this server; it knows {known}.")


def _place(session: Session, command: Command, uri: str | None, workspace: str | None) -> Place:
    """The project a command is about: the named one, else the first folder, else the server's working directory.

    While folders are open, they are all that a client can mean by a file.
    """
    known = ", ".join(for_log(folder.name) for folder in session.folders.all) or "none is open"
    if workspace is not None:
        folder = session.folders.named(workspace)
        if folder is not None:
            return Place(folder.path, folder.path)
        raise UsageError(f"`workspace` of {command.id} must be the URI, path or name of an open folder ({known}).")
    if uri is not None:
        path = path_of(uri)
        if scheme_of(uri) is None or (scheme_of(uri) == "file" and path is None):
            raise UsageError(f"`uri` of {command.id} must be a URI such as {EXAMPLE}.")
        if path is not None and session.folders.all and session.folders.holding(path) is None:
            raise UsageError(f"`uri` of {command.id} must be in an open folder ({known}).")
        return session.place_of(uri)
    first = session.folders.first
    return Place(first.path, first.path) if first is not None else Place(session.environment.cwd)
