"""The arithmetic of the speed benchmark, and what it says in words, without measuring anything."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks import goals, plot, report
from benchmarks.figures import Figure, growth, percentile


def figure(name: str, store: str, memories: int, median: float, **ratios: float) -> dict[str, Any]:
    floors = {floor: median / ratio for floor, ratio in ratios.items()}
    unit = "MB" if name.endswith("rss") else "ms"
    return Figure(name, store, memories, unit, [median] * 3, floors).as_json()  # type: ignore[arg-type]


def test_a_percentile_is_a_sample_and_never_between_two() -> None:
    samples = list(range(1, 201))
    assert percentile(samples, 99) == 198
    assert percentile(samples, 100) == 200
    assert percentile([7.0], 99) == 7.0


def test_a_figure_with_few_samples_claims_no_percentile() -> None:
    assert Figure("hover", "nemp", 10, "ms", [1.0] * 99, {}).as_json()["p99"] is None
    assert Figure("hover", "nemp", 10, "ms", [1.0] * 100, {}).as_json()["p99"] == 1.0


def test_a_ratio_is_of_medians_and_a_missing_floor_has_none() -> None:
    ratios = Figure("show", "nemp", 10, "ms", [10, 20, 90], {"node": 10, "python": 0}).as_json()["ratios"]
    assert ratios == {"node": 2.0}


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
def test_growth_is_the_exponent(exponent: float) -> None:
    found = growth((memories, 3.0 * memories**exponent) for memories in (10, 1_000, 10_000, 100_000))
    assert found is not None
    assert found.overall == pytest.approx(exponent)
    assert found.last == pytest.approx(exponent)


def test_growth_of_a_constant_and_a_linear_part_shows_in_the_last_step() -> None:
    found = growth((memories, 100 + memories) for memories in (10, 1_000, 10_000, 100_000))
    assert found is not None
    assert found.overall < 0.8
    assert 0.99 < found.last < 1.0


def test_there_is_no_growth_in_one_size() -> None:
    assert growth([(10, 1.0)]) is None
    assert growth([(10, 1.0), (10, 2.0)]) is None


def test_a_goal_is_reached_missed_or_not_measured() -> None:
    found = goals.goals(
        [
            figure("hover", "nemp", 100_000, 0.6, empty=1.2),
            figure("hover", "agent", 100_000, 0.6, empty=1.6),
            figure("memory recall, second run", "agent", 100_000, 600, read_all=0.2),
        ]
    )
    verdicts = {(row["goal"], row["store"]): row["reached"] for row in found}
    assert verdicts["hover round trip at 100k, to an empty pygls server", "nemp"] is True
    assert verdicts["hover round trip at 100k, to an empty pygls server", "agent"] is False
    assert verdicts["hover round trip at 100k, to an empty pygls server", "coven"] is None
    assert verdicts["cold memory recall, 100k files, second run", "agent"] is False
    assert verdicts["cold memory recall, 100k files, second run, to reading them all", "agent"] is True


def test_growth_at_small_sizes_reaches_no_goal() -> None:
    small = [figure("hover", "nemp", memories, 1.0) for memories in (10, 1_000)]
    large = [figure("hover", "nemp", memories, 1.0) for memories in (10, 100_000)]
    for figures, reached in ((small, None), (large, True)):
        rows = {(row["goal"], row["store"]): row["reached"] for row in goals.goals(figures)}
        assert rows["growth of hover", "nemp"] is reached


def test_a_tail_of_few_samples_is_judged_by_the_slowest() -> None:
    one = Figure("warm recall", "nemp", 100_000, "ms", [1.0, 2.0, 99.0], {}).as_json()
    rows = {row["goal"]: row for row in goals.goals([one]) if row["store"] == "nemp"}
    assert rows["warm recall at 100k, p50"]["reached"] is True
    assert rows["warm recall at 100k, p99"]["measured"] == 99.0


RESULT: dict[str, Any] = {
    "quick": False,
    "at": "2026-11-30T21:00:00Z",
    "seconds": 9,
    "revision": "abc",
    "machine": "a machine",
    "python": "3.11",
    "node": None,
    "figures": [figure("hover", "nemp", memories, 0.5, empty=1.1) for memories in (10, 1_000)],
    "goals": [],
    "failed": ["nemp, 10 memories: warm: it broke"],
}


def test_what_failed_is_said_and_what_was_not_measured_has_no_row() -> None:
    text = report.as_text(RESULT)
    assert "it broke" in text
    assert "hover, nemp" in text
    assert "hover, Coven" not in text


def test_goals_that_were_not_measured_are_counted_and_not_listed() -> None:
    rows = goals.goals([figure("hover", "nemp", 100_000, 0.6, empty=1.2)])
    table = report.goals_table(rows)
    assert table.count("reached") == 1
    assert f"{len(rows) - 1} goals are about" in table
    assert report.goals_table(goals.goals([])).startswith(f"{len(rows)} goals")


def test_tables_are_replaced_between_their_markers_and_nowhere_else(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text(f"above\n\n{report.BEGIN}\nold\n{report.END}\n\nbelow\n", encoding="utf-8")
    report.write_docs(RESULT, tmp_path)
    once = page.read_text(encoding="utf-8")
    report.write_docs(RESULT, tmp_path)
    assert page.read_text(encoding="utf-8") == once
    assert once.startswith("above\n")
    assert once.endswith("below\n")
    assert "old" not in once


def test_a_page_without_markers_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text("no place\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="no line"):
        report.write_docs(RESULT, tmp_path)
    assert page.read_text(encoding="utf-8") == "no place\n"


def test_the_plot_is_well_formed_and_keeps_its_words_inside() -> None:
    root = ElementTree.fromstring(report.as_plot(RESULT))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "nemp 0.5" in texts
    assert "not measured" in texts


@pytest.mark.parametrize("places", [[10.0, 10.0, 10.0], [10.0, 12.0, 80.0], [0.0, 13.0, 26.0, 27.0], [5.0]])
def test_labels_never_touch_and_keep_their_order(places: list[float]) -> None:
    moved = plot.apart(places)
    assert len(moved) == len(places)
    assert all(below - above >= 13.9 for above, below in itertools.pairwise(moved))
