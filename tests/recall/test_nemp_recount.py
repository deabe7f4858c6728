"""Counting the read windows again from the access log, whatever else stands in that log."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Place
from memory_recall.errors import Cancelled
from memory_recall.recall.nemp import NempQuery, recall
from memory_recall.recall.nemp_recount import NotRecounted, RecountResult, recount
from memory_recall.stores.shelf import Shelf
from memory_recall.text.dates import utc_seconds
from worlds import NOW, World

STORE, LOG = "project/.nemp/memories.json", "project/.nemp/access.log"


def count(world: World) -> RecountResult:
    return recount(world.place, world.env, Shelf())


def ago(**span: float) -> str:
    return utc_seconds(NOW - timedelta(**span))


def read_line(key: str, **span: float) -> str:
    return f"[{ago(**span)}] READ key={key} agent=main query=x"


def codes(result: RecountResult) -> list[str]:
    return [problem.code for problem in result.problems]


def entry(**vitality: Any) -> dict[str, Any]:
    return {"value": "v", "type": "fact", "confidence": {"score": 1}, "vitality": vitality, "links": {}}


def test_windows_shrink_to_what_the_log_says_and_the_score_follows(world: World) -> None:
    vitality = {"score": 100, "state": "thriving", "reads": 9, "reads_7d": 9, "reads_30d": 9, "last_read": ago(days=5)}
    path = world.write(STORE, {"a": entry(**vitality, decay_rate=1), "b": entry(reads_7d=0, reads_30d=0)})
    world.write(LOG, "\n".join([read_line("a", days=5), read_line("a", days=8), read_line("a", days=40)]) + "\n")
    before = path.read_bytes()

    result = count(world)

    (change,) = result.changes
    assert (change.key, change.path, change.line) == ("a", path, 2)
    assert (change.reads_7d, change.reads_30d) == ((9, 1), (9, 2))
    # 15·1 + 3·2 − 5 days·1
    assert (change.score, change.state) == ((100, 16), ("thriving", "dormant"))
    after = json.loads(path.read_text())["a"]["vitality"]
    assert (after["reads"], after["last_read"], after["reads_7d"], after["score"]) == (9, ago(days=5), 1, 16)
    assert path.read_bytes().split(b'"b"')[1] == before.split(b'"b"')[1]
    assert (result.reads, result.unknown, result.problems) == (2, (), ())
    assert count(world).changes == ()


def test_nothing_is_written_where_nothing_is_wrong(world: World) -> None:
    path = world.write(STORE, {"a": entry(reads_7d="1", reads_30d=1.0), "b": "plain", "c": {"value": 1}})
    log = world.write(LOG, read_line("a", days=1))
    path.chmod(0o444)
    before = (path.read_bytes(), log.read_bytes())
    assert count(world).as_json() == {
        "v": 1,
        "path": str(path),
        "source": "project",
        "log": str(log),
        "reads": 1,
        "checked": 1,
        "unknown": [],
        "count": 0,
        "changes": [],
        "left": [],
        "problems": [],
    }
    assert (path.read_bytes(), log.read_bytes()) == before


def test_a_memory_without_counters_is_none_of_a_recounts_business(world: World) -> None:
    path = world.write(STORE, {"a": "plain", "b": {"value": 1, "vitality": None}, "c": {"value": 2, "vitality": [1]}})
    world.write(LOG, "\n".join(read_line(key, days=1) for key in "abc"))
    before = path.read_bytes()
    result = count(world)
    assert (result.changes, result.checked, result.reads) == ((), 0, 3)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("vitality", "log", "written"),
    [
        ({"reads_7d": 4}, "", {"reads_7d": 0, "score": 0, "state": "extinct"}),
        ({"reads_7d": 4, "reads_30d": "1"}, read_line("a", days=9), {"reads_7d": 0, "score": 3, "state": "dormant"}),
        ({"reads_7d": 4, "score": 0, "state": "extinct"}, "", {"reads_7d": 0}),
        ({"reads_7d": 1, "score": 18.0, "mine": 1.0}, read_line("a", days=1), {"reads_30d": 1, "state": "dormant"}),
        ({}, read_line("a", days=1), {"reads_7d": 1, "reads_30d": 1, "score": 18, "state": "dormant"}),
        ({"reads_7d": None, "reads_30d": -1}, "", {}),
    ],
)
def test_what_is_written_is_what_is_reported_and_nothing_else(
    world: World, vitality: dict[str, Any], log: str, written: dict[str, Any]
) -> None:
    record = {"value": 1.50, "vitality": vitality}
    path = world.write(STORE, {"a": record})
    world.write(LOG, log)
    result = count(world)
    assert json.loads(path.read_text()) == {"a": {**record, "vitality": {**vitality, **written}}}
    shown = result.changes[0].as_json() if result.changes else {}
    reported = {
        name: move["to"] for name, move in shown.items() if isinstance(move, dict) and move["from"] != move["to"]
    }
    assert reported == written
    assert count(world).changes == ()


def test_what_a_recall_counts_a_recount_confirms(world: World) -> None:
    keys = [
        "a b",
        "x agent=y",
        "a\nb",
        "k query=z",
        "a",
        "a b agent=main",
        'quote"d',
        "部署 流程",
        "[x] READ key=y",
        " a",
        "a ",
        " a b\t",
    ]
    world.write(STORE, dict.fromkeys(keys, "v"))
    for key in keys:
        for _ in range(2):
            result = recall(NempQuery(key, agent="an agent=b"), world.place, world.env, Shelf())
            assert [memory.recorded for memory in result.memories] == [True]
    recounted = count(world)
    assert (recounted.changes, recounted.unknown, recounted.reads) == ((), (), 2 * len(keys))


@pytest.mark.parametrize("copies", [1, 2, 3])
@pytest.mark.parametrize("elsewhere", [0, 1, 2])
@pytest.mark.parametrize("queries", [["dup"], ["du"], ["dup", "du", "du", " dup "]])
def test_memories_of_one_key_share_its_lines(world: World, copies: int, elsewhere: int, queries: list[str]) -> None:
    world.write(STORE, [{"key": "dup", "value": number} for number in range(copies)])
    world.write("home/.nemp/memories.json", [{"key": "dup", "value": number} for number in range(elsewhere)])
    for query in queries:
        recall(NempQuery(query), world.place, world.env, Shelf())
    result = count(world)
    assert (result.changes, result.checked) == ((), copies)


def test_a_line_that_a_limit_left_alone_still_counts(world: World) -> None:
    world.write(STORE, [{"key": "dup", "value": 1}])
    world.write("home/.nemp/memories.json", {"dup": 1})
    recall(NempQuery("du", limit=1), world.place, world.env, Shelf())
    assert count(world).changes == ()


WILD = f"""[2026-02-26T12:30:00Z] READ key=auth-flow agent=main query=long ago
[{ago(days=1)}] WRITE key=auth-flow agent=main chars=70
[] READ key=auth-flow agent=main query=no time
[yesterday] READ key=auth-flow agent=main query=no time
[{ago(days=1)}] READ
[{ago(days=1)}] READ agent=main query=no key
[{ago(days=-2)}] READ key=auth-flow agent=main query=in the future
[{ago(days=1)}] CONTEXT_READ agent=main query=key=auth-flow matched=3
[{ago(days=1)}] SESSION_UPDATE agent=x keys=a,b note=READ key=auth-flow
[{ago(days=1)}] MEMORY_WRITE agent=main key=auth-flow op=create
READ key=auth-flow agent=main
garbage \x00 \ufffd

  [{ago(days=1)}]  READ key=auth-flow agent=main query=counts
