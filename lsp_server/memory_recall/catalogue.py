"""Everything that can be cited from one place: which references are known there, and what each says.

It stands between the stores and whoever shows a record (`show`, hover, definition): no ranking, no accounting. A
catalogue is made for one question and reads each store at most once for it, so that all parts of an answer agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from memory_recall.environment import Environment, Place
from memory_recall.model import SYSTEMS, Memory, Problem, System

if TYPE_CHECKING:
    from memory_recall.references import Reference
    from memory_recall.stores.agent import AgentEntry, AnyStore
    from memory_recall.stores.coven import CovenStore
    from memory_recall.stores.nemp import NempPlaces, NempStore
    from memory_recall.stores.shelf import Shelf

_CLAIM_SHAPE = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE)
_BRACKETED = re.compile(r"\[\[(.*)\]\]", re.DOTALL)
_SUGGESTED = 3


class Resolution(NamedTuple):
    """What a reference says.

    `memories` begins with the one that is meant; others have the same name (the global store's entry that a project's
    shadows, a duplicate). Empty `memories` is an honest "nothing": `suggestions` then holds references that come near.
    `unread` are those of the `problems` that say of a store that it could not be read: what is meant may stand there.
    """

    reference: str
    memories: tuple[Memory, ...]
    suggestions: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    unread: tuple[Problem, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The contract's `show` object: `{v, reference, records, suggestions, problems}`."""
        return {
            "v": 1,
            "reference": self.reference,
            "records": [record_as_json(memory) for memory in self.memories],
            "suggestions": list(self.suggestions),
            "problems": [problem.as_json() for problem in self.problems],
        }


def record_as_json(memory: Memory) -> dict[str, Any]:
    """One record as `show` returns it; `fields` is the record as its store holds it."""
    return {
        "system": memory.system,
        "id": memory.id,
        "title": memory.title,
        "text": memory.text,
        "tags": list(memory.tags),
        "standings": [standing.as_json() for standing in memory.standings],
        "provenance": memory.provenance.as_json(),
        "fields": dict(memory.fields),
    }


