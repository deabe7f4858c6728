"""Counting the read windows again from the access log, whatever else stands in that log."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.cancellation import Cancellation
from memory_recall.errors import Cancelled
from memory_recall.recall.nemp import NempQuery, recall, recount
from memory_recall.recall.nemp_recount import RecountResult, Windows, reads_in
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
        "unknown": [],
        "count": 0,
        "changes": [],
        "problems": [],
    }
    assert (path.read_bytes(), log.read_bytes()) == before


def test_reads_of_a_memory_without_counters_are_counted_in(world: World) -> None:
    path = world.write(STORE, {"a": "plain", "b": {"value": 1, "vitality": None}})
    world.write(LOG, read_line("a", days=1) + "\n" + read_line("b", days=9))
    changes = count(world).as_json()["changes"]
    assert [(change["key"], change["line"], change["reads_7d"]) for change in changes] == [
        ("a", 2, {"from": None, "to": 1}),
        (
            "b",
            json.dumps(json.loads(path.read_text()), indent=2).split("\n").index('  "b": {') + 1,
            {"from": None, "to": 0},
        ),
    ]
    content = json.loads(path.read_text())
    assert content["a"]["value"] == "plain"
    assert content["a"]["vitality"]["reads"] == 0
    assert content["b"]["vitality"]["reads_30d"] == 1


def test_what_a_recall_counts_a_recount_confirms(world: World) -> None:
    keys = ["a b", "x agent=y", "a\nb", "k query=z", "a", "a b agent=main", 'quote"d', "部署 流程", "[x] READ key=y"]
    world.write(STORE, dict.fromkeys(keys, "v"))
    for key in keys:
        for _ in range(2):
            result = recall(NempQuery(key, agent="an agent=b"), world.place, world.env, Shelf())
            assert [memory.recorded for memory in result.memories] == [True]
    recounted = count(world)
    assert (recounted.changes, recounted.unknown, recounted.reads) == ((), (), 2 * len(keys))


def test_two_memories_of_one_key_share_its_lines(world: World) -> None:
    world.write(STORE, [{"key": "dup", "value": 1}, {"key": "dup", "value": 2}])
    recall(NempQuery("dup"), world.place, world.env, Shelf())
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


def test_the_longest_known_key_is_the_one_meant() -> None:
    log = "\n".join(
        [
            f"[{ago(days=1)}] READ key=a agent=b agent=main query=x",
            f"[{ago(days=1)}] READ key=a agent=main query=x agent=b query=y",
            f"[{ago(days=1)}] READ key=a query=x",
        ]
    )
    assert reads_in(log, ["a", "a agent=b"], NOW).windows == {"a": Windows(2, 2), "a agent=b": Windows(1, 1)}


@pytest.mark.parametrize("noise", [" agent=", " query=", " ", "[", "[x] READ key=", "\t"])
def test_a_line_of_any_length_takes_linear_time(noise: str) -> None:
    log = f"[{ago(days=1)}] READ key=" + noise * 200_000
    assert reads_in(log, ["a", "b" * 50], NOW).windows == {}


def test_the_global_store_is_recounted_where_there_is_no_project(world: World) -> None:
    world.write("home/.nemp/memories.json", {"a": entry(reads_7d=3, reads_30d=3)})
    world.write("home/.nemp/access.log", "")
    result = count(world)
    assert result.source == "global"
    assert [(change.key, change.score) for change in result.changes] == [("a", (None, 0))]
    world.write(STORE, "{}")
    assert count(world).source == "project"


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
    (world.project / ".nemp" / "access.log").mkdir()
    assert (count(world).changes, codes(count(world))) == ((), ["is-a-directory"])
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


def test_a_broken_store_is_reported_and_left_alone(world: World) -> None:
    path = world.write(STORE, '{"a": ')
    world.write(LOG, read_line("a", days=1))
    assert codes(count(world)) == ["not-json"]
    assert path.read_text() == '{"a": '


def test_a_store_that_may_not_be_written_is_reported_and_nothing_claimed(world: World) -> None:
    path = world.write(STORE, {"a": entry(reads_7d=3)})
    world.write(LOG, "")
    path.chmod(0o444)
    result = count(world)
    assert (result.changes, codes(result)) == ((), ["not-recorded"])
    assert "Nothing was recounted" in result.problems[0].message


def test_a_cancelled_recount_changes_nothing(world: World) -> None:
    path = world.write(STORE, {"a": entry(reads_7d=3)})
    world.write(LOG, read_line("a", days=1))
    before = path.read_bytes()
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        recount(world.place, world.env, Shelf(), cancellation)
    assert path.read_bytes() == before


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    st.text(alphabet="[]READ key=agent\n\r 2026-11-30T01:Z", max_size=80),
    st.lists(st.sampled_from(["a", "k", "agent", " ", ""]), max_size=3),
    st.datetimes(timezones=st.just(NOW.tzinfo)),  # type: ignore[arg-type]
)
def test_any_log_is_read(log: str, keys: list[str], now: datetime) -> None:
    for windows in reads_in(log, keys, now).windows.values():
        assert 0 <= windows.reads_7d <= windows.reads_30d
