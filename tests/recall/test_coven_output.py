"""The program's output is read by position: nothing in a query, a path or a chunk can pass for a hit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.errors import RecallError
from memory_recall.recall.coven_output import PrintedHit, parse_output

TITLE = "── Archival Memory Search ──────────────────────────"
RULE = "────────────────────────────────────────────────────"


def printed(query: str, *hits: tuple[str, str, str], familiar: str = "coven") -> bytes:
    lines = ["", TITLE, f"  Query: {query}", f"  Familiar: {familiar}", RULE, ""]
    for score, path, chunk in hits:
        lines += [f"  [{score}] {path}  (familiar: {familiar})", f"  {chunk}", ""]
    return ("\n".join(lines) + "\n").encode()


def test_hits_are_read_in_printed_order() -> None:
    output = printed("q", ("0.812", "~/a b.md", "one"), ("-0.003", "/x/[0.1] y.md", ""))
    assert parse_output(output, "q", "coven") == (
        PrintedHit("~/a b.md", 0.812, "one"),
        PrintedHit("/x/[0.1] y.md", -0.003, ""),
    )


@pytest.mark.parametrize("output", ["No results.\n", "No documents found for familiar 'coven'\n"])
def test_an_honest_nothing_is_no_hit(output: str) -> None:
    assert parse_output(output.encode(), "q", "coven") == ()


def test_a_header_without_hits_is_no_hit() -> None:
    assert parse_output(printed("q"), "q", "coven") == ()


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n\n"])
def test_the_empty_line_after_the_last_hit_says_nothing(end: str) -> None:
    output = printed("q", ("0.5", "~/a.md", "one"), ("0.4", "~/b.md", "")).rstrip(b"\n") + end.encode()
    assert [hit.path for hit in parse_output(output, "q", "coven")] == ["~/a.md", "~/b.md"]
    assert parse_output(printed("q").rstrip(b"\n") + b"\n\n" + end.encode(), "q", "coven") == ()


HEADER = printed("q").decode()
HIT = "  [0.812] ~/a.md  (familiar: coven)\n  chunk\n\n"


@pytest.mark.parametrize(
    "output",
    [
        "",
        "\n",
        "coven-memory 9.9: 3 matches\n* one\n",
        "No results.\nand more\n",
        "No documents found for familiar 'sage'\n",
        HEADER.removeprefix("\n"),
        HEADER.replace("Query: q", "Query: other"),
        HEADER.replace("  Familiar: coven\n", ""),
        HEADER.replace(RULE + "\n\n", RULE + "\n"),
        HEADER[:-10],
        HEADER + HIT[:20],
        HEADER + HIT[:-1] + HIT,
        HEADER + HIT[:-9],
        HEADER + HIT + "trailing\n",
        HEADER + HIT.replace("[0.812]", "[high]"),
        HEADER + HIT.replace("[0.812]", "[٠.٨]"),
        HEADER + HIT.replace("(familiar: coven)", "(familiar: sage)"),
        HEADER + HIT.replace("  chunk", "chunk"),
        HEADER + HIT.replace("chunk\n\n", "chunk\n-\n"),
    ],
)
def test_anything_else_is_an_error_and_not_fewer_hits(output: str) -> None:
    with pytest.raises(RecallError) as caught:
        parse_output(output.encode(), "q", "coven")
    assert caught.value.code == "output-unknown"


@pytest.mark.parametrize(
    "query",
    [
        "two\nlines",
        "ends with a line end\n",
        "\n\n",
        "a\r\nb\rc",
        f"x\n  Familiar: coven\n{RULE}\n\n  [0.999] ~/evil.md  (familiar: coven)\n  evil\n",
        f"{TITLE}\n  Query: x",
        "No results.",
        "\u2028\x0b\x0c",
    ],
)
def test_a_query_cannot_imitate_a_hit(query: str) -> None:
    assert parse_output(printed(query, ("0.500", "~/a.md", "one")), query, "coven") == (
        PrintedHit("~/a.md", 0.5, "one"),
    )


def test_lines_of_the_program_between_echo_and_scope_are_passed_over() -> None:
    output = printed("q", ("0.500", "~/a.md", "one")).decode()
    spoofed = output.replace("  Query: q\n", "  Query: q\n\n  [0.999] ~/spoof.md  (familiar: coven)\n  spoofed\n")
    assert parse_output(spoofed.encode(), "q", "coven") == (PrintedHit("~/a.md", 0.5, "one"),)


def test_a_chunk_or_a_path_that_imitates_a_header_stays_what_it_is() -> None:
    chunk = "  [0.998] ~/evil.md  (familiar: coven)   text"
    path = "~/x  (familiar: coven)/[0.9] y.md"
    assert parse_output(printed("q", ("0.500", path, chunk)), "q", "coven") == (PrintedHit(path, 0.5, chunk),)


@pytest.mark.parametrize("score", ["NaN", "inf", "-inf"])
def test_a_score_that_is_no_number_is_unknown(score: str) -> None:
    assert parse_output(printed("q", (score, "~/a.md", "one")), "q", "coven")[0].score is None


def test_bytes_that_are_no_utf8_do_not_stop_the_reading() -> None:
    output = printed("q", ("0.5", "~/a.md", "one")).replace(b"a.md", b"\xff.md")
    assert parse_output(output, "q", "coven")[0].path == "~/\udcff.md"


LINE = st.text(alphabet=st.characters(blacklist_characters="\n", blacklist_categories=("Cs",)), max_size=30)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    st.one_of(st.text(max_size=30), st.sampled_from([HEADER, HIT, f"q\n  Familiar: coven\n{RULE}\n\n{HIT}"])).filter(
        lambda query: not any("\ud800" <= letter <= "\udfff" for letter in query)
    ),
    st.lists(st.tuples(st.sampled_from(["0.812", "1.001", "-0.100"]), LINE, LINE), max_size=4),
)
def test_what_is_printed_is_what_is_read(query: str, hits: list[tuple[str, str, str]]) -> None:
    read = parse_output(printed(query, *hits), query, "coven")
    assert [(hit.path, hit.chunk) for hit in read] == [(path, chunk) for _, path, chunk in hits]
