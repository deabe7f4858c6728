"""Lossless edits: the file parses to what was meant, and no byte changes that did not have to."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from json_documents import NAMES, Document, changed, changes, documents, paths, values

from memory_recall.text.json_edit import edit_object, replace_spans, wrap_as_object
from memory_recall.text.json_spans import JsonError, members, root_span, value_at

PROPERTY = settings(derandomize=True, deadline=None, max_examples=60)


def parsed(text: str) -> Any:
    return value_at(text, root_span(text)[0])[0]


def edited(document: Document, changes: list[tuple[tuple[str, ...], Any]]) -> str:
    return edit_object(document.text, document.start, document.end, changes)


def edit(text: str, *changes: tuple[tuple[str, ...], Any]) -> str:
    """A whole document whose root object is edited."""
    start, end = root_span(text)
    return text[:start] + edit_object(text, start, end, changes) + text[end:]


def as_json(value: Any) -> str:
    """Two values are one JSON value when this is equal: 1 and 1.0 are, 1 and true are not. Order is not told."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{name!r}:{as_json(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(as_json, value)) + "]"
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return repr(int(value))
    return repr(value)


@PROPERTY
@given(documents(), changes)
def test_any_document_parses_to_what_was_meant(document: Document, changes: list[tuple[tuple[str, ...], Any]]) -> None:
    expected = parsed(document.object)
    for path, value in changes:
        expected = changed(expected, path, value)
    new = edited(document, changes)
    assert as_json(parsed(new)) == as_json(expected)
    parsed(document.text[: document.start] + new + document.text[document.end :])


@PROPERTY
@given(documents(), changes)
def test_editing_again_changes_nothing(document: Document, changes: list[tuple[tuple[str, ...], Any]]) -> None:
    once = document.text[: document.start] + edited(document, changes) + document.text[document.end :]
    end = value_at(once, document.start)[1]
    assert edit_object(once, document.start, end, changes) == once[document.start : end]


@PROPERTY
@given(documents(), paths, values)
def test_only_the_bytes_of_the_value_or_of_the_new_member_differ(
    document: Document, path: tuple[str, ...], value: Any
) -> None:
    text, (start, end) = document.text, (document.start, document.end)
    new = edited(document, [(path, value)])
    while True:  # down to the innermost object that is there already, by the spans alone
        present = {member.key: member for member in members(text, start)}
        found = present.get(path[0])
        if found is None or len(path) == 1 or not isinstance(found.value, dict):
            break
        start, end, path = found.value_start, found.value_end, path[1:]
    if found is not None:
        start, end = found.value_start, found.value_end
    elif present:
        start = end = max(member.value_end for member in present.values())
    kept_before, kept_after = text[document.start : start], text[end : document.end]
    assert new.startswith(kept_before)
    assert new.endswith(kept_after)
    assert len(new) >= len(kept_before) + len(kept_after)


@PROPERTY
@given(documents(), st.data())
def test_setting_what_is_there_already_leaves_every_byte(document: Document, data: st.DataObject) -> None:
    value, path = parsed(document.object), ()
    while isinstance(value, dict) and value and (not path or data.draw(st.booleans())):
        name = data.draw(st.sampled_from(sorted(value)))
        value, path = value[name], (*path, name)
    assume(path)
    assert edited(document, [(path, value)]) == document.object


plain_objects = st.dictionaries(st.sampled_from(NAMES), values, max_size=4)
separators = st.sampled_from([(",", ":"), (", ", ": "), (",", ": "), (" , ", " : "), (", ", ":")])


