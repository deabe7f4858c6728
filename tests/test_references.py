"""What counts as a citation of a memory, and what only looks like one.

In the tables below a text marks its references with ⟦…⟧; the marks are taken out before it is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.references import ENCLOSED_LIMIT, Reference, reference_at, references_in

CLAIM = "01J4K9R81M6D92TX6D4E7R31VZ"
OTHER_CLAIM = "01J5A0B1C2D3E4F5G6H7J8K9M0"

every = settings(derandomize=True, deadline=None, max_examples=200)


@dataclass
class Names:
    """A small world of names, which notes how it is asked."""

    keys: frozenset[str] = frozenset(
        {
            *("auth-flow", "auth-flow-v3", "db.url", "db.primary", "session_4_reports", "cache/ttl", "db:memory:size"),
            *(
                "database",
                "editor",
                "feature flags",
                "feature",
                "部署流程",
                "部署-流程",
                "नीति-एक",
                "list[0]",
                "either|or",
                "-",
            ),
        }
    )
    memories: frozenset[str] = frozenset({"MEM-webhook-retry", "MEM-1.2_b"})
    claims: frozenset[str] = frozenset({CLAIM})
    asked: int = 0
    longest: int = 0
    unknown: set[str] = field(default_factory=set)

    def has_key(self, key: str) -> bool:
        return self._ask(key, self.keys)

    def has_memory(self, memory_id: str) -> bool:
        return self._ask(memory_id, self.memories)

    def has_claim(self, ulid: str) -> bool:
        return self._ask(ulid, self.claims)

    def _ask(self, name: str, names: frozenset[str]) -> bool:
        self.asked += 1
        self.longest = max(self.longest, len(name))
        return name in names


def read(marked: str) -> tuple[str, list[str]]:
    """The text without its marks, and the references read in it, marked again."""
    text = re.sub("[⟦⟧]", "", marked)
    return text, references_in(text, Names())


def mark(text: str, references: list[Reference]) -> str:
    for reference in reversed(references):
        text = f"{text[: reference.start]}⟦{text[reference.start : reference.end]}⟧{text[reference.end :]}"
    return text


def check(marked: str) -> list[Reference]:
    text, references = read(marked)
    assert mark(text, references) == marked
    assert all(text[r.target_start : r.target_end] == r.target for r in references)
    return references


# Explicit references


@pytest.mark.parametrize(
    ("marked", "system", "target"),
    [
        ("We follow ⟦[[nemp:auth-flow]]⟧.", "nemp", "auth-flow"),
        ("⟦[[nemp:auth-flw]]⟧", "nemp", "auth-flw"),
        ("⟦[[ nemp: auth-flow ]]⟧", "nemp", "auth-flow"),
        ("⟦[[nemp:feature flags]]⟧ and more", "nemp", "feature flags"),
        ("请看⟦[[nemp:部署流程]]⟧吧", "nemp", "部署流程"),
        ("⟦[[nemp:no such key at all]]⟧", "nemp", "no such key at all"),
        ("⟦[[memory:MEM-nope]]⟧", "memory", "MEM-nope"),
        (f"⟦[[coven:{OTHER_CLAIM}]]⟧", "coven", OTHER_CLAIM),
        ("⟦[[nemp:auth-flow|the login]]⟧", "nemp", "auth-flow"),
        ("| ⟦[[nemp:auth-flow\\|the login]]⟧ | x |", "nemp", "auth-flow"),
        ("⟦[[nemp:either|or]]⟧", "nemp", "either|or"),
        ("⟦[[nemp:list[0]]]⟧", "nemp", "list[0]"),
        ("[⟦[[nemp:auth-flow]]⟧]", "nemp", "auth-flow"),
        ("!⟦[[nemp:auth-flow]]⟧", "nemp", "auth-flow"),
        ("[[note ⟦[[nemp:auth-flow]]⟧", "nemp", "auth-flow"),
        ("😀 `⟦[[nemp:auth-flow]]⟧`", "nemp", "auth-flow"),
    ],
)
def test_brackets_with_a_system(marked: str, system: str, target: str) -> None:
    (reference,) = check(marked)
    assert (reference.system, reference.form, reference.target) == (system, "bracket", target)
    assert reference.explicit


@pytest.mark.parametrize(
    "text", ["[[nemp:]]", "[[nemp: ]]", "[[nemp:|x]]", "[[note]]", "[[]]", "[[", "]]", "[nemp]", "[[a\nb]]"]
)
def test_brackets_around_nothing_that_is_a_memory(text: str) -> None:
    assert references_in(text, Names()) == []


@pytest.mark.parametrize(
    ("marked", "target"),
    [
        ("see ⟦nemp:auth-flow⟧", "auth-flow"),
        ("see ⟦nemp:auth-flow⟧.", "auth-flow"),
        ("see ⟦nemp:auth-flow⟧: it", "auth-flow"),
        ("(⟦nemp:auth-flow⟧)", "auth-flow"),
        ("[x](⟦nemp:auth-flow⟧)", "auth-flow"),
        ("⟦nemp:auth-flow⟧'s", "auth-flow"),
        ("**⟦nemp:auth-flow⟧**", "auth-flow"),
        ("_⟦nemp:auth-flow⟧_", "auth-flow"),
        ("_see ⟦nemp:auth-flow⟧._", "auth-flow"),
        ("⟦nemp:auth-flw⟧, gone", "auth-flw"),
        ("⟦nemp:database⟧", "database"),
        ("⟦nemp:databse⟧", "databse"),
        ("⟦nemp:部署流程⟧已完成", "部署流程"),
        ("⟦nemp:部署流水线已完成⟧", "部署流水线已完成"),
        ("使用⟦nemp:auth-flow⟧方案", "auth-flow"),
        ("参见:⟦nemp:auth-flow⟧。", "auth-flow"),
        ("⟦nemp:db:memory:size⟧", "db:memory:size"),
        ("⟦nemp:auth-flow-v4⟧", "auth-flow-v4"),
        ("`⟦nemp:auth-flow⟧`", "auth-flow"),
        ("`⟦nemp:feature flags⟧`", "feature flags"),
        ("`x = ⟦nemp:auth-flow⟧;`", "auth-flow"),
        ("⟦nemp:नीति-एक⟧", "नीति-एक"),
    ],
)
def test_a_prefix_without_brackets(marked: str, target: str) -> None:
    (reference,) = check(marked)
    assert (reference.system, reference.form, reference.target) == ("nemp", "prefix", target)


@pytest.mark.parametrize(
    ("marked", "system", "target"),
    [
        ("⟦memory:MEM-webhook-retry⟧.", "memory", "MEM-webhook-retry"),
        ("⟦memory:MEM-nope⟧已过期", "memory", "MEM-nope"),
        (f"⟦coven:{OTHER_CLAIM}⟧, too", "coven", OTHER_CLAIM),
        (f"⟦coven:{CLAIM[:-1]}⟧ lost a letter", "coven", CLAIM[:-1]),
    ],
)
def test_prefixes_of_the_other_systems(marked: str, system: str, target: str) -> None:
    (reference,) = check(marked)
    assert (reference.system, reference.form, reference.target) == (system, "prefix", target)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "src/nemp:auth-flow",
            "x-nemp:auth-flow",
            "x.nemp:auth-flow",
            "xnemp:auth-flow",
            "x_nemp:auth-flow",
            "énemp:a",
        ),
        *("nemp: auth flow", "nemp:", "nemp:.", "nemp::", "nemp:,x", "the nemp:recall command", "git@nemp:auth-flow"),
        *("memory:512MB", "memory:usage", "coven:main", "coven:latest", "https://nemp:auth-flow@host/"),
    ],
)
def test_what_only_looks_like_a_prefix(text: str) -> None:
    assert references_in(text, Names()) == []


# The argument of a command


@pytest.mark.parametrize(
    ("marked", "target"),
    [
        ("Try `/nemp:recall ⟦auth-flow⟧`.", "auth-flow"),
        ("Try /nemp:recall ⟦auth-flow⟧.", "auth-flow"),
        ("Try /nemp:recall ⟦auth-flow⟧ before you start", "auth-flow"),
        ("/nemp:recall   ⟦feature flags⟧", "feature flags"),
        ("/nemp:recall ⟦feature flags⟧, then", "feature flags"),
        ("`/nemp:recall ⟦feature flags⟧`", "feature flags"),
        ('/nemp:recall "⟦feature flags⟧"', "feature flags"),
        ("/nemp:recall ⟦部署流程⟧已完成", "部署流程"),
        ("使用/nemp:recall ⟦auth-flow⟧", "auth-flow"),
        ("`/nemp:recall ⟦databse⟧`", "databse"),
        ("/nemp:recall ⟦databse⟧.", "databse"),
        ("**/nemp:recall ⟦databse⟧**", "databse"),
        ("/nemp:recall ⟦auth-flow-v4⟧ is new", "auth-flow-v4"),
        ("/nemp:recall ⟦database⟧ now", "database"),
    ],
)
def test_the_key_that_a_written_command_asks_for(marked: str, target: str) -> None:
    (reference,) = check(marked)
    assert (reference.system, reference.form, reference.target) == ("nemp", "command", target)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "/nemp:recall how does auth work",
            "`/nemp:recall what is it`",
            "/nemp:recall auth?",
            "/nemp:recall 如何部署",
        ),
        *(
            "/nemp:recall",
            "/nemp:recall ",
            "/nemp:recall <key>",
            "/nemp:recall --limit 3",
            "/nemp:recall ...",
            '/nemp:recall ""',
        ),
        *("x/nemp:recall auth", "/nemp:recall-global auth", "/nemp:recalls auth", "/nemp:recall\nauth-flw"),
    ],
)
def test_a_question_in_natural_language_is_no_reference(text: str) -> None:
    assert references_in(text, Names()) == []


def test_a_key_inside_a_question_is_still_a_key() -> None:
    check("/nemp:recall what became of ⟦auth-flow⟧")
    check("/nemp:recall ⟦[[nemp:auth-flow]]⟧ and /nemp:recall ⟦db.url⟧")


# Implicit references


@pytest.mark.parametrize(
    "marked",
    [
        *("`⟦auth-flow⟧`", "`` ⟦auth-flow⟧ ``", "` ⟦auth-flow⟧ `", "`⟦database⟧`", "`⟦feature flags⟧`", "`⟦部署流程⟧`"),
        *("`⟦MEM-webhook-retry⟧`", f"`⟦{CLAIM}⟧`", "`⟦-⟧`", "`a` b `⟦auth-flow⟧` c", r"\\`⟦auth-flow⟧`"),
    ],
)
def test_a_code_span_that_is_exactly_a_name(marked: str) -> None:
    (reference,) = check(marked)
    assert (reference.system, reference.form, reference.explicit) == (None, "code", False)


@pytest.mark.parametrize(
    "text", ["`auth-flow db.url`", "`see auth-flow`", "`Auth-Flow`", "`unknown-key`", "`` ` ``", "`` auth-flow` ``"]
)
def test_other_code_is_code(text: str) -> None:
    assert references_in(text, Names()) == []


def test_a_tick_pairs_with_the_next_one_even_where_that_was_not_meant() -> None:
    (reference,) = check("a ` b `⟦auth-flow⟧` c")
    assert reference.form == "bare"


def test_ids_count_inside_code_too() -> None:
    check(f"`cat ⟦MEM-webhook-retry⟧ ⟦{CLAIM}⟧`")


@pytest.mark.parametrize(
    "marked",
    [
        *(
            "use ⟦auth-flow⟧ here",
            "⟦auth-flow⟧.",
            "⟦auth-flow⟧...",
            "(⟦auth-flow⟧)",
            "⟦auth-flow⟧: x",
            '"⟦auth-flow⟧"',
            "⟦auth-flow⟧'s",
        ),
        *(
            "使用⟦auth-flow⟧方案",
            "使用:⟦auth-flow⟧。",
            "한국어⟦auth-flow⟧를",
            "ใช้⟦auth-flow⟧แบบ",
            "**⟦auth-flow⟧**",
            "~~⟦auth-flow⟧~~",
        ),
        *(
            "_⟦auth-flow⟧_",
            "__⟦auth-flow⟧__",
            "_⟦auth-flow⟧._",
            "_the ⟦auth-flow⟧_",
            "_⟦auth-flow⟧ it is_",
            "⟦auth-flow⟧\\",
            "|⟦auth-flow⟧|",
        ),
        *(
            "⟦auth-flow⟧,⟦db.url⟧",
            "⟦db.url⟧?",
            "⟦session_4_reports⟧",
            "⟦cache/ttl⟧",
            "⟦db:memory:size⟧",
            "⟦नीति-एक⟧ है",
            "# ⟦auth-flow⟧",
        ),
        *(
            "⟦部署-流程⟧。",
            "“⟦auth-flow⟧”",
            "—⟦auth-flow⟧—",
            "😀⟦auth-flow⟧",
            "⟦auth-flow-v3⟧",
            "x=⟦auth-flow⟧",
            "⟦auth-flow⟧\u2028next",
        ),
        *(
            "⟦MEM-webhook-retry⟧ is why",
            "⟦MEM-1.2_b⟧.",
            f"⟦{CLAIM}⟧ said",
            f"({CLAIM[:-1]}X) ⟦{CLAIM}⟧:",
            f"见⟦{CLAIM}⟧。",
        ),
        *(
            "[⟦auth-flow⟧](x)",
            "[[see ⟦auth-flow⟧]]",
            "``` ⟦auth-flow⟧",
            r"\`⟦auth-flow⟧`",
            "⟦auth-flow⟧\r\n⟦db.url⟧\r⟦db.url⟧",
        ),
    ],
)
def test_known_names_in_prose(marked: str) -> None:
    assert {(r.system, r.form) for r in check(marked)} == {(None, "bare")}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "pre-auth-flow",
            "auth-flow-v2",
            "auth-flow_x",
            "xauth-flow",
            "auth-flows",
            "éauth-flow",
            "auth-flow2",
            "auth-flowный",
        ),
        *(
            "src/auth-flow/x.ts",
            "auth-flow/",
            "/auth-flow",
            "./auth-flow",
            "auth-flow.md",
            "C:\\auth-flow\\x",
            "--auth-flow",
        ),
        *(
            "https://x.y/auth-flow",
            "https://x.y/?q=auth-flow",
            "https://x.y/#auth-flow",
            "page.md#auth-flow",
            "me@auth-flow.com",
        ),
        *(
            "database",
            "the editor",
            "feature flags",
            "部署流程",
            "_database_",
            "*editor*",
            "Auth-Flow",
            "auth flow",
            "auth-\nflow",
        ),
        *(
            "_auth-flow",
            "auth-flow_",
            "MEM-nope",
            "MEM-webhook-retry.json",
            "xMEM-webhook-retry",
            OTHER_CLAIM,
            f"{CLAIM}0",
            f"x{CLAIM}",
        ),
        *("[[Auth-Flow]]", "[[auth-flow/x]]", "", "-", "- - -", "...", "___", "[[-", "`"),
    ],
)
def test_what_is_part_of_something_else_is_no_reference(text: str) -> None:
    assert references_in(text, Names()) == []


@pytest.mark.parametrize(
    "name", ["auth-flow", "database", "feature flags", "部署流程", "MEM-webhook-retry", CLAIM, "list[0]"]
)
def test_brackets_around_a_known_name(name: str) -> None:
    (reference,) = check(f"⟦[[{name}]]⟧")
    assert (reference.system, reference.form, reference.target) == (None, "bracket", name)
    assert references_in(f"[[{name} ]] [[{name}|alias]]", Names())[1].target == name


# The reference under a position


def test_only_the_name_in_a_code_span_answers() -> None:
    text = "see `` auth-flow `` now, `db.url`"
    spaced, tight = references_in(text, Names())
    assert text[spaced.start : spaced.end] == "auth-flow"
    for reference in (spaced, tight):
        answers = [offset for offset in range(len(text) + 1) if reference_at(text, offset, Names()) == reference]
        assert answers == list(range(reference.start, reference.end + 1))


def test_the_caret_behind_a_reference_still_means_it() -> None:
    text = "nemp:a,`auth-flow``"
    assert reference_at("x auth-flow y", 11, Names()) is not None
    assert reference_at("x auth-flow y", 12, Names()) is None
    assert reference_at("[[nemp:a]][[nemp:b]]", 10, Names()) == references_in("[[nemp:a]][[nemp:b]]", Names())[1]
    assert reference_at(text, 6, Names()) == references_in(text, Names())[0]


@pytest.mark.parametrize("offset", [-1, 10, 99])
def test_no_reference_outside_the_text(offset: int) -> None:
    assert reference_at("auth-flow", offset, Names()) is None


# Properties

PIECES = st.sampled_from(
    [
        *(
            "auth-flow",
            "db.url",
            "database",
            "feature flags",
            "部署流程",
            "部署-流程",
            "MEM-webhook-retry",
            CLAIM,
            "-v2",
            "x",
            "नीति",
        ),
        *(
            "[[",
            "]]",
            "[",
            "]",
            "|",
            "`",
            "``",
            "```",
            "\\",
            "nemp:",
            "memory:",
            "coven:",
            "/nemp:recall ",
            "[[nemp:",
            "_",
            "__",
            "*",
        ),
        *(
            " ",
            "\t",
            ".",
            ":",
            "-",
            "/",
            "#",
            "?",
            "@",
            "://",
            "https://",
            "(",
            ")",
            '"',
            "'",
            ",",
            "。",
            "方案",
            "한",
            "é",
            "e\u0301",
            "😀",
        ),
        *("\u2028", "\x0b", "\x0c", "\x85", "\u200d", "\u202e", "א", "\ud800", "\x00"),
    ]
)
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])
LINES = st.lists(PIECES | st.characters(codec=None, exclude_characters="\r\n"), max_size=25).map("".join)
TEXTS = st.lists(st.tuples(LINES, LINE_ENDS), max_size=4).map(lambda lines: "".join(line + end for line, end in lines))


@every
@given(TEXTS)
def test_references_are_in_order_and_apart_and_true_to_the_text(text: str) -> None:
    names = Names()
    references = references_in(text, names)
    for reference in references:
        assert 0 <= reference.start <= reference.target_start < reference.target_end <= reference.end <= len(text)
        assert text[reference.target_start : reference.target_end] == reference.target
        assert not re.search(r"[\r\n]", text[reference.start : reference.end])
        known = names.keys | names.memories | names.claims
        assert reference.explicit or reference.target in known
    assert all(before.end <= after.start for before, after in pairwise(references))
    assert names.longest <= ENCLOSED_LIMIT


@every
@given(TEXTS)
def test_the_reference_at_an_offset_is_the_one_of_the_text(text: str) -> None:
    references = references_in(text, Names())
    for offset in range(len(text) + 1):
        found = reference_at(text, offset, Names())
        under = [r for r in references if r.start <= offset < r.end]
        ends = [r for r in references if r.end == offset]
        if under:
            assert found == under[0]
        elif found is not None:
            assert found in ends
        else:
            assert not ends or text[offset - 1 : offset + 1] == "\r\n"


@every
@given(LINES, LINES, LINES, LINE_ENDS)
def test_other_lines_change_nothing(line: str, before: str, after: str, end: str) -> None:
    alone = references_in(line, Names())
    offset = len(before) + len(end)
    among = references_in(f"{before}{end}{line}{end}{after}", Names())
    moved = [r for r in among if offset <= r.start < offset + max(1, len(line))] if line else []
    assert [(r.system, r.target, r.form, r.start - offset, r.end - offset) for r in moved] == [
        (r.system, r.target, r.form, r.start, r.end) for r in alone
    ]


@every
@given(st.text(st.characters(codec="utf-8", exclude_characters="[]|\r\n"), min_size=1, max_size=40))
def test_brackets_hold_any_key(key: str) -> None:
    key = key.strip() or "key"
    (reference,) = references_in(f"[[nemp:{key}]]", Names(keys=frozenset({key}))) if "`" not in key else (None,)
    assert reference is None or reference.target == key


# Hostile input

HOSTILE = [
    *(
        "[",
        "[[",
        "[[a",
        "[[a]]",
        "[[nemp:",
        "[[nemp:a]",
        "]]",
        "`",
        "`a",
        "``a`",
        "\\`",
        "a-",
        "a-a ",
        "_",
        "_a",
        "_a-a_ ",
        "a_ ",
        ".",
        "a",
    ),
    *(
        "nemp:",
        "nemp:a ",
        "nemp:a:",
        "nemp:_",
        "nemp:.",
        "nemp:部",
        "部",
        "部-",
        "部.nemp:",
        "a-a部",
        "MEM-",
        "MEM-a ",
        "coven:0",
        "memory:MEM-",
    ),
    *(
        "/nemp:recall ",
        "/nemp:recall a b. ",
        '/nemp:recall "',
        "https://",
        "a://b?",
        "a#",
        "#a",
        "0123456789ABCDEFGHJKMNPQRS ",
        "\u0301",
        "\r",
    ),
    *(
        "nemp:" + "部." * 250 + " ",
        "nemp:" + "部" * 505 + " ",
        "/nemp:recall " + "a " * 250,
        "`" * 300 + "a",
        "_" * 300 + "nemp:a ",
    ),
    *("[[" + "a" * 1190, "[[" + "a" * 5_990, "[[" + "a" * 5_990 + "]]", "`" + "a" * 4_090, "nemp:a" * 80 + " "),
]


@pytest.mark.parametrize("unit", HOSTILE, ids=lambda unit: repr(unit[:16]))
def test_work_grows_with_the_text_and_not_faster(unit: str) -> None:
    """A quadratic step would take minutes here; what is asked of `Known` is counted."""
    size = 100_000
    names = Names(keys=frozenset({"a", "a-a", "部"}))
    references_in((unit * (size // len(unit) + 1))[:size], names)
    assert names.longest <= ENCLOSED_LIMIT
    assert names.asked <= 2 * size


@pytest.mark.parametrize("unit", ["[[", "a-"])
def test_ten_megabytes_of_one_thing(unit: str) -> None:
    names = Names()
    assert references_in((unit * 10_000_000)[:10_000_000], names) == []
    assert names.asked < 100


def test_a_position_in_a_huge_text_looks_only_at_its_line() -> None:
    names = Names()
    text = "auth-flow and [[nemp:x]]\n" * 200_000 + "the db.url here"
    reference = reference_at(text, len(text) - 7, names)
    assert reference is not None
    assert reference.target == "db.url"
    assert names.asked < 10


def test_a_name_may_be_longer_where_the_text_says_where_it_ends() -> None:
    long = "a-" * 256
    names = Names(keys=frozenset({long, long + "b"}))
    assert references_in(f"{long}b nemp:{long}b /nemp:recall {long}b", names) == []
    enclosed = [f"[[nemp:{long}b]]", f"[[{long}b|alias]]", f"`{long}b`", f"[[nemp:{long}c]]"]
    assert [r.target[-1] for r in references_in(" ".join(enclosed), names)] == ["b", "b", "b", "c"]
    longest = "ab " * (ENCLOSED_LIMIT // 3) + "x" * (ENCLOSED_LIMIT % 3)
    names = Names(keys=frozenset({longest, longest + "b"}))
    assert [r.target for r in references_in(f"[[nemp:{longest}]] `{longest}`", names)] == [longest, longest]
    assert references_in(f"[[{longest}b]] `{longest}b`", names) == []
