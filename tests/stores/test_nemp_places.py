"""Where nemp stores are looked for: how far up, and whose folders count."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_recall.environment import Place
from memory_recall.stores import nemp_places
from memory_recall.stores.nemp_places import find_stores, no_store
from worlds import World


@pytest.fixture
def bare(tmp_path: Path, world: World) -> World:
    """A world whose project is no repository."""
    (world.project / ".git").rmdir()
    return world


def found(world: World, place: Place | None = None) -> tuple[str | None, str | None, str | None]:
    places = find_stores(place or world.place, world.env)
    root = world.home.parent
    return tuple(  # type: ignore[return-value]
        path.relative_to(root).as_posix() if path is not None else None
        for path in (places.project, places.global_, places.log)
    )


PROJECT_STORE, GLOBAL_STORE = "project/.nemp/memories.json", "home/.nemp/memories.json"
PROJECT_LOG, GLOBAL_LOG = "project/.nemp/access.log", "home/.nemp/access.log"


def test_the_nearest_store_above_is_the_projects(bare: World) -> None:
    bare.write(PROJECT_STORE, "{}")
    bare.write(GLOBAL_STORE, "{}")
    (bare.project / "a" / "b").mkdir(parents=True)
    assert found(bare, Place(bare.project / "a" / "b")) == (PROJECT_STORE, GLOBAL_STORE, PROJECT_LOG)
    bare.write("project/a/.nemp/memories.json", "{}")
    assert found(bare, Place(bare.project / "a" / "b"))[0] == "project/a/.nemp/memories.json"


def test_without_any_store_only_the_log_of_the_home_is_named(world: World) -> None:
    assert found(world) == (None, None, GLOBAL_LOG)


def test_without_a_project_store_reads_are_logged_in_the_home(world: World) -> None:
    world.write(GLOBAL_STORE, "{}")
    (world.project / ".nemp").mkdir()
    assert found(world) == (None, GLOBAL_STORE, GLOBAL_LOG)


@pytest.mark.parametrize("mark", [".git", ".hg", ".jj"])
@pytest.mark.parametrize("is_file", [True, False])
def test_a_repository_root_ends_the_search_and_takes_part_in_it(bare: World, mark: str, is_file: bool) -> None:
    bare.write(PROJECT_STORE, "{}")
    inner = bare.project / "inner"
    (inner / "deep").mkdir(parents=True)
    (inner / mark).write_text("gitdir: elsewhere") if is_file else (inner / mark).mkdir()
    assert found(bare, Place(inner / "deep"))[0] is None
    bare.write("project/inner/.nemp/memories.json", "{}")
    assert found(bare, Place(inner / "deep"))[0] == "project/inner/.nemp/memories.json"


def test_a_workspace_folder_ends_the_search_and_takes_part_in_it(bare: World) -> None:
    bare.write(PROJECT_STORE, "{}")
    (bare.project / "w" / "notes").mkdir(parents=True)
    place = Place(bare.project / "w" / "notes", bare.project / "w")
    assert found(bare, place)[0] is None
    assert found(bare, Place(place.folder, bare.project))[0] == PROJECT_STORE


def test_a_note_outside_its_workspace_asks_the_workspace_alone(bare: World) -> None:
    bare.write(PROJECT_STORE, "{}")
    bare.write("elsewhere/.nemp/memories.json", "{}")
    place = Place(bare.home.parent / "elsewhere" / "notes", bare.project)
    assert found(bare, place)[0] == PROJECT_STORE


def test_a_folder_that_does_not_exist_is_searched_like_any_other(bare: World) -> None:
    bare.write(PROJECT_STORE, "{}")
    assert found(bare, Place(bare.project / "new" / "note"))[0] == PROJECT_STORE


def test_the_home_is_never_a_project_nor_what_lies_above_it(world: World) -> None:
    world.write(GLOBAL_STORE, "{}")
    world.write(".nemp/memories.json", "{}")
    (world.home / "code" / "x").mkdir(parents=True)
    for folder in (world.home, world.home / "code" / "x", world.home / ".nemp"):
        assert found(world, Place(folder)) == (None, GLOBAL_STORE, GLOBAL_LOG)


def test_a_project_folder_that_is_the_homes_by_a_link_is_the_global_store(world: World) -> None:
    world.write(GLOBAL_STORE, "{}")
    (world.project / ".nemp").symlink_to(world.home / ".nemp")
    assert found(world) == (None, GLOBAL_STORE, GLOBAL_LOG)


@pytest.mark.parametrize("hard", [True, False])
def test_a_project_file_that_is_the_global_one_is_one_store(world: World, hard: bool) -> None:
    store = world.write(GLOBAL_STORE, "{}")
    (world.project / ".nemp").mkdir()
    linked = world.project / ".nemp" / "memories.json"
    linked.hardlink_to(store) if hard else linked.symlink_to(store)
    assert found(world) == (PROJECT_STORE, None, PROJECT_LOG)


def test_a_broken_store_is_still_the_projects(bare: World) -> None:
    bare.write(".nemp/memories.json", "{}")
    (bare.project / ".nemp").mkdir()
    (bare.project / ".nemp" / "memories.json").symlink_to("nowhere")
    assert found(bare)[0] == PROJECT_STORE


def test_where_no_file_can_be_there_is_no_store(world: World) -> None:
    world.write(PROJECT_STORE, "{}")
    assert found(world, Place(world.project / ("x" * 300)))[0] == PROJECT_STORE
    assert found(world, Place(world.project / ("x/" * 3_000)))[0] == PROJECT_STORE
    assert found(world, Place(world.project / "a\0b"))[0] == PROJECT_STORE


def test_without_a_home_there_is_no_global_store(world: World) -> None:
    homeless = replace(world, env=world.env._replace(home=None))
    assert found(homeless) == (None, None, None)
    world.write(PROJECT_STORE, "{}")
    assert found(homeless) == (PROJECT_STORE, None, PROJECT_LOG)


def test_a_place_without_any_store_says_where_it_looked(bare: World) -> None:
    inner = bare.project / "a" / "b"
    inner.mkdir(parents=True)
    (bare.project / ".git").mkdir()
    message = no_store(Place(inner), bare.env).message
    assert f"no .nemp/memories.json in {inner} or a folder above it, up to {bare.project}, " in message
    assert f"and no {bare.home}/.nemp/memories.json." in message
    assert no_store(Place(bare.home), bare.env).message.startswith(f"There is no nemp store here: no {bare.home}/.nemp")
    homeless = bare.env._replace(home=None)
    assert no_store(bare.place, homeless).message.startswith(
        f"There is no nemp store here: no .nemp/memories.json in {bare.project}. "
    )


# Stores that another user may have planted

MINE, THEIRS = 1000, 1001


@pytest.fixture
def owners(monkeypatch: pytest.MonkeyPatch) -> dict[Path, tuple[int, int]]:
    """Owner and permissions that folders are to have; those that are not named belong to MINE."""
    owned: dict[Path, tuple[int, int]] = {}
    look = os.stat

    def status(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        found = look(path, *arguments, **options)
        owner, mode = owned.get(Path(path), (MINE, 0o755)) if isinstance(path, str | Path) else (MINE, 0)
        return os.stat_result((stat.S_IFMT(found.st_mode) | mode, *found[1:4], owner, *found[5:]))

    monkeypatch.setattr(nemp_places.os, "stat", status)
    monkeypatch.setattr(nemp_places.os, "lstat", lambda path: status(path, follow_symlinks=False))
    return owned


def test_a_store_above_in_a_folder_of_another_user_is_not_the_projects(
    bare: World, owners: dict[Path, tuple[int, int]]
) -> None:
    bare.write(PROJECT_STORE, "{}")
    inner = bare.project / "x" / "y"
    inner.mkdir(parents=True)
    assert found(bare, Place(inner))[0] == PROJECT_STORE
    owners[bare.project] = (THEIRS, 0o777)
    assert found(bare, Place(inner))[0] is None
    assert str(bare.project) + "," not in no_store(Place(inner), bare.env).message
    owners[bare.project] = owners[bare.project / "x"] = owners[inner] = (THEIRS, 0o755)
    assert found(bare, Place(inner))[0] == PROJECT_STORE
    assert found(bare, Place(bare.project / "new" / "folder"))[0] == PROJECT_STORE


def test_a_store_in_the_very_folder_and_in_a_workspace_is_whoever_put_it_there(
    bare: World, owners: dict[Path, tuple[int, int]]
) -> None:
    bare.write(PROJECT_STORE, "{}")
    (bare.project / "x").mkdir()
    owners[bare.project / ".nemp"] = (THEIRS, 0o755)
    owners[bare.project] = (MINE, 0o777)
    assert found(bare)[0] == PROJECT_STORE
    owners[bare.project] = (THEIRS, 0o777)
    assert found(bare, Place(bare.project / "x", bare.project))[0] == PROJECT_STORE


def test_a_planted_store_where_everybody_may_write_is_passed_over(
    bare: World, owners: dict[Path, tuple[int, int]]
) -> None:
    bare.write(PROJECT_STORE, "{}")
    (bare.project / "x").mkdir()
    owners[bare.project / ".nemp"] = (THEIRS, 0o755)
    assert found(bare, Place(bare.project / "x"))[0] == PROJECT_STORE
    owners[bare.project] = (MINE, 0o1777)
    assert found(bare, Place(bare.project / "x"))[0] is None
    owners[bare.project / ".nemp"] = (MINE, 0o755)
    assert found(bare, Place(bare.project / "x"))[0] == PROJECT_STORE


def test_a_planted_link_to_a_store_of_ones_own_is_passed_over(
    bare: World, owners: dict[Path, tuple[int, int]], tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere" / ".nemp"
    elsewhere.mkdir(parents=True)
    (elsewhere / "memories.json").write_text("{}")
    (bare.project / ".nemp").symlink_to(elsewhere)
    (bare.project / "x").mkdir()
    owners[bare.project] = (MINE, 0o1777)
    owners[bare.project / ".nemp"] = (THEIRS, 0o777)
    assert found(bare, Place(bare.project / "x"))[0] is None
