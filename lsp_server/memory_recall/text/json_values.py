"""JSON out of values that came from anywhere: always valid JSON, always encodable as UTF-8."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def dumps(value: Any, *, indent: int | str | None = None) -> str:
    """JSON text with characters as they are, whatever the value holds.

    A number that JSON cannot say (infinity, not-a-number) becomes null; a lone surrogate stays an escape.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, indent=indent, allow_nan=False)
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def as_text(value: Any) -> str:
    """A memory's value as text: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else dumps(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
