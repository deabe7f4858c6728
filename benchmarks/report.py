#!/usr/bin/env python3
"""What the speed benchmark found, for people: tables, the plot of growth, and their places in docs/.

    python -m benchmarks.report FILE [--docs] [--goals]

FILE is what `python -m benchmarks.scale --json FILE` wrote. In docs/benchmarks.md only what stands between the markers
`<!-- scale: begin -->` and `<!-- scale: end -->` is replaced.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import goals, plot
from benchmarks.cold import NODE, PYTHON, READ_ALL, STANDIN
from benchmarks.goals import Figures, find

BEGIN, END = "<!-- scale: begin -->", "<!-- scale: end -->"
STORES = ("nemp", "agent", "coven")
NAMES = {"nemp": "nemp", "agent": ".agent", "coven": "Coven"}

Cell = Callable[[Mapping[str, Any]], str]


def main() -> int:
    """Read a result and show it; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("file", type=Path, metavar="FILE", help="what the benchmark wrote with --json")
    parser.add_argument("--docs", action="store_true", help="write tables and plot into docs/")
    parser.add_argument("--goals", action="store_true", help="print the goals alone")
    options = parser.parse_args()
    result = json.loads(options.file.read_text(encoding="utf-8"))
    result["goals"] = goals.goals(result["figures"])
    if options.docs:
        write_docs(result, Path(__file__).resolve().parents[1] / "docs")
    print(goals_table(result["goals"]) if options.goals else as_text(result))
    return 0


def write_docs(result: Mapping[str, Any], docs: Path) -> None:
    """Put the tables between their markers in `benchmarks.md` and draw `growth.svg`. Raises `SystemExit`."""
    page = docs / "benchmarks.md"
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has no line {BEGIN} with {END} below it.")
    page.write_text(f"{before}{BEGIN}\n\n{as_text(result)}\n{END}{after}", encoding="utf-8")
    (docs / "growth.svg").write_text(as_plot(result), encoding="utf-8")


def as_text(result: Mapping[str, Any]) -> str:
    """Everything as Markdown that can be read as it stands."""
    figures = result["figures"]
    sections = [
        measured_on(result),
        "### Goals\n\n" + goals_table(result["goals"]),
        "### A terminal\n\nMilliseconds from the start of a process to its end, and how many times `node -e 0`.\n\n"
        + table(figures, COLD, milliseconds_to_node),
        "### An editor\n\nMilliseconds through one language server: median / 99th percentile. Under 100 samples their"
        " number stands in place of the percentile.\n\n" + table(figures, WARM, median_and_tail),
        "### Memory and disk\n\nResident memory of the server, and files, in MB of 10^6 bytes.\n\n"
        + table(figures, MEMORY, plain),
        "The most that a command in a terminal had resident, in MB.\n\n" + table(figures, COLD_MEMORY, plain),
        "### Growth\n\nThe exponent k where a figure grows as n^k: over all sizes, and between the two largest.\n\n"
        + growth_table(figures),
    ]
    if result["failed"]:
        sections.append("### Failed\n\n" + "\n".join(f"- {failure}" for failure in result["failed"]))
    return "\n\n".join(sections) + "\n"


def measured_on(result: Mapping[str, Any]) -> str:
    """What was measured, when, with what. `notes` are sentences that somebody put into the file afterwards."""
    node = f", Node {result['node']}" if result.get("node") else ", no Node"
    quick = " (quick: few samples)" if result["quick"] else ""
    measured = (
        f"Measured {result['at']}{quick} at revision {result['revision'] or 'unknown'}: {result['machine']},"
        f" Python {result['python']}{node}, in {result['seconds']} s."
    )
    return "\n\n".join((measured, *result.get("notes", ())))


# Which figure stands where: (title, store, name of the figure)

