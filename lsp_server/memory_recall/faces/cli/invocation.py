"""One invocation of the command line: its verb, its words, its streams, and how an answer leaves it.

Owns what all verbs share: where options end and the query begins, where the query comes from, and that everything
printed is UTF-8 and harmless to a terminal. Must not know any verb, store or recall.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, TextIO

from memory_recall.environment import Environment, Place
from memory_recall.errors import RecallError, UsageError
from memory_recall.faces.present.terminal import Terminal
from memory_recall.records import NamedTuple
from memory_recall.text.json_values import dumps
from memory_recall.text.untrusted import for_terminal

if TYPE_CHECKING:
    from memory_recall.faces.cli.argument_parser import ArgumentParser

Options = SimpleNamespace
"""What was asked for, an attribute for each declared argument."""

PROGRAM = "memory-recall"
QUERY_LIMIT = 1 << 20
"""The most bytes that are read of a query on standard input."""


class Streams(NamedTuple):
    """Where an invocation reads and writes. A stream that the caller closed is None."""

    stdin: BinaryIO | None
    stdout: TextIO | None
    stderr: TextIO | None


class HelpAsked(Exception):
    """`--help` stood among the options; carries the text to print."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Parser:
    """The options of one verb, declared as argparse wants them. A mistake is a `UsageError` of one sentence, no exit.

    Most questions are words alone, and those need no library to be understood: argparse is imported and shown the
    declarations only where something that was typed begins with a dash.

    `discreet` parsers repeat nothing of what was typed: a word of the query may have been taken for an option, and some
    queries may appear in no message.
    """

    def __init__(
        self,
        verb: str,
        description: str,
        *,
        arguments: str,
        example: str,
        discreet: bool = False,
        has_json: bool = True,
    ) -> None:
        self.prog = f"{PROGRAM} {verb}"
        self.discreet = discreet
        self.has_words = False
        self._usage = f"{self.prog} [options] {arguments}".rstrip()
        self._description = description
        self._epilog = f"example:\n  {example}"
        self._declared: list[tuple[tuple[str, ...], dict[str, Any]]] = []
        self.add_argument("-h", "--help", action="store_true", help="show this text and do nothing else")
        if has_json:
            self.add_argument("--json", action="store_true", help="answer with one JSON object instead of text")

    def add_argument(self, *names: str, **settings: Any) -> None:
        """Declare an option, in the words of `argparse.ArgumentParser.add_argument`."""
        self._declared.append((names, settings))

    def takes_query(self, what: str = "the query") -> None:
        """Accept words and `--query-stdin`."""
        self.has_words = True
        self.add_argument("words", nargs="*", default=[])
        self.add_argument(
            "--query-stdin",
            action="store_true",
            help=f"read {what} from standard input, so that nothing needs quoting",
        )

    def takes_project(self, what: str) -> None:
        """Accept `--project DIR`."""
        self.add_argument("--project", metavar="DIR", help=what)

    def takes_cache(self) -> None:
        """Accept `--no-cache`."""
        self.add_argument("--no-cache", action="store_true", help="answer from the stores alone; no index is kept")

    def parse(self, arguments: Sequence[str]) -> Options:
        """The options and, in `words`, the words between them, of arguments without a `--`.

        Raises `UsageError`, and `HelpAsked` where help was asked for.
        """
        if any(argument.startswith("-") for argument in arguments):
            parser = self.argument_parser()
            options, unknown = parser.read(arguments)
            if options.help:
                raise HelpAsked(parser.format_help())
        else:
            options = SimpleNamespace(**{_attribute(names): _default(settings) for names, settings in self._declared})
            unknown = [] if self.has_words else list(arguments)
            if self.has_words:
                options.words = list(arguments)
        if unknown:
            raise self._misunderstood(unknown)
        return options

    def mistake(self, what: str) -> UsageError:
        """A usage error that points at this verb's help."""
        return UsageError(f"{what[:1].upper()}{what[1:]}; see `{self.prog} --help`.")

    def argument_parser(self) -> ArgumentParser:
        """The declarations in the hands of argparse."""
        from memory_recall.faces.cli.argument_parser import ArgumentParser

        return ArgumentParser(
            self.prog,
            usage=self._usage,
            description=self._description,
            epilog=self._epilog,
            declared=self._declared,
            complain=self._complain,
        )

    def _complain(self, message: str) -> NoReturn:
        """Raise the `UsageError` for what argparse found wrong."""
        named = re.match(r"argument ([-/\w]+): ", message)
        if self.discreet:
            message = f"the option {named[1]} was not understood" if named else "the options were not understood"
        elif named and message.startswith("ignored explicit argument", named.end()):
            message = f"{named[1]} takes no value"
        elif named:
            message = f"{named[1]}: {message[named.end() :]}"
        raise self.mistake(message)

    def _misunderstood(self, unknown: Sequence[str]) -> UsageError:
        dashed = [word for word in unknown if word.startswith("-") and len(word) > 1]
        if not dashed:
            return self.mistake("this takes no words")
        what = "an option is unknown" if self.discreet else f"{_shown(dashed[0])} is no option of this"
        return self.mistake(f"{what}; put -- before words that begin with a dash" if self.has_words else what)


def _attribute(names: Sequence[str]) -> str:
    """The attribute of an argument, as argparse names it: its first long name, else its first."""
    name = next((name for name in names if name.startswith("--")), names[0])
    return name.lstrip("-").replace("-", "_")


