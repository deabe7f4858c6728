"""Values of a nemp memory that parsing would change: numbers as they are spelt, and whatever nobody can print."""

from __future__ import annotations

import json

import pytest

from memory_recall.stores.nemp import NempStore, read_store
from worlds import World


def read(world: World, content: str | object) -> NempStore:
    return read_store(world.write("project/.nemp/memories.json", content), "project")


NUMBERS = {
    "1": 1, "0": 0, "-0": 0, "1.50": 1.5, "1E5": 1e5, "100000000000000000000001": 10**23 + 1, "1e999": "1e999",
    "-1E+999": "-1E+999", "9" * 5000: "9" * 5000, "[1e999, 1.0]": ["1e999", 1.0],
    '{"a": {"b": -1e999}, "c": "\\u00e9 , :"}': {"a": {"b": "-1e999"}, "c": "é , :"},
}  # fmt: skip


@pytest.mark.parametrize("spelt", NUMBERS)
@pytest.mark.parametrize("shape", ['[{{"key": "k", "value": {}}}]', '{{"k": {{"value": {}}}}}', '{{"k": {}}}'])
def test_numbers_are_shown_as_they_are_spelt_and_said_in_json_as_they_can_be(
    world: World, shape: str, spelt: str
) -> None:
    (entry,) = read(world, shape.format(spelt)).entries
    assert entry.text == spelt.replace("\\u00e9", "é")
    assert entry.value == NUMBERS[spelt]
    assert entry.raw["value"] == NUMBERS[spelt]
    assert json.loads(json.dumps(entry.raw["value"], allow_nan=False)) == NUMBERS[spelt]


def test_numbers_in_other_fields_can_be_said_in_json_too(world: World) -> None:
    (entry,) = read(world, '[{"key": "k", "value": 1, "vitality": {"reads": 1e999}, "more": [-1e999]}]').entries
    assert (entry.vitality, entry.raw["more"]) == ({"reads": "1e999"}, ["-1e999"])


def test_a_value_nested_too_deeply_to_print_is_shown_as_it_is_written(world: World) -> None:
    deep = "[" * 400 + "]" * 400
    store = read(world, f'{{"a": {{"value": {deep}, "extra": {deep}}}, "b": {deep}}}')
    assert [entry.value for entry in store.entries] == [deep, deep]
    assert store.entries[0].raw["extra"] == deep