@PROPERTY
@given(
    st.lists(plain_objects, min_size=1, max_size=3),
    st.dictionaries(st.text(max_size=5).map("new-".__add__), values, min_size=1, max_size=3),
    st.sampled_from([1, 2, 3, 4, 8, "\t", "\t\t", " \t", 0]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.data(),
)
def test_a_document_that_a_program_indented_looks_as_if_that_program_had_added_the_members(
    entries: list[dict[str, Any]], added: dict[str, Any], indent: int | str, line_end: str, data: st.DataObject
) -> None:
    which = data.draw(st.integers(0, len(entries) - 1))

    def laid_out(last: dict[str, Any]) -> str:
        told = [*entries[:which], last, *entries[which + 1 :]]
        root = {"version": "1.0", "memories": told}
        return json.dumps(root, indent=indent, ensure_ascii=False).replace("\n", line_end)

    text = laid_out(entries[which])
    start = text.index("[") + 1
    for number in range(which + 1):
        start = text.index("{", start if number == 0 else value_at(text, start)[1])
    end = value_at(text, start)[1]
    new = edit_object(text, start, end, [((name,), value) for name, value in added.items()])
    assert text[:start] + new + text[end:] == laid_out({**entries[which], **added})


@PROPERTY
@given(plain_objects, st.dictionaries(st.text(max_size=5).map("new-".__add__), values, max_size=3), separators)
def test_a_document_on_one_line_stays_there_with_its_separators(
    entry: dict[str, Any], added: dict[str, Any], separators: tuple[str, str]
) -> None:
    def laid_out(entry: dict[str, Any]) -> str:
        return json.dumps([{"first": 1, "second": 2}, entry], separators=separators, ensure_ascii=False) + "\n"

    text = laid_out(entry)
    start = text.index("{", text.index("}"))
    end = value_at(text, start)[1]
    new = edit_object(text, start, end, [((name,), value) for name, value in added.items()])
    assert text[:start] + new + text[end:] == laid_out({**entry, **added})


@PROPERTY
@given(documents(), st.dictionaries(st.text(max_size=5), values, max_size=3))
def test_a_plain_value_becomes_an_object_that_holds_its_very_bytes(document: Document, added: dict[str, Any]) -> None:
    text = document.text
    for member in list(members(text, document.start))[:2]:
        start, end = member.value_start, member.value_end
        new = wrap_as_object(text, start, end, [(f"+{name}", value) for name, value in added.items()])
        first, *others = members(new, 0, whole=True)
        assert (first.key, new[first.value_start : first.value_end]) == ("value", text[start:end])
        assert as_json({m.key: m.value for m in others}) == as_json({f"+{n}": v for n, v in added.items()})
        parsed(text[:start] + new + text[end:])


# Styles, by example: what a person would expect to find in the file.


def test_missing_members_stand_on_lines_of_their_own() -> None:
    text = '{\n  "key": "a",\n  "tags": []\n}\n'
    new = edit(text, (("links",), {"goals": [], "supersedes": None}), (("vitality", "reads"), 1))
    assert new == (
        '{\n  "key": "a",\n  "tags": [],\n  "links": {\n    "goals": [],\n    "supersedes": null\n  },\n'
        '  "vitality": {\n    "reads": 1\n  }\n}\n'
    )


def test_an_object_on_one_line_in_a_document_of_many_stays_on_its_line() -> None:
    text = '[\n  {"key": "a", "value": 1},\n  {"key": "b", "value": 2}\n]\n'
    start = text.index("{")
    assert edit_object(text, start, text.index("}") + 1, [(("vitality",), {"reads": 1})]) == (
        '{"key": "a", "value": 1, "vitality": {"reads": 1}}'
    )


def test_odd_separators_are_taken_over() -> None:
    assert edit('{"a" :1 , "b":2}', (("c",), 3)) == '{"a" :1 , "b":2 , "c":3}'
    assert edit('{ "a": 1 }', (("b",), {"c": 2})) == '{ "a": 1, "b": { "c": 2 } }'
    assert edit('{"a":1}', (("b",), [1, 2])) == '{"a":1,"b":[1,2]}'


def test_commas_that_lead_their_lines_go_on_leading_them() -> None:
    assert edit('{ "a": 1\n, "b": 2\n}', (("c",), 3)) == '{ "a": 1\n, "b": 2\n, "c": 3\n}'


def test_members_share_no_line_where_only_some_did() -> None:
    assert edit('{\n  "a": 1, "b": 2\n}', (("c",), 3)) == '{\n  "a": 1, "b": 2,\n  "c": 3\n}'


def test_blank_lines_and_trailing_blanks_are_not_copied() -> None:
    assert edit('{\n\n\t"a": 1, \n\n\t"b": 2\n\n}', (("c",), 3)) == '{\n\n\t"a": 1, \n\n\t"b": 2,\n\t"c": 3\n\n}'


def test_an_empty_object_takes_the_style_around_it() -> None:
    assert edit('{\n    "links": {}\n}', (("links", "goals"), ["g"])) == (
        '{\n    "links": {\n        "goals": [\n            "g"\n        ]\n    }\n}'
    )
    assert edit('{"links": { }, "a": 1}', (("links", "x"), 1)) == '{"links": {"x": 1}, "a": 1}'
    assert edit("{}", (("a",), 1)) == '{"a": 1}'
    assert edit("{\r\n}", (("a",), 1)) == '{\r\n  "a": 1\r\n}'


def test_a_null_or_plain_parent_becomes_an_object() -> None:
    assert edit('{"links": null, "c": 1}', (("links", "goals"), [])) == '{"links": {"goals": []}, "c": 1}'
    assert edit('{"c": 0.5}', (("c", "score"), 0.65)) == '{"c": {"score": 0.65}}'


def test_the_last_of_several_members_of_one_name_is_the_one_that_counts() -> None:
    assert edit('{"a": 1, "b": 0, "a": 2}', (("a",), 3)) == '{"a": 1, "b": 0, "a": 3}'


def test_a_number_that_is_equal_keeps_its_spelling_but_true_is_not_one() -> None:
    assert edit('{"a": 1.0, "b": -0, "c": 1e400}', (("a",), 1), (("b",), 0), (("c",), math.inf)) == (
        '{"a": 1.0, "b": -0, "c": 1e400}'
    )
    assert edit('{"a": true, "b": 0}', (("a",), 1), (("b",), False)) == '{"a": 1, "b": false}'


def test_characters_beyond_ascii_are_escaped_where_the_document_does() -> None:
    assert edit('{"a": "\\u00e9"}', (("b",), "ü")) == '{"a": "\\u00e9", "b": "\\u00fc"}'
    assert edit('{"a": "\\ud83d\\ude00"}', (("ü",), 1)) == '{"a": "\\ud83d\\ude00", "\\u00fc": 1}'
    assert edit('{"a": "\\u00e9 é"}', (("b",), "ü")) == '{"a": "\\u00e9 é", "b": "ü"}'
    assert edit('{"a": "\\u001b \\\\u00e9 \\ud800"}', (("b",), "ü")) == '{"a": "\\u001b \\\\u00e9 \\ud800", "b": "ü"}'


def test_half_a_pair_is_always_written_as_an_escape() -> None:
    assert edit('{"a": "é"}', (("b",), "\ud800")) == '{"a": "é", "b": "\\ud800"}'


def test_later_changes_apply_on_top_of_earlier_ones() -> None:
    assert edit("{}", (("a",), {"b": 1, "c": 2}), (("a", "b"), 3)) == '{"a": {"b": 3, "c": 2}}'
    assert edit('{"a": {"z": 1}}', (("a",), {"b": 1}), (("a", "c"), 3)) == '{"a": {"b": 1, "c": 3}}'
    assert edit('{"a": {"z": 1}}', (("a", "b"), 1), (("a",), 2)) == '{"a": 2}'
    assert edit("{}", (("a",), 1), (("a", "b", "c"), 2)) == '{"a": {"b": {"c": 2}}}'


def test_a_change_without_a_name_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="name of a member"):
        edit("{}", ((), 1))


