"""The promises about speed, memory and growth, each beside what was measured.

A goal is judged on the medians of one run. What was not measured (another size, nothing to compare with) is neither
reached nor missed. Knows figures as `Figure.as_json` gives them, and no way of measuring.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.figures import Growth, growth

LARGE, MIDDLE = 100_000, 10_000
LINEAR = 1.05
"""The exponent up to which growth counts as linear: what is left is noise of the machine."""
FLAT = 0.1

Figures = Sequence[Mapping[str, Any]]


class Goal(NamedTuple):
    """One promise. `measured` and `limit` are in `unit`; `×` is a ratio, `n^` an exponent. None where not measured."""

    goal: str
    store: str
    limit: float
    unit: str
    measured: float | None

    @property
    def reached(self) -> bool | None:
        """Whether the limit is kept; None where nothing was measured."""
        return None if self.measured is None else self.measured <= self.limit

    def as_json(self) -> dict[str, Any]:
        """All of it, the measured value in four digits."""
        measured = None if self.measured is None else float(f"{self.measured:.4g}")
        return {**self._asdict(), "measured": measured, "reached": self.reached}


def find(figures: Figures, store: str, memories: int, name: str) -> Mapping[str, Any] | None:
    """The figure of that name at that store and size; None where there is none."""
    wanted = (store, memories, name)
    return next((one for one in figures if (one["store"], one["memories"], one["name"]) == wanted), None)


def median_of(figures: Figures, store: str, memories: int, name: str) -> float | None:
    """The median of a figure; None where there is none."""
    found = find(figures, store, memories, name)
    median: float | None = None if found is None else found["median"]
    return median


def ratio_of(figures: Figures, store: str, memories: int, name: str, floor: str) -> float | None:
    """The ratio of a figure to one of its floors; None where there is none."""
    found = find(figures, store, memories, name)
    ratio: float | None = None if found is None else found["ratios"].get(floor)
    return ratio


def tail_of(figures: Figures, store: str, memories: int, name: str) -> float | None:
    """The 99th percentile of a figure, the slowest where there are too few samples; None where there is no figure."""
    found = find(figures, store, memories, name)
    if found is None:
        return None
    tail: float = found["slowest"] if found["p99"] is None else found["p99"]
    return tail


def growth_of(figures: Figures, store: str, name: str) -> Growth | None:
    """How a figure's median grows with the size of its store."""
    return growth((one["memories"], one["median"]) for one in figures if one["store"] == store and one["name"] == name)


def goals(figures: Figures) -> list[dict[str, Any]]:
    """Every goal about speed, memory and growth."""
    return [goal.as_json() for goal in (*times(figures), *sizes(figures), *growths(figures))]


def times(figures: Figures) -> Iterator[Goal]:
    """Hovers, starts and recalls."""
    for store in ("nemp", "agent", "coven"):
        trip = ratio_of(figures, store, LARGE, "hover", "empty")
        yield Goal("hover round trip at 100k, to an empty pygls server", store, 1.5, "×", trip)
    for store in ("nemp", "agent", "coven"):
        ours = median_of(figures, store, MIDDLE, "first hover after spawn")
        empty = median_of(figures, store, MIDDLE, "empty server, first hover after spawn")
        more = None if ours is None or empty is None else ours - empty
        yield Goal("spawn to first hover at 10k, beyond an empty pygls server", store, 150, "ms", more)
    for name in ("nemp exact key", "nemp exact key, not recorded"):
        cold = ratio_of(figures, "nemp", MIDDLE, name, "node")
        yield Goal(f"cold {name}, 10k entries, to `node -e 0`", "nemp", 2.5, "×", cold)
    second = "memory recall, second run"
    cold = median_of(figures, "agent", LARGE, second)
    yield Goal("cold memory recall, 100k files, second run", "agent", 500, "ms", cold)
    cold = ratio_of(figures, "agent", LARGE, second, "read_all")
    yield Goal("cold memory recall, 100k files, second run, to reading them all", "agent", 0.3, "×", cold)
    for store in ("nemp", "agent"):
        for name in ("warm recall", "warm search"):
            half, tail = median_of(figures, store, LARGE, name), tail_of(figures, store, LARGE, name)
            yield Goal(f"{name} at 100k, p50", store, 10, "ms", half)
            yield Goal(f"{name} at 100k, p99", store, 30, "ms", tail)
    for store in ("nemp", "agent", "coven"):
        trip = ratio_of(figures, store, LARGE, "hover while recalls run", "empty")
        yield Goal("hover while recalls run at 100k, to an empty pygls server", store, 1.5, "×", trip)


def sizes(figures: Figures) -> Iterator[Goal]:
    """Memory of the server after hovers, recalls and changes."""
    for store in ("nemp", "agent", "coven"):
        moments = ("server after hovers, rss", "server after recalls, rss", "server after changes, rss")
        resident = [median_of(figures, store, LARGE, moment) for moment in moments]
        most = max((value for value in resident if value is not None), default=None)
        yield Goal("resident memory of the server at 100k", store, 300, "MB", most)


GROWING: Mapping[str, Sequence[str]] = {
    "nemp": ("warm recall", "nemp words, not recorded", "nemp words", "server after recalls, rss"),
    "agent": ("warm recall", "memory recall, second run", "server after recalls, rss"),
    "coven": ("warm recall", "coven recall", "server after recalls, rss"),
}


def growths(figures: Figures) -> Iterator[Goal]:
    """Hovers stay as they are; the rest grows no faster than its store between the two largest sizes."""
    for store, names in GROWING.items():
        for name in ("hover", *names):
            found = growth_of(figures, store, name) if find(figures, store, LARGE, name) else None
            limit = FLAT if name == "hover" else LINEAR
            slope = None if found is None else found.overall if name == "hover" else found.last
            yield Goal(f"growth of {name}", store, limit, "n^", slope)
