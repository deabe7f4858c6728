"""Where options end and a query begins, and where a query comes from."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_recall.environment import Environment
from memory_recall.errors import UsageError
from memory_recall.faces.cli.invocation import (
    QUERY_LIMIT,
    HelpAsked,
    Invocation,
    Options,
    Parser,
    Streams,
    decimal_number,
    whole_number,
)
from memory_recall.faces.cli.main import VERBS
from worlds import World


def a_parser(*, discreet: bool = False) -> Parser:
    parser = Parser("try", "Try it.", arguments="<words>", example="memory-recall try this", discreet=discreet)
    parser.takes_query()
    parser.add_argument("-k", "--limit", type=whole_number, default=10)
    parser.add_argument("--confidence", type=decimal_number, default=0.3)
    return parser


def an_invocation(arguments: Sequence[str], stdin: bytes | None = b"") -> Invocation:
    streams = Streams(None if stdin is None else io.BytesIO(stdin), io.StringIO(), io.StringIO())
    return Invocation(list(arguments), Environment.of_process(), streams)


def query_of(*arguments: str, stdin: bytes | None = b"") -> str:
    invocation = an_invocation(arguments, stdin)
    return invocation.query(invocation.parse(a_parser()))


def parser_of(verb: tuple[str, ...]) -> Parser:
    """What a verb declares, taken from it as it begins to parse."""

    class Seen(Exception):
        pass

    class Watched(Invocation):
        def parse(self, parser: Parser) -> Options:
            raise Seen(parser)

    with pytest.raises(Seen) as seen:
        VERBS[verb].load()(Watched(["--help"], Environment.of_process(), Streams(None, None, None)))
    parser = seen.value.args[0]
    assert isinstance(parser, Parser)
    return parser


def error_of(*arguments: str, discreet: bool = False) -> str:
    with pytest.raises(UsageError) as raised:
        an_invocation(arguments).parse(a_parser(discreet=discreet))
    return raised.value.message


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_words_alone_mean_what_argparse_takes_them_for(verb: tuple[str, ...]) -> None:
    parser = parser_of(verb)
    for words in ([], ["auth"], ["auth flow", "", "日本"]) if parser.has_words else ([],):
        understood, unknown = parser.argument_parser().read(words)
        assert vars(parser.parse(words)) == vars(understood)
        assert unknown == []


def test_words_where_none_are_taken_are_refused_with_options_and_without() -> None:
    for arguments in (["auth"], ["auth", "--json"]):
        with pytest.raises(UsageError, match="takes no words"):
            parser_of(("doctor",)).parse(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--limit", "3", "how", "does", "auth", "work"],
        ["how", "--limit", "3", "does", "auth", "--json", "work"],
        ["how", "does", "auth", "work", "--limit=3"],
        ["how does", "auth work", "-k3"],
        ["--limit", "3", "--", "how", "does", "auth", "work"],
        ["how", "--limit", "3", "--", "does", "auth", "work"],
    ],
)
def test_options_stand_before_between_and_after_the_words(arguments: list[str]) -> None:
    invocation = an_invocation(arguments)
    options = invocation.parse(a_parser())
    assert invocation.query(options) == "how does auth work"
    assert options.limit == 3


def test_the_first_double_dash_ends_options_and_later_ones_are_words() -> None:
    assert query_of("--", "--json", "-k", "--", "--help") == "--json -k -- --help"


def test_a_double_dash_is_not_an_options_value() -> None:
    assert "--limit" in error_of("--limit", "--", "5")


@pytest.mark.parametrize("word", ["-", "-5", "-3.5", "", " ", "*", "$(rm -rf /)", "`id`", '"', "'", "a\nb", "日本"])
def test_a_word_that_is_no_option_is_a_word_as_it_is(word: str) -> None:
    assert query_of("x", word) == f"x {word}"


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))))
@settings(derandomize=True, max_examples=150, deadline=None)
def test_after_a_double_dash_every_word_is_kept(words: list[str]) -> None:
    assert query_of("--limit", "2", "--", *words) == " ".join(words)


def test_an_unknown_option_is_named_and_the_remedy_told() -> None:
    message = error_of("--limits", "3", "auth")
    assert "--limits" in message
    assert "--" in message
    assert "memory-recall try --help" in message


def test_no_option_may_be_abbreviated() -> None:
    assert "--lim" in error_of("--lim", "3", "auth")


@pytest.mark.parametrize("arguments", [["-secret", "plan"], ["--secret-plan"], ["-ksecret"], ["-hsecret", "plan"]])
def test_a_discreet_verb_repeats_nothing_that_was_typed(arguments: list[str]) -> None:
    assert "secret" not in error_of(*arguments, discreet=True)


@pytest.mark.parametrize("written", ["x", "", "1.5", "1e3", "٣", "9" * 40])
def test_a_number_that_is_none_is_one_sentence(written: str) -> None:
    message = error_of("--limit", written, "auth")
    assert message.startswith("-k/--limit: a whole number is expected")


@pytest.mark.parametrize("written", ["nan", "inf", "-", "1e3", "0,3"])
def test_a_decimal_that_is_none_is_one_sentence(written: str) -> None:
    assert "a number such as 0.3" in error_of(f"--confidence={written}", "auth")


def test_help_is_text_with_an_example_and_asks_nothing_else() -> None:
    with pytest.raises(HelpAsked) as asked:
        an_invocation(["--help"]).parse(a_parser())
    assert "usage: memory-recall try [options] <words>" in asked.value.text
    assert "memory-recall try this" in asked.value.text
    assert "--query-stdin" in asked.value.text


@pytest.mark.parametrize(
    ("data", "query"),
    [
        (b"auth flow\n", "auth flow"),
        (b"auth flow\r\n", "auth flow"),
        (b"auth flow\n\n", "auth flow\n"),
        (b"auth flow\r", "auth flow\r"),
        (b"--json -- $(id) 'x\"\n", "--json -- $(id) 'x\""),
        (b"a\0b", "a\0b"),
        (b"caf\xe9", "caf\ufffd"),
        (b"\xef\xbb\xbfauth", "auth"),
        ("部署流程\n".encode(), "部署流程"),
        (b"", ""),
    ],
)
def test_standard_input_is_the_query_without_its_one_last_line_end(data: bytes, query: str) -> None:
    assert query_of("--query-stdin", stdin=data) == query


def test_a_closed_standard_input_is_an_empty_query() -> None:
    assert query_of("--query-stdin", stdin=None) == ""


@pytest.mark.parametrize("arguments", [["auth", "--query-stdin"], ["--query-stdin", "--", "auth"]])
def test_words_and_standard_input_together_are_a_usage_error(arguments: list[str]) -> None:
    with pytest.raises(UsageError, match="not both"):
        query_of(*arguments, stdin=b"flow")


def test_an_endless_standard_input_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="longer than"):
        query_of("--query-stdin", stdin=b"x" * (QUERY_LIMIT + 1))


def test_bytes_of_the_shell_that_are_not_utf8_are_replaced() -> None:
    assert query_of("caf\udce9", "\udcff") == "caf\ufffd \ufffd"


def test_a_project_is_taken_from_the_working_directory_and_must_exist(world: World) -> None:
    invocation = Invocation([], world.env, Streams(None, None, None))
    (world.project / "sub").mkdir()
    assert invocation.directory("sub") == world.project / "sub"
    assert invocation.directory(None) == world.project
    for missing in ("nowhere", "a\0b", ".git/nothing"):
        with pytest.raises(UsageError, match="not a directory"):
            invocation.directory(missing)