[{ago(days=2)}] READ agent=main key=auth-flow query=counts
[{ago(days=3)}] READ key=auth-flow
[{(NOW - timedelta(days=4)).date()}] READ key=auth-flow query=counts
[{(NOW - timedelta(days=10)).isoformat()}] READ key=auth-flow agent=main query=this month
[{ago(minutes=-1)}] READ key=auth-flow agent=main query=a clock a little ahead"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_every_line_found_in_the_wild_is_tolerated(world: World, line_end: str, mark: bytes) -> None:
    world.write(STORE, {"auth-flow": entry()})
    world.write(LOG, mark + b"\xff\xfe not UTF-8" + line_end.encode() + WILD.replace("\n", line_end).encode())
    (change,) = count(world).changes
    assert (change.reads_7d, change.reads_30d) == ((None, 5), (None, 6))


def test_keys_that_the_store_does_not_have_are_named(world: World) -> None:
    world.write(STORE, {"a": entry()})
    world.write(LOG, "\n".join(read_line(key, days=1) for key in ("gone", "gone", "a b", "a")))
    result = count(world)
    assert (result.unknown, result.reads) == (("gone", "a b"), 1)


GLOBAL_STORE, GLOBAL_LOG = "home/.nemp/memories.json", "home/.nemp/access.log"