def _default(settings: Mapping[str, Any]) -> Any:
    """The value of an argument that was not given, as argparse has it."""
    return settings.get("default", False if settings.get("action") == "store_true" else None)


def whole_number(written: str) -> int:
    """An option's value as an integer. The message does not repeat the value, which may be a word of a query."""
    if re.fullmatch(r"[+-]?[0-9]{1,18}", written) is None:
        raise _unfit("a whole number is expected")
    return int(written)


def decimal_number(written: str) -> float:
    """An option's value as a finite number."""
    if re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)", written) is None:
        raise _unfit("a number such as 0.3 is expected")
    return float(written)


def _unfit(expected: str) -> Exception:
    from argparse import ArgumentTypeError

    return ArgumentTypeError(expected)


class Invocation(NamedTuple):
    """What was asked: the arguments after the verb, and the surroundings they were typed in."""

    arguments: Sequence[str]
    env: Environment
    streams: Streams

    @property
    def wants_json(self) -> bool:
        """Whether `--json` stands among the options, known even where the rest of them is wrong."""
        head, _ = self._split()
        return "--json" in head

    def _split(self) -> tuple[Sequence[str], Sequence[str]]:
        """The arguments before and after the first `--`, which ends options."""
        if "--" not in self.arguments:
            return self.arguments, ()
        end = list(self.arguments).index("--")
        return self.arguments[:end], self.arguments[end + 1 :]

    def parse(self, parser: Parser) -> Options:
        """The options, and in `words` all words before and after a `--`.

        Raises `UsageError`, and `HelpAsked` where help was asked for.
        """
        head, tail = self._split()
        options = parser.parse(head)
        if parser.has_words:
            options.words = [*options.words, *tail]
        elif tail:
            raise parser.mistake("this takes no words")
        return options

    def query(self, options: Options) -> str:
        """The query: the words joined by spaces, or standard input without its one last line end.

        Bytes that are not UTF-8 become U+FFFD. Raises `UsageError` where both were given or the input is far too long.
        """
        words: list[str] = options.words
        if not options.query_stdin:
            return encodable(" ".join(words))
        if words:
            raise UsageError("Give the query either as words or on standard input (--query-stdin), not both.")
        data = self.streams.stdin.read(QUERY_LIMIT + 1) if self.streams.stdin is not None else b""
        if len(data) > QUERY_LIMIT:
            raise UsageError(f"The query on standard input is longer than {QUERY_LIMIT:,} bytes; shorten it.")
        text = data.decode("utf-8-sig", errors="replace")
        return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text

    def reference(self, options: Options, what: str) -> str:
        """The one thing that the words name, in the same way as a query. Raises `UsageError` where there is none."""
        reference = self.query(options).strip()
        if not reference:
            raise UsageError(f"Say which {what}.")
        return reference

    def place(self, options: Options) -> Place:
        """Where the question is asked: `--project`, else the working directory.

        By its real name, as that of the working directory is: what lies above a linked directory is what lies above
        the place that the link leads to.
        """
        return Place(Path(os.path.realpath(self.directory(options.project))))

    def directory(self, written: str | None) -> Path:
        """The directory that `--project` names, else the working directory; links are not resolved."""
        if written is None:
            return self.env.cwd
        if not written:
            raise UsageError("--project: the name is empty; name a directory, or leave the option out.")
        path = self.env.cwd / written
        if "\0" in written or not os.path.isdir(path):  # noqa: PTH112 - raises nothing
            raise UsageError(f"--project: {_shown(written)} is not a directory; name one that exists.")
        return path

    def answer(
        self, options: Options, shape: Mapping[str, Any], text: Callable[[Mapping[str, Any], Terminal], str]
    ) -> int:
        """Print an answer as `--json` or as text for people; exit code 0."""
        self.write(self.printed(options, shape, text))
        return 0

    def printed(
        self,
        options: Options,
        shape: Mapping[str, Any],
        text: Callable[[Mapping[str, Any], Terminal], str],
        *,
        coloured: bool = True,
    ) -> str:
        """What `answer` prints; without the colours of a terminal if so asked."""
        if options.json:
            return dumps(dict(shape), indent=2 if _is_terminal(self.streams.stdout) else None)
        terminal = self.terminal()
        return text(shape, terminal if coloured else terminal._replace(coloured=False))

    def terminal(self) -> Terminal:
        """What the text for people needs to know about where it appears."""
        return Terminal(cwd=self.env.cwd, home=self.env.home, coloured=_is_terminal(self.streams.stdout))

    def write(self, text: str) -> None:
        """One text on standard output, its last line ended."""
        _put(self.streams.stdout, text)

    def fail(self, error: RecallError) -> int:
        """One sentence on standard error and, with `--json`, the error object on standard output. The exit code."""
        if self.wants_json:
            try:
                self.write(dumps(error.as_json()))
            except BrokenPipeError:
                raise
            except OSError:  # a full disk behind standard output: the sentence still goes to standard error
                pass
        _put(self.streams.stderr, f"{PROGRAM}: {for_terminal(error.message, single_line=True)}")
        return 2 if isinstance(error, UsageError) else 3


def encodable(text: str) -> str:
    """An argument as UTF-8 text, also where the locale could not read it; bytes that are no UTF-8 become U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        pass
    else:
        return text
    try:
        return os.fsencode(text).decode("utf-8", "replace")
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)


def _shown(written: str) -> str:
    return for_terminal(encodable(written), single_line=True)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _put(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return
    stream.write(text if text.endswith("\n") else text + "\n")
    stream.flush()