def test_a_plain_value_on_a_line_of_its_own_is_wrapped_over_several() -> None:
    text = '{\n  "a": "x",\n  "b": "y"\n}\n'
    start = text.index('"x"')
    assert wrap_as_object(text, start, start + 3, [("type", "fact"), ("links", {"goals": []})]) == (
        '{\n    "value": "x",\n    "type": "fact",\n    "links": {\n      "goals": []\n    }\n  }'
    )


def test_a_plain_value_on_a_shared_line_is_wrapped_on_it() -> None:
    text = '[\n  {"a": "x"},\n  {"b": "y"}\n]\n'
    start = text.index('"x"')
    assert wrap_as_object(text, start, start + 3, [("type", "fact")]) == '{"value": "x", "type": "fact"}'
    assert wrap_as_object('{"a":"x"}', 5, 8, [("type", "fact")], keep_as="was") == '{"was":"x","type":"fact"}'


def test_a_value_that_shares_its_line_with_the_bracket_only_has_the_line_to_itself() -> None:
    text = '{"a": "x",\n "b": "y"}'
    assert wrap_as_object(text, 6, 9, []) == '{\n "value": "x"\n}'


def test_spans_are_replaced_in_any_order() -> None:
    assert replace_spans("abcdef", [(4, 6, "Y"), (0, 1, "XX"), (2, 2, "-")]) == "XXb-cdY"


def test_a_deep_value_beside_the_change_is_left_alone_and_one_too_deep_is_refused() -> None:
    deep = "[" * 400 + "]" * 400
    assert edit(f'{{"a": {deep}}}', (("b",), 1)) == f'{{"a": {deep}, "b": 1}}'
    value: Any = 0
    for _ in range(2_000):
        value = [value]
    with pytest.raises(JsonError, match="too deeply"):
        edit('{"a": 1}', (("a",), value))


def test_a_large_document_is_edited_without_being_parsed_again() -> None:
    entry = '{"key":"k","value":"' + "v" * 200 + '"}'
    text = "[" + ",".join([entry] * 20_000) + "]"
    start = len(text) - 1 - len(entry)
    assert edit_object(text, start, len(text) - 1, [(("type",), "fact")]) == entry[:-1] + ',"type":"fact"}'
