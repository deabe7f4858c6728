"""Which folder holds a note, which project is meant, and in whose spelling a file is answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_recall.environment import Place
from memory_recall.faces.lsp.folders import Folder, Folders


def folder(path: Path | str, name: str | None = None) -> Folder:
    opened = Folder.opened(path if isinstance(path, str) else path.as_uri(), name)
    assert opened is not None
    return opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "app" / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "lib").mkdir()
    return tmp_path


def test_the_innermost_folder_holds_a_note(root: Path) -> None:
    folders = Folders([folder(root / "app"), folder(root / "app" / "docs"), folder(root / "lib")])
    assert folders.place_of((root / "app/docs/deep/a.md").as_uri()) == Place(root / "app/docs/deep", root / "app/docs")
    assert folders.place_of((root / "app/a.md").as_uri()) == Place(root / "app", root / "app")


def test_a_folder_is_no_prefix_of_a_longer_name(root: Path) -> None:
    (root / "app-two").mkdir()
    folders = Folders([folder(root / "app")])
    assert folders.place_of((root / "app-two/a.md").as_uri()) == Place(root / "app-two")


def test_a_note_outside_every_folder_stands_alone(root: Path) -> None:
    folders = Folders([folder(root / "app")])
    assert folders.place_of((root / "lib/a.md").as_uri()) == Place(root / "lib")
    assert Folders().place_of((root / "lib/a.md").as_uri()) == Place(root / "lib")


def test_an_untitled_note_belongs_to_the_first_folder_or_to_none(root: Path) -> None:
    assert Folders([folder(root / "lib"), folder(root / "app")]).place_of("untitled:Untitled-1") == Place(
        root / "lib", root / "lib"
    )
    assert Folders().place_of("untitled:Untitled-1") is None


def test_a_directory_is_its_own_place(root: Path) -> None:
    folders = Folders([folder(root / "app")])
    assert folders.place_of((root / "app").as_uri()) == Place(root / "app", root / "app")
    assert folders.place_of((root / "app/docs").as_uri() + "/") == Place(root / "app/docs", root / "app")


def test_a_workspace_opened_through_a_link_answers_in_the_links_spelling(root: Path) -> None:
    (root / "link").symlink_to(root / "app")
    folders = Folders([folder(root / "link")])
    real = root / "app" / ".nemp" / "memories.json"
    assert folders.spelling_of(real) == f"{(root / 'link').as_uri()}/.nemp/memories.json"
    assert folders.place_of((root / "app/docs/a.md").as_uri()) == Place(root / "link/docs", root / "link")
    assert folders.place_of((root / "link/docs/a.md").as_uri()) == Place(root / "link/docs", root / "link")


def test_a_workspace_opened_by_its_real_path_holds_notes_named_through_a_link(root: Path) -> None:
    (root / "link").symlink_to(root / "app")
    folders = Folders([folder(root / "app")])
    assert folders.place_of((root / "link/docs/a.md").as_uri()) == Place(root / "app/docs", root / "app")


def test_files_are_spelt_under_the_clients_own_uri_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "my app").mkdir()
    spelt = f"{tmp_path.as_uri()}/my app/"
    folders = Folders([folder(spelt)])
    assert folders.spelling_of(tmp_path / "my app" / "a b#.md") == f"{tmp_path.as_uri()}/my app/a%20b%23.md"
    assert folders.spelling_of(tmp_path / "else.md") == (tmp_path / "else.md").as_uri()


def test_the_root_directory_can_be_a_folder(tmp_path: Path) -> None:
    folders = Folders([folder("file:///")])
    assert folders.spelling_of(tmp_path / "a.md") == (tmp_path / "a.md").as_uri()


def test_folders_come_and_go(root: Path) -> None:
    folders = Folders([folder(root / "app"), folder(root / "lib")])
    note = (root / "app" / "a.md").as_uri()
    assert folders.place_of_note(note) == Place(root / "app", root / "app")
    folders.change(added=[folder(root / "app" / "docs"), folder(root / "lib")], removed=[f"{(root / 'app').as_uri()}/"])
    assert [one.path for one in folders.all] == [root / "lib", root / "app" / "docs"]
    assert folders.place_of_note(note) == Place(root / "app")


def test_a_folder_is_named_by_uri_path_or_name(root: Path) -> None:
    app = folder(root / "app", "The App")
    folders = Folders([folder(root / "lib"), app])
    for name in ((root / "app").as_uri(), f"{(root / 'app').as_uri()}/", str(root / "app"), "The App"):
        assert folders.named(name) == app
    assert folders.named("app") is None
    assert folders.named(str(root / "nowhere")) is None


def test_a_folder_that_is_no_directory_of_this_machine_is_not_opened() -> None:
    assert Folder.opened("vscode-remote://ssh/w") is None
