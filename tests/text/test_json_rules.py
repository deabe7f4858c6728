"""What a foreign schema asks: held against a full implementation, and never for long."""

from __future__ import annotations

import time
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.text.json_rules import Rules, matches


@pytest.mark.parametrize(
    ("rules", "value", "phrases"),
    [
        ({}, {"a": 1}, ()),
        (True, 5, ()),
        (False, 5, ("it is not allowed",)),
        ("nonsense", 5, ()),
        ({"required": ["a", "b"]}, {"a": 1}, ("`b` is required",)),
        ({"properties": {"a": {"enum": ["x"]}}}, {"a": "y"}, ("`a` has a value that is not allowed",)),
        ({"properties": {"a": {"const": 1}}}, {"a": True}, ("`a` has a value that is not allowed",)),
        ({"properties": {"a": {"type": ["string", "null"]}}}, {"a": 1}, ("`a` is not of the type string or null",)),
        ({"properties": {"a": {"maxLength": 3}}}, {"a": "long"}, ("`a` is too long",)),
        ({"properties": {"a": {"minItems": 1}}}, {"a": []}, ("`a` has too few items",)),
        ({"properties": {"a": {"pattern": "^R-"}}}, {"a": "x"}, ("`a` does not match its pattern",)),
        (
            {"properties": {"a": {"items": {"pattern": "^R-"}}}},
            {"a": ["R-1", "x"]},
            ("`a.1` does not match its pattern",),
        ),
        (
            {"additionalProperties": False, "patternProperties": {"^x-": {}}},
            {"x-a": 1, "b": 1},
            ("`b` is not allowed",),
        ),
        ({"$ref": "#/definitions/m", "definitions": {"m": {"required": ["a"]}}}, {}, ("`a` is required",)),
        ({"$ref": "https://example.org/schema.json"}, {}, ()),
        ({"allOf": [{"required": ["a"]}, {"required": ["a"]}]}, {}, ("`a` is required",)),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, ("it fits none of the alternatives",)),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"b": 1}, ()),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, ("`b` is required",)),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {}, ()),
        ({"properties": [], "required": "a", "enum": 5, "items": 7, "maxLength": "x"}, {"a": 1}, ()),
    ],
)
def test_what_a_value_breaks_is_named(rules: Any, value: Any, phrases: tuple[str, ...]) -> None:
    assert Rules(rules).breaches(value) == phrases


def test_what_an_object_may_have_is_gathered_from_all_parts() -> None:
    document = {
        "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"b": {"maxLength": 9}}}],
        "$defs": {"base": {"properties": {"a": {}, "b": {"maxLength": 12}}, "required": ["c"]}},
    }
    rules = Rules(document)
    assert rules.names == {"a", "b", "c"}
    assert rules.of("b").longest == 9
    assert rules.of("a").longest is None
    assert rules.allows("anything")
    assert not Rules({"properties": {"a": {}}, "additionalProperties": False}).allows("b")


@pytest.mark.parametrize(
    ("pattern", "text", "matched"),
    [
        ("^IM-[A-Za-z0-9][A-Za-z0-9._-]*$", "IM-memory-recall-1", True),
        ("^MSG-[0-9]+$", "IM-1", False),
        ("^[a-z0-9]+(-[a-z0-9]+)*$", "memory-recall", True),
        ("^[a-z0-9]+(-[a-z0-9]+)*$", "memory--recall", False),
        ("(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", None),
        ("^(-[a-z-]+)*$", "-------------------------------------------1", None),
        (".*.*.*.*x", "a" * 200, None),
        (".?" * 30 + "Z", "a" * 60, None),
        ("(.|.)" * 28 + "Z$", "a" * 60, None),
        ("(?:a|a)" * 26 + "b", "a" * 60, None),
        ("(x)?" * 30 + "Z", "x" * 60, None),
        ("a|^b$|[^c]", "zzz", True),
        (r"^\[(warn|info)\] ", "[warn] x", None),
        (r"^\[warn\] .+", "[warn] x", True),
        (r"\p{L}", "a", None),
        ("(", "a", None),
        ("a", "a" * 5000, None),
        ("x" * 5000, "a", None),
    ],
)
def test_only_patterns_that_cannot_take_long_are_tried(pattern: str, text: str, *, matched: bool | None) -> None:
    assert matches(pattern, text) is matched


def test_rules_that_refer_to_each_other_come_to_an_end() -> None:
    chain = {f"d{n}": {"allOf": [{"$ref": f"#/d/d{n + 1}"}, {"$ref": f"#/d/d{n + 1}"}]} for n in range(60)}
    endless = {"allOf": [{"$ref": "#"}, {"$ref": "#/d/d0"}], "properties": {"a": {"$ref": "#"}}, "d": chain}
    started = time.process_time()
    assert Rules(endless).breaches({"a": {"a": {}}}) == ()
    assert Rules(endless).names == {"a"}
    assert time.process_time() - started < 1


NAMES = st.sampled_from(["a", "b", "c"])
LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "R-1", "long text"])
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3))
SCHEMAS = st.deferred(
    lambda: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null"]),
            "enum": st.lists(LEAVES, min_size=1, max_size=3),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "properties": st.dictionaries(NAMES, SCHEMAS, max_size=2),
            "patternProperties": st.dictionaries(st.sampled_from(["a|b", "^c"]), SCHEMAS, max_size=1),
            "additionalProperties": st.booleans() | SCHEMAS,
            "items": SCHEMAS,
            "maxLength": st.integers(0, 5),
            "minItems": st.integers(0, 2),
            "minimum": st.integers(-2, 2),
            "pattern": st.sampled_from(["^R-", "a$", "[0-9]+"]),
            "allOf": st.lists(SCHEMAS, min_size=1, max_size=2),
            "anyOf": st.lists(SCHEMAS, min_size=1, max_size=2),
        },
    )
)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(SCHEMAS, VALUES)
def test_a_full_implementation_comes_to_the_same_verdict(schema: dict[str, Any], value: Any) -> None:
    assert bool(Rules(schema).breaches(value)) is not jsonschema.Draft7Validator(schema).is_valid(value)


def test_a_schema_nested_without_end_is_said_to_be_unchecked() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5_000):
        schema = {"anyOf": [schema]}
    assert Rules(schema).breaches({"a": 1}) == ("the schema is nested too deeply to be checked",)