def test_the_global_store_is_recounted_where_there_is_no_project(world: World) -> None:
    world.write(GLOBAL_STORE, {"a": entry(reads_7d=3, reads_30d=3)})
    world.write(GLOBAL_LOG, "")
    result = count(world)
    assert result.source == "global"
    assert [(change.key, change.score) for change in result.changes] == [("a", (None, 0))]
    world.write(STORE, "{}")
    assert codes(count(world)) == ["no-log"]
    assert count(world).source == "project"


@pytest.mark.parametrize("log", ["", read_line("b", days=0), read_line("a", days=50)])
@pytest.mark.parametrize(("days", "windows"), [(1, (4, 7)), (8, (0, 7)), (31, (0, 0))])
def test_reads_of_a_global_memory_that_only_a_project_logged_are_not_lost(
    world: World, log: str, days: int, windows: tuple[int, int]
) -> None:
    path = world.write(GLOBAL_STORE, {"a": entry(reads_7d=4, reads_30d=7, last_read=ago(days=days))})
    world.write(GLOBAL_LOG, log)
    result = count(world)
    vitality = json.loads(path.read_text())["a"]["vitality"]
    assert (vitality["reads_7d"], vitality["reads_30d"]) == windows
    left = [{"key": "a", "last_read": ago(days=days), "reason": "its reads are logged in other projects"}]
    assert result.as_json()["left"] == (left if days <= 30 else [])
    assert result.checked == (days > 30)


def test_a_global_memory_whose_last_read_is_logged_is_counted_by_the_log(world: World) -> None:
    newest = {"a": ago(days=2, seconds=4), "b": ago(days=2, seconds=6), "c": "once", "d": None, "e": ago(days=1)}
    world.write(GLOBAL_STORE, {key: entry(reads_7d=4, reads_30d=4, last_read=ago(days=2)) for key in "ab"} | {
        "c": entry(reads_7d=4, reads_30d=4, last_read="once"),
        "d": entry(reads_7d=4, reads_30d=4, last_read=None),
        "e": entry(reads_7d=4, reads_30d=4, last_read=ago(days=2)),
    })  # fmt: skip
    world.write(GLOBAL_LOG, "\n".join(f"[{newest[key]}] READ key={key} agent=main query=x" for key in "abe"))
    result = count(world)
    assert [(change.key, change.reads_7d) for change in result.changes] == [
        ("a", (4, 1)), ("c", (4, 0)), ("d", (4, 0)), ("e", (4, 1)),
    ]  # fmt: skip
    assert [memory.key for memory in result.left] == ["b"]


def test_a_recount_after_recalls_of_a_global_memory_in_a_project_and_outside(world: World) -> None:
    world.write(STORE, "{}")
    path = world.write(GLOBAL_STORE, {"a": "v"})
    recall(NempQuery("a"), world.place, world.env, Shelf())
    outside = Place(world.home)
    assert [memory.key for memory in recount_at(world, outside).left] == []  # no log yet
    recall(NempQuery("a"), outside, world.at(NOW + timedelta(hours=1)).env, Shelf())
    recall(NempQuery("a"), world.place, world.at(NOW + timedelta(hours=2)).env, Shelf())
    assert [memory.key for memory in recount_at(world, outside).left] == ["a"]
    assert json.loads(path.read_text())["a"]["vitality"]["reads_7d"] == 3