class Catalogue:
    """The memories that a note in `place` may cite. Implements `references.Known`."""

    def __init__(self, place: Place, environment: Environment, shelf: Shelf) -> None:
        self._place = place
        self._environment = environment
        self._shelf = shelf
        self._entries: dict[str, Sequence[AgentEntry]] = {}

    def has_key(self, key: str) -> bool:
        """Whether a nemp store that this place sees has that very key."""
        return any(store.by_key(key) for store in self._nemp)

    def has_memory(self, memory_id: str) -> bool:
        """Whether the project's `.agent/memory` has an entry of that id."""
        return bool(self._agent_memories(memory_id))

    def has_claim(self, ulid: str) -> bool:
        """Whether the Coven manifest has a line for that ULID."""
        return self._coven is not None and ulid in self._coven.ulids

    def resolve(self, reference: Reference | str) -> Resolution:
        """What a reference says, with its provenance. Reads stores, records nothing, starts no binary.

        Text may be bare (`auth-flow`, `MEM-014`, a ULID), carry its system (`nemp:auth-flow`) or stand in brackets.
        """
        system, target = _split(reference) if isinstance(reference, str) else (reference.system, reference.target)
        systems: tuple[System, ...] = (system,) if system else _systems_that_may_name(target)
        memories = tuple(memory for name in systems for memory in self._memories(name, target))
        suggestions = () if memories else self._suggestions(systems, target)
        unread = tuple(self._unread(systems))
        problems = dict.fromkeys((*unread, *self._problems(systems), *self._ambiguities(systems, target)))
        shown = reference if isinstance(reference, str) else f"{system}:{target}" if system else target
        return Resolution(shown, memories, suggestions, tuple(problems), unread)

    def _memories(self, system: System, target: str) -> Iterable[Memory]:
        if system == "nemp":
            return self._nemp_memories(target)
        if system == "memory":
            return self._agent_memories(target)
        return self._claims(target)

    def _nemp_memories(self, key: str) -> list[Memory]:
        from memory_recall.stores.nemp import as_memory

        return [as_memory(store, entry) for store in self._nemp for entry in store.by_key(key)]

    def _agent_memories(self, memory_id: str) -> list[Memory]:
        from memory_recall.stores import agent

        return [agent.as_memory(entry, self._environment.now()) for entry in self._agent_entries(memory_id)]

    def _agent_entries(self, memory_id: str) -> Sequence[AgentEntry]:
        """The entries of an id: those whose files have its name, or all of them where the store has to be read."""
        from memory_recall.stores import agent

        if memory_id not in self._entries:
            named = () if "_agent" in self.__dict__ else agent.named(self._place.project, memory_id)
            self._entries[memory_id] = named or self._agent.by_id(memory_id)
        return self._entries[memory_id]

    def _claims(self, ulid: str) -> list[Memory]:
        from memory_recall.stores.coven import as_memory, familiar_root

        if self._coven is None:
            return []
        claim = self._coven.claim(ulid.upper(), familiar_root(self._environment))
        return [] if claim is None else [as_memory(claim)]

    def _suggestions(self, systems: tuple[System, ...], target: str) -> tuple[str, ...]:
        from memory_recall.ranking.typos import closest

        names: list[str] = []
        if "nemp" in systems:
            names += [key for store in self._nemp for key in store.keys]
        if "memory" in systems:
            names += self._agent.memory_ids
        if "coven" in systems and self._coven is not None:
            names += self._coven.ulids
        return tuple(closest(target, names, limit=_SUGGESTED))

    def _problems(self, systems: tuple[System, ...]) -> Iterable[Problem]:
        """What is broken in the stores that were asked. Those that a fast path did not read are not read for this."""
        if "nemp" in systems:
            for store in self._nemp:
                yield from store.problems
        if "memory" in systems and "_agent" in self.__dict__:
            yield from self._agent.problems
        if "coven" in systems and self._coven is not None:
            yield from self._coven.problems

    def _unread(self, systems: tuple[System, ...]) -> Iterable[Problem]:
        """Of the stores that were asked, those that are there and could not be read."""
        if "nemp" in systems:
            for store in self._nemp:
                if not store.writable:
                    yield from store.problems
        if "memory" in systems and "_agent" in self.__dict__:
            yield from self._agent.unread
        if "coven" in systems and self._coven is not None and self._coven.unreadable is not None:
            yield self._coven.unreadable

    def _ambiguities(self, systems: tuple[System, ...], target: str) -> Iterable[Problem]:
        """That several entries of `.agent` have the id, which a fast path knows that did not read their store."""
        if "memory" not in systems:
            return ()
        from memory_recall.stores import agent

        return agent.duplicates(self._agent_entries(target))

    @cached_property
    def _places(self) -> NempPlaces:
        from memory_recall.stores.nemp import find_stores

        return find_stores(self._place, self._environment)

    @cached_property
    def _nemp(self) -> tuple[NempStore, ...]:
        places = self._places
        stores = []
        if places.project is not None:
            stores.append(self._shelf.nemp(places.project, "project"))
        if places.global_ is not None:
            stores.append(self._shelf.nemp(places.global_, "global"))
        return tuple(stores)

    @cached_property
    def _agent(self) -> AnyStore:
        return self._shelf.agent(self._place.project)

    @cached_property
    def _coven(self) -> CovenStore | None:
        home = self._environment.home
        return None if home is None else self._shelf.coven(home)


def _split(text: str) -> tuple[System | None, str]:
    bracketed = _BRACKETED.fullmatch(text.strip())
    inner = (bracketed.group(1) if bracketed else text).strip()
    for system in SYSTEMS:
        prefix = f"{system}:"
        if inner.startswith(prefix):
            return system, inner.removeprefix(prefix).strip()
    return None, inner


def _systems_that_may_name(target: str) -> tuple[System, ...]:
    """The systems whose names have the shape of the target: anything can be a nemp key, few things an id or a ULID."""
    systems: list[System] = ["nemp"]
    if target.upper().startswith("MEM-"):
        systems.append("memory")
    if _CLAIM_SHAPE.fullmatch(target):
        systems.append("coven")
    return tuple(systems)
