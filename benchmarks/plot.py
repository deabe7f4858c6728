"""Curves against the number of memories, both axes logarithmic, as SVG text. Knows numbers and names, no measurement.

Plain text and not a plotting library: the file is small, the same on every machine, and readable in a diff.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

Points = Sequence[tuple[int, float]]

COLOURS = ("#1764ab", "#c2410c", "#15803d", "#6b7280")
INK, FAINT, GRID = "#1f2937", "#6b7280", "#e5e7eb"
FONT = "font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\""

_WIDTH, _HEIGHT = 490, 310
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 126, 50, 54
_COLUMNS = 2
_HEAD = 58
_LABEL_GAP = 14
_SLACK = 1.25


class Panel(NamedTuple):
    """One plot: curves by name, what their values are in, and where there is one the value that is to be reached."""

    title: str
    unit: str
    curves: Mapping[str, Points]
    goal: float | None = None


def draw(title: str, subtitle: str, panels: Sequence[Panel]) -> str:
    """All panels on one sheet, two beside each other. The same name has the same colour everywhere."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    colours = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(names)}
    rows = math.ceil(len(panels) / _COLUMNS)
    width, height = _WIDTH * _COLUMNS + 10, _HEAD + _HEIGHT * rows + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" aria-label="{escape(title)}" {FONT}>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        words(20, 28, title, size=17, weight=600),
        words(20, 48, subtitle, size=12, colour=FAINT),
    ]
    for number, panel in enumerate(panels):
        x, y = _WIDTH * (number % _COLUMNS), _HEAD + _HEIGHT * (number // _COLUMNS)
        parts.append(f'<g transform="translate({x} {y})">')
        parts += panel_parts(panel, colours)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


class Scales(NamedTuple):
    """From values to places in a panel. Bounds are powers of ten, or near them."""

    least_x: float
    most_x: float
    least_y: float
    most_y: float

    def x(self, value: float) -> float:
        """Pixels from the left."""
        share = (math.log10(value) - self.least_x) / (self.most_x - self.least_x)
        return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        """Pixels from the top."""
        share = (math.log10(value) - self.least_y) / (self.most_y - self.least_y)
        return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)


def scales_of(panel: Panel) -> Scales:
    """Bounds that hold every point and the goal, with whole decades on the vertical axis."""
    points = [point for curve in panel.curves.values() for point in curve]
    values = [value for _, value in points] + ([panel.goal] if panel.goal else [])
    sizes = [math.log10(memories) for memories, _ in points]
    least, most = math.floor(math.log10(min(values) / _SLACK)), math.ceil(math.log10(max(values) * _SLACK))
    return Scales(min(sizes), max(*sizes, min(sizes) + 1), least, max(most, least + 1))


def panel_parts(panel: Panel, colours: Mapping[str, str]) -> Iterator[str]:
    """Title, axes, goal, curves and their names."""
    yield words(20, 30, f"{panel.title}, {panel.unit}", size=14, weight=600)
    if not any(panel.curves.values()):
        yield words(20, 60, "not measured", size=12, colour=FAINT)
        return
    scales = scales_of(panel)
    right = _WIDTH - _RIGHT
    for power in range(round(scales.least_y), round(scales.most_y) + 1):
        y = scales.y(10.0**power)
        yield f'<line x1="{_LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="{GRID}"/>'
        yield words(_LEFT - 8, y + 4, f"{10.0**power:,.6g}", size=11, colour=FAINT, anchor="end")
    for memories in sorted({memories for curve in panel.curves.values() for memories, _ in curve}):
        x = scales.x(memories)
        yield f'<line x1="{x}" y1="{_HEIGHT - _BOTTOM}" x2="{x}" y2="{_HEIGHT - _BOTTOM + 5}" stroke="{FAINT}"/>'
        yield words(x, _HEIGHT - _BOTTOM + 19, f"{memories:,}", size=11, colour=FAINT, anchor="middle")
    middle = (_LEFT + right) / 2
    yield words(middle, _HEIGHT - _BOTTOM + 37, "memories in the store", size=11, colour=FAINT, anchor="middle")
    if panel.goal:
        y = scales.y(panel.goal)
        yield f'<line x1="{_LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="{INK}" stroke-dasharray="5 4"/>'
    yield from curve_parts(panel, scales, colours)


def curve_parts(panel: Panel, scales: Scales, colours: Mapping[str, str]) -> Iterator[str]:
    """The curves with their points, and at the right end their names, moved apart where they would touch."""
    right = _WIDTH - _RIGHT
    ends = []
    for name, curve in panel.curves.items():
        if not curve:
            continue
        ordered = sorted(curve)
        path = " ".join(f"{scales.x(memories)},{scales.y(value)}" for memories, value in ordered)
        yield f'<polyline points="{path}" fill="none" stroke="{colours[name]}" stroke-width="2"/>'
        for memories, value in ordered:
            yield f'<circle cx="{scales.x(memories)}" cy="{scales.y(value)}" r="3" fill="{colours[name]}"/>'
        ends.append((scales.y(ordered[-1][1]), f"{name} {figure(ordered[-1][1])}", colours[name]))
    if panel.goal:
        ends.append((scales.y(panel.goal), f"goal {figure(panel.goal)}", INK))
    for place, (end, label, colour) in zip(apart([end for end, _, _ in sorted(ends)]), sorted(ends), strict=True):
        if abs(place - end) > 1:
            line = f'x1="{right + 4}" y1="{end}" x2="{right + 12}" y2="{place}"'
            yield f'<line {line} stroke="{colour}" stroke-width="0.7"/>'
        yield words(right + 14, place + 4, label, size=11, colour=colour)


def apart(places: Sequence[float]) -> list[float]:
    """The same places in the same order, none nearer to the next than a line of text, moved as little as can be."""
    groups: list[list[float]] = []
    for place in places:
        groups.append([place])
        while len(groups) > 1 and start_of(groups[-1]) < start_of(groups[-2]) + _LABEL_GAP * len(groups[-2]):
            last = groups.pop()
            groups[-1] += last
    return [round(start_of(group) + _LABEL_GAP * number, 1) for group in groups for number in range(len(group))]


def start_of(group: Sequence[float]) -> float:
    """Where the first of a group stands, so that all of them are about where they would be."""
    return sum(group) / len(group) - _LABEL_GAP * (len(group) - 1) / 2


def figure(value: float) -> str:
    """A value to three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def words(
    x: float, y: float, text: str, *, size: int, colour: str = INK, weight: int = 400, anchor: str = "start"
) -> str:
    """A line of text."""
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" fill="{colour}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )
