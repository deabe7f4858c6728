"""Memory entries for tests of the `.agent` system, written into a world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from worlds import World

LEFT_OUT = object()
"""The value of a member that the entry is to lack."""


def write_entry(world: World, memory_id: str, type_: str = "semantic", /, **members: Any) -> Path:
    """A complete entry with other members, or without those that are `LEFT_OUT`."""
    record = {
        "schema_version": 1,
        "memory_id": memory_id,
        "type": type_,
        "title": f"Title of {memory_id}",
        "content": "Payment webhooks are retried five times.",
        "tags": ["payments"],
        "source_run_id": "R-distill-1",
        "scope": "project",
        "expires_at": None,
        "pinned": False,
        "confidence": 0.8,
        "created_at": "2026-08-02T00:00:00.000Z",
        "updated_at": None,
        **members,
    }
    kept = {name: value for name, value in record.items() if value is not LEFT_OUT}
    return world.write(f"project/.agent/memory/{type_}/{memory_id}.json", kept)


def tree_of(directory: Path) -> dict[str, tuple[bytes, int, int]]:
    """Everything under a directory: bytes, mode and modification time of each file, to compare before and after."""
    found = {}
    for path in sorted(directory.rglob("*")):
        status = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(directory))] = (data, status.st_mode, status.st_mtime_ns)
    return found
