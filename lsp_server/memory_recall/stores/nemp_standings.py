"""Whether a nemp memory still holds, and if not, why: what replaced it, what contradicts it, that nobody uses it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memory_recall.model import Standing
from memory_recall.stores.nemp_entry import NempEntry


def successors_in(entries: Iterable[NempEntry]) -> Mapping[str, Sequence[str]]:
    """The keys that `links.supersedes` of some of these memories names, each with the keys of those that name it."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        for older in _linked(entry, "supersedes"):
            newer = found.setdefault(older, [])
            if entry.key != older and entry.key not in newer:
                newer.append(entry.key)
    return found


def successors_of(entry: NempEntry, succeeding: Mapping[str, Sequence[str]]) -> list[str]:
    """The keys of what superseded a memory: as it says itself, and as others say."""
    return list(dict.fromkeys((*_linked(entry, "superseded_by"), *succeeding.get(entry.key, ()))))


def standings_of(entry: NempEntry, succeeding: Mapping[str, Sequence[str]]) -> tuple[Standing, ...]:
    """Why a memory may no longer hold: by its own links and vitality, and by what others say that they supersede."""
    standings = []
    successors = successors_of(entry, succeeding)
    if successors:
        message = f"It is superseded by {_quoted(successors)}."
        standings.append(Standing("superseded", message, successors[0]))
    conflicts = _linked(entry, "conflicts")
    if conflicts:
        standings.append(Standing("conflicting", f"It conflicts with {_quoted(conflicts)}."))
    if isinstance(entry.vitality, dict) and entry.vitality.get("state") == "extinct":
        standings.append(Standing("extinct", "Its vitality has run out (extinct): nobody has used it for long."))
    return tuple(standings)


def _linked(entry: NempEntry, name: str) -> list[str]:
    written = entry.links.get(name) if isinstance(entry.links, dict) else None
    listed = written if isinstance(written, list) else [written]
    return [name for name in listed if isinstance(name, str) and name]


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
