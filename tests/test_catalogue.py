"""What a citation says: every record of that name, and that there are several."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_entries import write_entry
from memory_recall.catalogue import Catalogue, Resolution
from memory_recall.stores import agent
from memory_recall.stores.shelf import Shelf
from worlds import World


def resolve(world: World, reference: str) -> Resolution:
    return Catalogue(world.place, world.env, Shelf()).resolve(reference)


def paths(resolution: Resolution) -> list[Path]:
    return [memory.provenance.path for memory in resolution.memories]


def test_entries_of_one_id_in_several_types_are_all_shown_without_reading_the_store(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = write_entry(world, "MEM-dup", "episodic"), write_entry(world, "MEM-dup", "semantic")
    monkeypatch.setattr(agent, "read_store", None)
    resolution = resolve(world, "MEM-dup")
    assert paths(resolution) == [first, second]
    assert [(problem.code, problem.path) for problem in resolution.problems] == [
        ("duplicate-id", str(first)),
        ("duplicate-id", str(second)),
    ]


def test_entries_whose_files_are_named_otherwise_are_found_too(world: World) -> None:
    first = write_entry(world, "MEM-a", memory_id="MEM-x")
    second = write_entry(world, "MEM-b", memory_id="MEM-x")
    resolution = resolve(world, "[[memory:MEM-x]]")
    assert paths(resolution) == [first, second]
    assert len(resolution.problems) == 2, "told once, though both the store and the answer know of it"


def test_one_file_under_two_names_is_one_record(world: World) -> None:
    path = write_entry(world, "MEM-x")
    (world.project / ".agent/memory/episodic").mkdir()
    (world.project / ".agent/memory/episodic/MEM-x.json").symlink_to(path)
    resolution = resolve(world, "MEM-x")
    assert (paths(resolution), resolution.problems) == ([path], ())


def test_a_citation_of_nothing_has_the_problems_of_the_store(world: World) -> None:
    world.write("project/.agent/memory", "a file")
    resolution = resolve(world, "MEM-1")
    assert resolution.memories == ()
    assert ["is not a directory" in problem.message for problem in resolution.problems] == [True]


def test_a_citation_is_known_by_any_record(world: World) -> None:
    write_entry(world, "MEM-1", "procedural")
    catalogue = Catalogue(world.place, world.env, Shelf())
    assert catalogue.has_memory("MEM-1")
    assert not catalogue.has_memory("MEM-2")
