"""What a measurement is: a name, a store and its size, the samples, and what they say. Statistics, no measuring."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Unit = Literal["ms", "MB"]


@dataclass(frozen=True)
class Figure:
    """Samples of one thing, at one store of one size. MB are 10^6 bytes.

    `floors` are the medians of what was measured beside it in the same rounds, to form ratios with: `node`, `python`,
    `empty` (the empty pygls server), `read_all`, `standin`.
    """

    name: str
    store: str
    memories: int
    unit: Unit
    samples: Sequence[float]
    floors: Mapping[str, float]

    @property
    def median(self) -> float:
        """The middle of the samples."""
        return statistics.median(self.samples)

    def as_json(self) -> dict[str, Any]:
        """The samples as what they say: `p99` is None under 100 samples, where it would be the slowest alone."""
        return {
            "name": self.name,
            "store": self.store,
            "memories": self.memories,
            "unit": self.unit,
            "count": len(self.samples),
            "median": round(self.median, 3),
            "p99": round(percentile(self.samples, 99), 3) if len(self.samples) >= 100 else None,
            "fastest": round(min(self.samples), 3),
            "slowest": round(max(self.samples), 3),
            "ratios": {floor: round(self.median / value, 3) for floor, value in self.floors.items() if value},
        }


def percentile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that so many percent of all samples do not exceed (nearest rank)."""
    ordered = sorted(samples)
    return ordered[max(0, math.ceil(share / 100 * len(ordered)) - 1)]


class Growth(NamedTuple):
    """How a figure grows with the number of memories n, as the exponent k of n^k.

    `overall` is the slope of the least-squares line through all sizes in logarithms; `last` is the slope between the
    two largest sizes, where what is constant weighs least.
    """

    overall: float
    last: float


def growth(points: Iterable[tuple[int, float]]) -> Growth | None:
    """The growth along points of (memories, value); None where there are not two different sizes with a value."""
    logs = sorted((math.log(memories), math.log(value)) for memories, value in points if memories > 0 and value > 0)
    if len({x for x, _ in logs}) < 2:
        return None
    overall = statistics.linear_regression([x for x, _ in logs], [y for _, y in logs]).slope
    (x1, y1), (x2, y2) = logs[-2:]
    return Growth(overall, (y2 - y1) / (x2 - x1))
