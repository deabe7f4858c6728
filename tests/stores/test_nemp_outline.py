"""A store by its outline says what the same store says that is read, before and after an edit."""

from __future__ import annotations

import json
from array import array
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_recall.stores import nemp, nemp_outline
from memory_recall.stores.nemp import NempStore, store_of_bytes
from memory_recall.stores.nemp_outline import Outline
from memory_recall.stores.nemp_outlined import StoreOutlined, Whole
from memory_recall.stores.nemp_outlining import outline_of
from nemp_documents import KEYS, documents

PATH = Path("/x/.nemp/memories.json")


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a store had many groups of entries."""
    monkeypatch.setattr(nemp_outline, "_GROUP", 2)


def whole(data: bytes) -> NempStore:
    return store_of_bytes(PATH, "project", data, None)


def unread(data: bytes) -> Whole:
    pytest.fail("the whole store was read")


def outlined(data: bytes, outline: Outline | None, **options: Any) -> NempStore:
    read = options.get("read", lambda data: whole(data).content.whole)
    return NempStore(PATH, "project", StoreOutlined(data, outline, read), None)


def made(data: bytes) -> Outline:
    outline = outline_of(whole(data).content.whole, data)
    assert outline is not None
    return outline


def observed(store: NempStore, keys: list[str]) -> list[Any]:
    """All that a recall by key asks of a store."""
    return [
        [
            (
                *(entry.number, entry.value, entry.text, entry.tags, entry.plain, dict(entry.raw)),
                *(entry.start, entry.end, entry.key_offset, store.place_of(entry), store.standings_of(entry)),
            )
            for entry in store.by_key(key)
        ]
        for key in keys
    ]


@settings(derandomize=True, deadline=None, max_examples=120, suppress_health_check=list(HealthCheck))
@given(documents(), st.sampled_from([0, 1 << 20]), st.data())
def test_a_store_says_the_same_by_its_outline(data: bytes, large: int, draw: st.DataObject) -> None:
    data = data.removeprefix(b"\xef\xbb\xbf")
    limit, nemp.LARGE = nemp.LARGE, large
    try:
        store = whole(data)
        if not store.writable or store.problems:
            return
        outline = outline_of(store.content.whole, data)
        if outline is None:
            assert not store.keys
            return
        keys = [*KEYS, *store.keys, "nobody's", 'a"', "\ud800"]
        assert outline.fits(data)
        assert observed(outlined(data, outline), keys) == observed(store, keys)
        assert outlined(data, outline).documents == store.documents
        if outline.spelt_plainly:
            assert observed(outlined(data, outline, read=unread), keys) == observed(store, keys)
        numbers = draw.draw(st.sets(st.integers(0, len(store.keys) - 1), min_size=1))
        names = {number: json.dumps(store.keys[number], ensure_ascii=False) for number in numbers}
        extra = draw.draw(st.sampled_from(["", "\n", "\r\n é", 'a", "links": {"supersedes": "b"}, "x": "']))
        if "links" not in extra:
            extra = json.dumps(extra)[1:-1].replace("\\n", " ")
        new = {number: f'{{"value": "{extra}", \n"key": {name}}}' for number, name in names.items()}
        edited = outlined(data, outline).content
        assert isinstance(edited, StoreOutlined)
        after = edited.edited(new)
        assert after.outline is not None
        fresh = whole(after.data)
        assert observed(NempStore(PATH, "project", after, None), keys) == observed(fresh, keys)
        again = outline_of(fresh.content.whole, after.data)
        assert again is not None
        assert again.begins == after.outline.begins
        assert set(again.linked) <= set(after.outline.linked)
        for name in ("stop", "checksums", "lines"):
            assert getattr(again, name) == getattr(after.outline, name)
        assert after.outline.is_whole
        assert after.outline.fits(after.data)
    finally:
        nemp.LARGE = limit


def entries(count: int) -> list[dict[str, Any]]:
    return [{"key": f"key-{number}", "value": f"value {number}, fact", "type": "fact"} for number in range(count)]


LISTED = json.dumps({"memories": entries(20)}, indent=2).encode()
MAPPED = json.dumps({f"name-{number}": f"value {number}" for number in range(20)}, indent=1).encode()


def test_a_key_is_found_and_missed_without_reading_the_store() -> None:
    for data, key in ((LISTED, "key-7"), (MAPPED, "name-7")):
        store = outlined(data, made(data), read=unread)
        (entry,) = store.by_key(key)
        assert entry.number == 7
        assert store.problems == ()
        assert store.by_key("fact") == store.by_key("value 3") == store.by_key('k"') == ()


@pytest.mark.parametrize("spelt", ['"k\\u0065y-3"', '"key\\/3"'])
def test_a_key_that_is_spelt_with_an_escape_is_read_for(spelt: str) -> None:
    data = LISTED.replace(b'"key-3"', spelt.encode())
    outline = made(data)
    assert not outline.spelt_plainly
    assert outlined(data, outline, read=unread).by_key("key-4")[0].number == 4
    store = outlined(data, outline)
    assert [entry.number for entry in store.by_key(json.loads(spelt))] == [3]
    assert store.by_key("key-99") == ()


def test_a_key_whose_name_is_spelt_with_an_escape_is_read_for() -> None:
    data = LISTED.replace(b'"key": "key-0"', b'"k\\u0065y": "key-0"')
    assert not made(data).spelt_plainly
    assert [entry.number for entry in outlined(data, made(data)).by_key("key-0")] == [0]


def test_the_same_string_in_another_place_is_no_key() -> None:
    data = json.dumps([{"key": "a", "value": {"key": "b"}}, {"key": "b", "value": "a"}]).encode()
    store = outlined(data, made(data), read=unread)
    assert [entry.number for entry in store.by_key("a")] == [0]
    assert [entry.number for entry in store.by_key("b")] == [1]


def test_an_outline_of_other_bytes_does_not_fit() -> None:
    outline = made(LISTED)
    for data in (LISTED.replace(b"value 3,", b"value 4,"), LISTED + b" ", LISTED[:-1], b"", b" " + LISTED):
        assert not outline.fits(data)


@pytest.mark.parametrize("data", [LISTED, MAPPED])
@pytest.mark.parametrize("by", [-9, -1, 1, 5, 10_000])
def test_an_outline_that_leads_astray_costs_the_reading_and_nothing_else(data: bytes, by: int) -> None:
    outline = made(data)
    wrong = outline._replace(begins=array("I", [max(0, begin + by) for begin in outline.begins]))
    wrong = wrong._replace(spelt_plainly=False)  # or it vouches for what is not there
    keys = [*whole(data).keys, "fact"]
    for key in keys:
        store = outlined(data, wrong)
        assert observed(store, [key]) == observed(whole(data), [key])
        assert store.problems == ()
        if store.by_key(key):
            assert isinstance(store.content, StoreOutlined)
            assert store.content.span_of(store.by_key(key)[0].number) == whole(data).content.span_of(keys.index(key))


def test_bytes_that_turn_out_to_be_no_store_have_no_entries() -> None:
    broken = LISTED[:-3] + b"%%%"
    store = outlined(broken, made(LISTED)._replace(spelt_plainly=False))
    assert store.by_key("nobody's") == ()
    assert not store.writable
    assert [problem.code for problem in store.problems] == ["not-json"]
