"""The report of search quality for people: tables for a terminal, and the same in Markdown.

Owns words and columns. Knows the report's JSON form (quality.py) and nothing of how it came about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MEASURES = {
    "recall_5": "R@5",
    "recall_10": "R@10",
    "ndcg_10": "nDCG@10",
    "first": "first",
    "silent": "silent",
    "lost": "lost",
    "in_order": "in order",
}
"""The columns, in percent; what each means stands in quality_figures.py."""


def as_table(report: Mapping[str, Any]) -> str:
    """The report for a terminal."""
    return "\n\n".join(
        "\n".join([title, *_padded(rows)] if rows else [title]) for title, rows in _sections(report, markdown=False)
    )


def as_markdown(report: Mapping[str, Any]) -> str:
    """The report for docs/."""
    return "\n\n".join("\n".join([title, "", *_piped(rows)] if rows else [title]) for title, rows in _sections(report))


def _sections(report: Mapping[str, Any], *, markdown: bool = True) -> list[tuple[str, list[list[str]]]]:
    found: list[tuple[str, list[list[str]]]] = []
    strong = "**" if markdown else ""
    for collection in report["collections"]:
        subjects = collection["subjects"]
        size = f"{_count(collection['stores'], 'store')}, {_count(collection['memories'], 'memory')}"
        half = "" if collection["split"] == "all" else f", {collection['split']} half"
        questions = _count(subjects[0]["queries"], "question")
        found.append((f"{strong}{collection['name']}{strong} ({size}, {questions}{half})", _overall(subjects)))
        if len(subjects[0]["kinds"]) > 1 and "silent" in subjects[0]:
            found.append((f"{strong}{collection['name']}{strong}, by kind of question", _kinds(subjects)))
    if report["skipped"]:
        found.append(("\n".join(f"skipped: {reason}" for reason in report["skipped"]), []))
    return found


def _overall(subjects: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    shown = [name for name in MEASURES if any(name in subject for subject in subjects)]
    compared = len(subjects) > 1
    rows = [["", *(MEASURES[name] for name in shown), "median ms", *(["R@5 against ours"] if compared else [])]]
    for subject in subjects:
        distance = subject.get("ours_better_by", {}).get("recall_5")
        rows.append(
            [
                subject["name"],
                *(_estimate(subject.get(name)) for name in shown),
                f"{subject['median_ms']:.2f}",
                *([_distance(distance)] if compared else []),
            ]
        )
    return rows


def _kinds(subjects: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    ours, *others = subjects
    shown = [name for name in MEASURES if any(name in kind for kind in ours["kinds"].values())]
    best = others[0] if others else None
    rows = [
        ["", "questions", *(MEASURES[name] for name in shown), *([f"{best['name']}: R@5 or silent"] if best else [])]
    ]
    for kind, figures in ours["kinds"].items():
        row = [kind, str(figures["queries"]), *(_plain(figures.get(name)) for name in shown)]
        if best:
            theirs = best["kinds"][kind]
            row.append(_plain(theirs.get("recall_5", theirs.get("silent"))))
        rows.append(row)
    return rows


def _estimate(value: Mapping[str, float] | None) -> str:
    return "" if value is None else f"{value['mean']:.1f} ({value['low']:.1f}–{value['high']:.1f})"


def _distance(value: Mapping[str, float] | None) -> str:
    return "" if value is None else f"{-value['mean']:+.1f} ({-value['high']:+.1f} to {-value['low']:+.1f})"


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _count(number: int, noun: str) -> str:
    plural = {"memory": "memories"}.get(noun, f"{noun}s")
    return f"{number:,} {noun if number == 1 else plural}"


def _padded(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if number == 0 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _piped(rows: Sequence[Sequence[str]]) -> list[str]:
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    rule = "|".join(["", "---", *("---:" for _ in rows[0][1:]), ""])
    return [head, rule, *body]
