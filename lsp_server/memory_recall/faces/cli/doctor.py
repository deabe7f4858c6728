"""The verb `doctor`: which stores are found, what is broken in them, what is missing. Looks, writes to no store."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from memory_recall.environment import Environment, Place
from memory_recall.faces.cli.invocation import Invocation, Parser
from memory_recall.faces.cli.shelves import shelf_of
from memory_recall.faces.present.pieces import counted, line, problems
from memory_recall.faces.present.terminal import Terminal
from memory_recall.faces.status import status

DEPENDENCIES = (
    "pygls",
    "lsprotocol",
    "pydantic",
    "PyYAML",
    "PyStemmer",
    "rapidfuzz",
    "termcolor",
    "filelock",
    "numpy",
)


def doctor(invocation: Invocation) -> int:
    """Say what this installation sees. Exit code 0 also where something is broken: the answer says what."""
    parser = Parser(
        "doctor",
        "What is installed, which stores are in sight with how many records, and what is broken. Writes to no store.",
        arguments="",
        example="memory-recall doctor --project ~/code/harbour",
    )
    parser.takes_project("the project whose stores are meant (default: the working directory)")
    parser.takes_cache()
    options = invocation.parse(parser)
    place, env = invocation.place(options), invocation.env
    seen = status(place, env, shelf_of(invocation, options))
    answer = {
        **seen,
        "versions": {**seen["versions"], **{name: _version(name) for name in DEPENDENCIES}},
        "python": sys.executable,
        "home": None if env.home is None else str(env.home),
        "stores": [{**store, "writable": _writable(store, place)} for store in seen["stores"]],
        "coven_memory": _coven_program(env),
    }
    return invocation.answer(options, answer, _text)


def _writable(store: Mapping[str, Any], place: Place) -> bool | None:
    """Whether what a recall leaves behind could be written: asked of the system, not tried. None: it leaves nothing."""
    if not store["exists"] or store["system"] == "coven":
        return None
    if store["system"] == "nemp":
        path = Path(store["path"])
        return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)
    agent = place.project / ".agent"
    kept = [agent / name for name in ("runs", "inbox")]
    return all(os.access(path if os.path.exists(path) else agent, os.W_OK | os.X_OK) for path in kept)  # noqa: PTH110 - raises nothing


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _coven_program(env: Environment) -> str | None:
    from memory_recall.errors import RecallError
    from memory_recall.recall.coven_binary import find_binary

    try:
        return str(find_binary(None, env))
    except RecallError:
        return None


def _text(answer: Mapping[str, Any], terminal: Terminal) -> str:
    versions = dict(answer["versions"])
    ours, python = versions.pop("memory_recall"), versions.pop("python")
    missing = [name for name, found in versions.items() if found is None]
    lines = [
        f"memory-recall {ours}, Python {python} ({terminal.path(answer['python'])})",
        terminal.warning(f"✗ not installed: {', '.join(missing)}; install memory-recall again with pip.")
        if missing
        else terminal.faint(", ".join(f"{name} {found}" for name, found in versions.items())),
        f"Home: {line(answer['home'] or 'none; set HOME, without it no global store and no Coven is found')}",
        f"Project: {line(answer['place']['folder'])}",
        "",
        *(_store(store, terminal) for store in answer["stores"]),
    ]
    program = answer["coven_memory"]
    lines.append(
        f"{terminal.good('✓')} coven-memory: {terminal.path(program)}"
        if program
        else terminal.faint("- coven-memory: not found; `coven recall` needs it (OpenCoven/coven, crates/coven-memory)")
    )
    lines.append(_index(answer["index"], terminal))
    return "\n".join([*lines, *problems(answer, terminal, limit=None)])


def _index(index: Mapping[str, Any], terminal: Terminal) -> str:
    if index["problem"] is not None:
        return terminal.warning(f"✗ index: {line(index['problem'])}")
    if index["bytes"] is None:
        where = "none is kept" if index["directory"] is None else "none yet; only large stores have one"
        return terminal.faint(f"- index: {where}")
    size, age = f"{index['bytes'] / 1e6:,.1f} MB", f"{index['age_seconds'] / 60:,.0f} minutes old"
    return f"{terminal.good('✓')} index: {size}, {age}, in {terminal.path(index['directory'])}"


def _store(store: Mapping[str, Any], terminal: Terminal) -> str:
    name = store["system"] if store["system"] == store["source"] else f"{store['system']} ({store['source']})"
    where = f" in {terminal.path(store['path'])}" if store["path"] else ""
    if not store["exists"]:
        return terminal.faint(f"- {name}: none{where}")
    unit = ("claim", "claims") if store["system"] == "coven" else ("memory", "memories")
    kept = terminal.warning("; not writable: recalls answer but are not recorded") if store["writable"] is False else ""
    found = counted(store["count"], *unit)
    if not store["readable"]:
        said = f"only {found} could be read" if store["count"] else "could not be read"
        return terminal.warning(f"✗ {name}: {said}{where}")
    return f"{terminal.good('✓')} {name}: {found}{where}{kept}"