COLD = (
    ("`python -c pass`", "nemp", PYTHON),
    ("`node -e 0`", "nemp", NODE),
    ("nemp recall, exact key", "nemp", "nemp exact key"),
    ("… `--no-record`", "nemp", "nemp exact key, not recorded"),
    ("nemp recall, words", "nemp", "nemp words"),
    ("… `--no-record`", "nemp", "nemp words, not recorded"),
    ("… `--no-record`, empty cache", "nemp", "nemp words, not recorded, empty cache"),
    ("nemp recall, typo", "nemp", "nemp typo"),
    ("… `--no-record`", "nemp", "nemp typo, not recorded"),
    ("search, nemp store", "nemp", "search"),
    ("show, nemp store", "nemp", "show"),
    ("reading every `.agent` file in Python", "agent", READ_ALL),
    ("memory recall, empty cache", "agent", "memory recall, empty cache"),
    ("memory recall, second run", "agent", "memory recall, second run"),
    ("search, `.agent` store", "agent", "search"),
    ("show, `.agent` store", "agent", "show"),
    ("the stand-in for `coven-memory` alone", "coven", STANDIN),
    ("coven recall (with the stand-in)", "coven", "coven recall"),
    ("show, Coven store", "coven", "show"),
)
_WARM: tuple[tuple[str, str, Sequence[str]], ...] = (
    ("empty pygls server, hover beside", "empty server, hover", STORES),
    ("hover", "hover", STORES),
    ("empty pygls server, hover while recalls run beside", "empty server, hover while recalls run", STORES),
    ("hover while recalls run", "hover while recalls run", STORES),
    ("empty pygls server, spawn to first hover, beside", "empty server, first hover after spawn", STORES),
    ("spawn to first hover", "first hover after spawn", STORES),
    ("first recall after it, empty cache", "first recall after spawn, empty cache", STORES),
    ("first recall after it", "first recall after spawn", STORES),
    ("building the index: the one less the other", "index build", ("nemp", "agent")),
    ("warm recall", "warm recall", STORES),
    ("warm search", "warm search", ("nemp", "agent")),
    ("recorded recall by key", "recorded recall", ("nemp",)),
    ("hover after a recorded recall", "hover after a recorded recall", ("nemp",)),
    ("recall after a recorded recall", "recall after a recorded recall", ("nemp",)),
    ("hover after a change by others", "hover after a change", STORES),
    ("recall after a change by others", "recall after a change", STORES),
)
_MEMORY: tuple[tuple[str, str, Sequence[str]], ...] = (
    ("store on disk", "store on disk", STORES),
    ("cache on disk", "cache on disk", STORES),
    ("empty pygls server, beside", "empty server, rss", ("nemp",)),
    ("server after hovers", "server after hovers, rss", STORES),
    ("server after recalls", "server after recalls, rss", STORES),
    ("server after changes", "server after changes, rss", STORES),
    ("the most the server had", "server after changes, peak rss", STORES),
)
WARM, MEMORY = (
    tuple(
        (f"{title}, {NAMES[store]}".replace(" beside,", " beside"), store, name)
        for title, name, stores in rows
        for store in stores
    )
    for rows in (_WARM, _MEMORY)
)
COLD_MEMORY = (
    ("`python -c pass`", "nemp", f"{PYTHON}, rss"),
    ("`node -e 0`", "nemp", f"{NODE}, rss"),
    ("nemp recall, exact key", "nemp", "nemp exact key, rss"),
    ("nemp recall `--no-record`, words, empty cache", "nemp", "nemp words, not recorded, empty cache, rss"),
    ("nemp recall `--no-record`, words", "nemp", "nemp words, not recorded, rss"),
    ("memory recall, empty cache", "agent", "memory recall, empty cache, rss"),
    ("memory recall, second run", "agent", "memory recall, second run, rss"),
    ("coven recall", "coven", "coven recall, rss"),
)


def table(figures: Figures, rows: Sequence[tuple[str, str, str]], cell: Cell) -> str:
    """One column a size; rows of which nothing was measured are left out."""
    sizes = sorted({figure["memories"] for figure in figures})
    lines = [["", *(f"{size:,}" for size in sizes)]]
    for title, store, name in rows:
        found = [find(figures, store, size, name) for size in sizes]
        if any(figure is not None for figure in found):
            lines.append([title, *("" if figure is None else cell(figure) for figure in found)])
    return markdown(lines)


def milliseconds_to_node(figure: Mapping[str, Any]) -> str:
    """The median, and its ratio to Node's start."""
    ratio = figure["ratios"].get("node")
    return plot.figure(figure["median"]) + ("" if ratio is None else f" · {ratio:.1f} ×")


