"""What a nemp recall answers: the tiers, their order, the limit, both stores, and every odd query."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from memory_recall.cancellation import Cancellation
from memory_recall.environment import Place
from memory_recall.errors import Cancelled, UsageError
from memory_recall.files.locking import locked
from memory_recall.files.writing import append_line
from memory_recall.recall import nemp_accounting
from memory_recall.recall.nemp import NempQuery, NempResult, recall
from memory_recall.recall.nemp_vitality import after_read
from memory_recall.stores.shelf import Shelf
from worlds import World

PROJECT = [
    {"key": "auth-flow", "value": "JWT access tokens with refresh tokens", "tags": ["security"]},
    {"key": "user-session-handling", "value": "Sessions expire after 30 days of inactivity"},
    {"key": "user-prefers-bun", "value": "Use bun for every script"},
    {"key": "db.primary", "value": "PostgreSQL 16 via Prisma; migrations in db/migrate"},
    {"key": "retry-limits", "value": 5},
    {"key": "feature flags", "value": {"checkout-v2": True}},
    {"key": "部署流程", "value": "先跑数据库迁移,再滚动发布"},
    {"key": "a.b*c[d", "value": "regular (expression) characters"},
]
GLOBAL = {
    "auth-flow": {"value": "Company SSO through Okta"},
    "commit-style": "Conventional commits, refresh often",
    "editor": {"value": "Neovim"},
}


@pytest.fixture
def both(world: World) -> World:
    """A world with both stores."""
    world.write("project/.nemp/memories.json", {"memories": PROJECT})
    world.write("home/.nemp/memories.json", GLOBAL)
    return world


def ask(world: World, query: str, **options: Any) -> NempResult:
    options.setdefault("record", False)
    return recall(NempQuery(query, **options), world.place, world.env, Shelf())


def keys(result: NempResult) -> list[str]:
    return [memory.key for memory in result.memories]


def sources(result: NempResult) -> list[tuple[str, str]]:
    return [(memory.key, memory.source) for memory in result.memories]


def test_the_exact_key_answers_alone_and_names_what_it_shadows(both: World) -> None:
    result = ask(both, "auth-flow")
    assert (result.match, sources(result), result.omitted) == ("exact", [("auth-flow", "project")], 0)
    assert result.memories[0].score == 1.0
    (shadowed,) = result.shadowed
    assert (shadowed.key, shadowed.source, shadowed.line) == ("auth-flow", "global", 2)
    assert shadowed.path == both.home / ".nemp" / "memories.json"


def test_a_key_of_the_global_store_alone_is_an_exact_hit(both: World) -> None:
    result = ask(both, "commit-style")
    assert (result.match, sources(result), result.shadowed) == ("exact", [("commit-style", "global")], ())
    assert result.memories[0].value == "Conventional commits, refresh often"


@pytest.mark.parametrize("key", ["feature flags", "部署流程", "a.b*c[d", "retry-limits"])
def test_any_key_is_found_by_itself(both: World, key: str) -> None:
    assert (ask(both, key).match, keys(ask(both, f"  {key}\n"))) == ("exact", [key])


def test_a_key_with_spaces_around_it_is_meant_as_it_stands(world: World) -> None:
    world.write("project/.nemp/memories.json", {" x ": "spaced", "x": "bare"})
    assert ask(world, " x ").memories[0].value == "spaced"
    assert ask(world, "x ").memories[0].value == "bare"


def test_the_exact_tier_minds_the_case_and_the_partial_one_does_not(both: World) -> None:
    result = ask(both, "AUTH-FLOW")
    assert (result.match, sources(result)) == ("partial", [("auth-flow", "project"), ("auth-flow", "global")])
    assert ask(both, "Bun").match == "partial"


def test_partial_hits_come_project_first_the_fullest_match_first_then_values(both: World) -> None:
    both.write("home/.nemp/memories.json", {"user": "g", "tooling": "the user likes tools"})
    result = ask(both, "USER")
    assert result.match == "partial"
    assert sources(result) == [
        ("user-prefers-bun", "project"),
        ("user-session-handling", "project"),
        ("user", "global"),
        ("tooling", "global"),
    ]
    assert all(0 < memory.score < 1 for memory in result.memories)


def test_values_are_ordered_by_different_words_matched_then_by_relevance(both: World) -> None:
    both.write(
        "project/.nemp/memories.json",
        {
            "one": "refresh refresh refresh refresh",
            "both-words": "a long text about other things in which tokens and, much later, a refresh are mentioned",
            "two": "refresh",
        },
    )
    result = ask(both, "refresh tokens")
    assert result.match == "value"
    assert keys(result)[0] == "both-words"
    assert sources(result)[-1] == ("commit-style", "global")
    assert set(keys(result)) == {"both-words", "one", "two", "commit-style"}


def test_words_of_the_key_count_and_stop_words_do_not(both: World) -> None:
    assert keys(ask(both, "how does the session work")) == ["user-session-handling"]
    assert ask(both, "how does it").match == "none"


def test_a_memory_hit_by_key_and_by_value_comes_once(both: World) -> None:
    result = ask(both, "bun")
    assert keys(result).count("user-prefers-bun") == 1


def test_values_that_are_no_text_are_searched_and_returned_as_they_are(both: World) -> None:
    assert ask(both, "checkout").memories[0].value == {"checkout-v2": True}
    number = ask(both, "retry-limits").memories[0]
    assert (number.value, number.text) == (5, "5")


def test_chinese_is_found_by_its_parts(both: World) -> None:
    assert keys(ask(both, "部署")) == ["部署流程"]
    assert (ask(both, "数据库").match, keys(ask(both, "数据库"))) == ("value", ["部署流程"])


def test_related_words_answer_only_when_nothing_else_does(both: World) -> None:
    result = ask(both, "package manager")
    assert (result.match, keys(result)[0]) == ("related", "user-prefers-bun")
    assert "bun" in result.memories[0].words
    both.write("home/.nemp/memories.json", {"x": "the manager decides"})
    assert (ask(both, "package manager").match, keys(ask(both, "package manager"))) == ("value", ["x"])


def test_typing_errors_find_what_was_meant(both: World) -> None:
    assert keys(ask(both, "neovmi")) == ["editor"]
    assert "commit-style" in keys(ask(both, "comit-stlye"))


def test_project_memories_come_first_among_related_ones_too(both: World) -> None:
    both.write("home/.nemp/memories.json", {"tool": "pnpm pnpm npm yarn"})
    assert sources(ask(both, "package manager")) == [("user-prefers-bun", "project"), ("tool", "global")]


@pytest.mark.parametrize(
    "query", ["xyzzy", "%%%", "..", "-", '"; DROP TABLE', "$(touch x)", "\0", "\ud800", "🚀", "((((", "*"]
)
def test_odd_queries_are_answered(both: World, query: str) -> None:
    result = ask(both, query, record=True)
    assert all(query in key for key in keys(result))
    json.dumps(result.as_json())


def test_a_very_long_query_is_answered(both: World) -> None:
    assert ask(both, "word " * 20_000).match == "none"
    assert ask(both, "x" * 100_000).match == "none"


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\u3000"])
def test_an_empty_query_is_a_mistake_of_the_asker(both: World, query: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        ask(both, query)


@pytest.mark.parametrize("limit", [0, 51, -1, True, 2.5])
def test_a_limit_out_of_range_is_a_mistake_of_the_asker(both: World, limit: Any) -> None:
    with pytest.raises(UsageError, match="1 to 50"):
        ask(both, "x", limit=limit)


def test_the_limit_cuts_and_counts_what_it_cut(world: World) -> None:
    world.write("project/.nemp/memories.json", {f"key-{n}": "v" for n in range(60)})
    result = ask(world, "key", limit=50)
    assert (len(result.memories), result.omitted) == (50, 10)
    assert (len(ask(world, "key").memories), ask(world, "key").omitted) == (10, 50)


def test_the_limit_does_not_cut_exact_hits(world: World) -> None:
    world.write("project/.nemp/memories.json", [{"key": "dup", "value": 1}, {"key": "dup", "value": 2}])
    result = ask(world, "dup", limit=1)
    assert [memory.value for memory in result.memories] == [1, 2]
    assert [problem.code for problem in result.problems] == ["duplicate-key"]


def test_a_broken_project_store_is_reported_and_the_global_one_answers(both: World) -> None:
    path = both.write("project/.nemp/memories.json", '{\n "memories": [,]}')
    result = ask(both, "auth-flow", record=True)
    assert sources(result) == [("auth-flow", "global")]
    assert [(problem.code, problem.line, problem.path) for problem in result.problems] == [("not-json", 2, str(path))]
    assert path.read_text() == '{\n "memories": [,]}'
    assert (both.project / ".nemp" / "access.log").exists()


def test_without_any_store_the_answer_is_an_honest_nothing(world: World) -> None:
    result = ask(world, "anything", record=True)
    assert (result.match, result.memories) == ("none", ())
    (problem,) = result.problems
    assert (problem.code, problem.path) == ("no-store", None)
    assert str(world.project) in problem.message
    assert str(world.home) in problem.message
    assert list(world.home.iterdir()) == []


@pytest.mark.parametrize("where", ["home", "project"])
def test_a_store_without_memories_is_a_store(world: World, where: str) -> None:
    world.write(f"{where}/.nemp/memories.json", "{}")
    assert ask(world, "anything").problems == ()


def test_project_and_global_being_one_file_is_one_store(world: World) -> None:
    world.write("home/.nemp/memories.json", {"a": {"value": "x"}})
    result = recall(NempQuery("a"), Place(world.home), world.env, Shelf())
    assert (sources(result), result.shadowed) == ([("a", "global")], ())
    assert json.loads((world.home / ".nemp" / "memories.json").read_text())["a"]["vitality"]["reads"] == 1
    assert len((world.home / ".nemp" / "access.log").read_text().splitlines()) == 1


def test_the_json_has_every_field_of_the_contract(both: World) -> None:
    shape = ask(both, "auth-flow").as_json()
    assert next(iter(shape.items())) == ("v", 1)
    assert set(shape) >= {"query", "match", "count", "memories", "shadowed", "problems", "omitted"}
    assert set(shape["memories"][0]) >= {
        "key", "value", "source", "path", "line", "agent_id", "created", "updated", "type", "confidence", "vitality",
        "links", "tags", "score", "recorded",
    }  # fmt: skip
    assert shape["memories"][0]["tags"] == ["security"]
    json.dumps(shape)


def test_what_a_store_says_of_a_memory_travels_with_it(both: World) -> None:
    both.write("project/.nemp/memories.json", {"old": {"value": "v", "links": {"superseded_by": "new"}}})
    (memory,) = ask(both, "old").memories
    assert [(standing.code, standing.successor) for standing in memory.standings] == [("superseded", "new")]


@pytest.mark.parametrize("record", [True, False])
def test_what_another_memory_supersedes_is_recalled_as_superseded(world: World, record: bool) -> None:
    world.write(
        "project/.nemp/memories.json",
        [{"key": "old", "value": "v"}, {"key": "new", "value": "w", "links": {"supersedes": "old"}}],
    )
    (memory,) = ask(world, "old", record=record).memories
    assert memory.recorded == record
    assert [(standing.code, standing.successor) for standing in memory.standings] == [("superseded", "new")]


@pytest.mark.parametrize("record", [True, False])
def test_a_value_that_is_no_text_comes_with_the_text_that_the_store_has(world: World, record: bool) -> None:
    world.write(
        "project/.nemp/memories.json",
        '{"n": 1.50, "null": null, "far": 1e999, "o": {"value": {"x":[1E5]}}, "t": "text"}',
    )
    found = {key: ask(world, key, record=record).memories[0] for key in ("n", "null", "far", "o", "t")}
    assert [found[key].as_json()["text"] for key in found] == ["1.50", "null", None, '{"x": [1E5]}', None]
    assert [found[key].as_json()["value"] for key in found] == [1.5, None, "1e999", {"x": [1e5]}, "text"]
    assert found["t"].text == "text"


def test_a_cancelled_recall_records_nothing(both: World) -> None:
    before = (both.project / ".nemp" / "memories.json").read_bytes()
    cancellation = Cancellation()
    cancellation.cancel()
    for query in ("auth-flow", "refresh", "package manager"):
        with pytest.raises(Cancelled):
            recall(NempQuery(query), both.place, both.env, Shelf(), cancellation)
    assert (both.project / ".nemp" / "memories.json").read_bytes() == before
    assert not (both.project / ".nemp" / "access.log").exists()


def test_a_recall_cancelled_while_another_writes_records_nothing(both: World) -> None:
    folder = both.project / ".nemp"
    before = (folder / "memories.json").read_bytes()
    waiting = threading.Event()

    class Watched(Cancellation):
        def check(self) -> None:
            super().check()
            waiting.set()  # asked on the way to the lock, or while it is waited for

    cancellation = Watched()
    outcome: list[type[BaseException] | None] = []

    def ask_and_wait() -> None:
        try:
            recall(NempQuery("auth-flow"), both.place, both.env, Shelf(), cancellation)
        except BaseException as failure:
            outcome.append(type(failure))
        else:
            outcome.append(None)

    with locked(folder):
        thread = threading.Thread(target=ask_and_wait)
        thread.start()
        assert waiting.wait(10)
        cancellation.cancel()
        thread.join(10)
    assert outcome == [Cancelled]
    assert (folder / "memories.json").read_bytes() == before
    assert not (folder / "access.log").exists()


def test_a_recall_cancelled_at_the_last_moment_records_nothing(both: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (both.project / ".nemp" / "memories.json").read_bytes()
    cancellation = Cancellation()

    def counted(vitality: Any, **facts: Any) -> Any:
        cancellation.cancel()
        return after_read(vitality, **facts)

    monkeypatch.setattr(nemp_accounting, "after_read", counted)
    with pytest.raises(Cancelled):
        recall(NempQuery("auth-flow"), both.place, both.env, Shelf(), cancellation)
    assert (both.project / ".nemp" / "memories.json").read_bytes() == before
    assert sorted(path.name for path in (both.project / ".nemp").iterdir()) == ["memories.json"]


def test_a_recall_cancelled_too_late_is_recorded_whole_and_answered(
    both: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancellation = Cancellation()

    def logged(*arguments: Any) -> Any:
        cancellation.cancel()
        return append_line(*arguments)

    monkeypatch.setattr(nemp_accounting, "append_line", logged)
    result = recall(NempQuery("refresh"), both.place, both.env, Shelf(), cancellation)
    assert {source for _, source in sources(result)} == {"project", "global"}
    assert all(memory.recorded for memory in result.memories)
    log = (both.project / ".nemp" / "access.log").read_text()
    assert log.count(" READ ") == len(result.memories)