def recount_at(world: World, place: Place) -> RecountResult:
    return recount(place, world.at(NOW + timedelta(hours=3)).env, Shelf())


def test_an_active_goal_counts_here_too(world: World) -> None:
    path = world.write(STORE, {"a": {**entry(reads_7d=1), "links": {"goals": ["g"]}}})
    world.write("project/.nemp/cortex.json", {"goals": [{"goal_id": "g", "status": "active"}]})
    world.write(LOG, "")
    assert count(world).changes[0].score == (None, 15)
    world.write("project/.nemp/cortex.json", "{")
    path.write_text(path.read_text().replace('"reads_7d": 0', '"reads_7d": 4'))
    result = count(world)
    assert (result.changes[0].score, codes(result)) == ((15, 0), ["not-json"])


def test_without_a_log_nothing_is_changed(world: World) -> None:
    path = world.write(STORE, {"a": entry(reads_7d=3)})
    before = path.read_bytes()
    assert (count(world).changes, codes(count(world))) == ((), ["no-log"])
    assert path.read_bytes() == before


def test_without_a_store_there_is_nothing_to_count(world: World) -> None:
    result = count(world)
    assert (result.path, result.source, codes(result)) == (None, None, ["no-store"])
    json.dumps(result.as_json())


def test_what_is_odd_in_the_store_is_reported_where_it_stands_afterwards(world: World) -> None:
    path = world.write(STORE, [{"key": "a", "value": "v"}, "loose"])
    world.write(LOG, read_line("a", days=1))
    (problem,) = count(world).problems
    assert path.read_text().split("\n")[(problem.line or 0) - 1] == '  "loose"'


def failure(world: World) -> NotRecounted:
    with pytest.raises(NotRecounted) as caught:
        count(world)
    shape = caught.value.as_json()
    assert set(shape) == {*RecountResult(None, None, None).as_json(), "error"}
    assert (shape["changes"], shape["checked"], shape["count"]) == ([], 0, 0)
    assert shape["problems"] == [problem.as_json() for problem in caught.value.result.problems]
    return caught.value


def test_a_broken_store_is_a_failure_and_left_alone(world: World) -> None:
    path = world.write(STORE, '{"a": ')
    world.write(LOG, read_line("a", days=1))
    error = failure(world)
    assert (error.code, codes(error.result)) == ("not-json", ["not-json"])
    assert error.message.startswith(f"{path}:1:7: This is not valid JSON")
    assert path.read_text() == '{"a": '


def test_a_log_that_cannot_be_read_is_a_failure(world: World) -> None:
    path = world.write(STORE, {"a": entry(reads_7d=3)})
    before = path.read_bytes()
    log = path.with_name("access.log")
    log.mkdir()
    error = failure(world)
    assert (error.code, codes(error.result)) == ("is-a-directory", ["is-a-directory"])
    assert error.message.startswith(f"{log} is a directory")
    assert error.message.endswith(" Nothing was recounted.")
    assert path.read_bytes() == before


def test_a_store_that_may_not_be_written_is_a_failure(world: World) -> None:
    path = world.write(STORE, {"a": entry(reads_7d=3)})
    world.write(LOG, "")
    path.chmod(0o444)
    error = failure(world)
    assert (error.code, codes(error.result)) == ("not-recorded", ["not-recorded"])
    assert error.message.startswith(f"{path} was not written: ")
    assert error.message.endswith(" Nothing was recounted.")


def test_a_cancelled_recount_changes_nothing(world: World) -> None:
    path = world.write(STORE, {"a": entry(reads_7d=3)})
    world.write(LOG, read_line("a", days=1))
    before = path.read_bytes()
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        recount(world.place, world.env, Shelf(), cancellation)
    assert path.read_bytes() == before