def median_and_tail(figure: Mapping[str, Any]) -> str:
    """The median and the 99th percentile, or how many samples there are."""
    tail = f"/ {plot.figure(figure['p99'])}" if figure["p99"] is not None else f"({figure['count']})"
    return f"{plot.figure(figure['median'])} {tail}"


def plain(figure: Mapping[str, Any]) -> str:
    """The median."""
    return plot.figure(figure["median"])


def goals_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Each goal with what was measured, and whether it is reached; how many are about what was not measured."""
    lines = [["goal", "store", "limit", "measured", ""]]
    judged = [row for row in rows if row["reached"] is not None]
    for row in judged:
        limit = "≤ " + in_unit(row["limit"], row["unit"])
        measured = in_unit(row["measured"], row["unit"])
        verdict = "reached" if row["reached"] else "**not reached**"
        lines.append([row["goal"], NAMES[row["store"]], limit, measured, verdict])
    unknown = len(rows) - len(judged)
    rest = f"{unknown} goals are about sizes or stores that were not measured." if unknown else ""
    return "\n\n".join(part for part in (markdown(lines) if judged else "", rest) if part)


def in_unit(value: float, unit: str) -> str:
    """A value as its unit is written: `1.5 ×`, `n^0.97`, `150 ms`."""
    return f"n^{value:.2f}" if unit == "n^" else f"{value:.2f} ×" if unit == "×" else f"{plot.figure(value)} {unit}"


def growth_rows(figures: Figures) -> list[dict[str, Any]]:
    """The exponents of every figure that was measured at two sizes or more."""
    rows = []
    for store, name in dict.fromkeys((figure["store"], figure["name"]) for figure in figures):
        found = goals.growth_of(figures, store, name)
        if found is not None:
            rows.append({"store": store, "name": name, **{key: round(k, 3) for key, k in found._asdict().items()}})
    return rows


def growth_table(figures: Figures) -> str:
    """The exponents of the figures that matter most."""
    lines = [["", "all sizes", "last step"]]
    for store in STORES:
        names = ("hover", "first hover after spawn", *goals.GROWING[store], "cache on disk")
        for name in names:
            found = goals.growth_of(figures, store, name)
            if found is not None:
                lines.append([f"{NAMES[store]}: {name}", f"{found.overall:.2f}", f"{found.last:.2f}"])
    return markdown(lines)


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table that is aligned as text too: the first column to the left, the others to the right."""
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(lines[0]))]

    def row(line: Sequence[str]) -> str:
        first, *others = zip(line, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        return "| " + " | ".join(cells) + " |"

    first, *others = widths
    rule = "|".join(["", "-" * (first + 2), *("-" * (width + 1) + ":" for width in others), ""])
    return "\n".join([row(lines[0]), rule, *(row(line) for line in lines[1:])])


def as_plot(result: Mapping[str, Any]) -> str:
    """The growth of what people wait for, and of memory, as SVG."""
    figures = result["figures"]

    def curves(names: Mapping[str, str]) -> dict[str, plot.Points]:
        return {
            NAMES[store]: [
                (figure["memories"], figure["median"])
                for figure in figures
                if (figure["store"], figure["name"]) == (store, name)
            ]
            for store, name in names.items()
        }

    hovers = curves(dict.fromkeys(STORES, "hover"))
    hovers["empty server"] = curves({"nemp": "empty server, hover"})["nemp"]
    cold = {"nemp": "nemp words, not recorded", "agent": "memory recall, second run", "coven": "coven recall"}
    memory = curves(dict.fromkeys(STORES, "server after recalls, rss"))
    memory["empty server"] = curves({"nemp": "empty server, rss"})["nemp"]
    return plot.draw(
        "What grows with the number of memories, and what does not",
        "Medians, both axes logarithmic. Coven with a stand-in for its program."
        " Dashed: goals at 100,000 (of Coven: memory alone).",
        [
            plot.Panel("A hover, round trip", "ms", hovers),
            plot.Panel("A recall through a running server", "ms", curves(dict.fromkeys(STORES, "warm recall")), 10),
            plot.Panel("A recall in a terminal, second run", "ms", curves(cold), 500),
            plot.Panel("Resident memory of the server after recalls", "MB", memory, 300),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
