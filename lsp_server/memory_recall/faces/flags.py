"""Yes and no as clients write them: Vimscript has 1 and 0, some configurations only texts."""

from __future__ import annotations

from typing import Any


def flag(value: Any) -> Any:
    """True or false for 1, 0, "true" and "false"; anything else as it is, for whoever judges it."""
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    return bool(value) if type(value) in (int, float) and value in (0, 1) else value
