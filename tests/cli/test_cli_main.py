"""What every verb has in common: finding it, its help, its exit codes, its manners towards a shell."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memory_recall import __version__
from memory_recall.errors import RecallError
from memory_recall.faces.cli import main as main_module
from memory_recall.faces.cli.invocation import Invocation, Streams
from memory_recall.faces.cli.main import VERBS, Verb
from worlds import REPOSITORY, RunCli, World

VERB_NAMES = [" ".join(name) for name in VERBS]


def test_the_version_is_that_of_the_package(run_cli: RunCli) -> None:
    ran = run_cli(["--version"])
    assert (ran.code, ran.stdout) == (0, f"memory-recall {__version__}\n")


@pytest.mark.parametrize("asking", ["--help", "-h", "help"])
def test_the_overview_names_every_verb(cli: RunCli, asking: str) -> None:
    ran = cli([asking])
    assert ran.code == 0
    for name in VERB_NAMES:
        assert name in ran.stdout


def test_the_overview_of_a_group_names_its_verbs_only(cli: RunCli) -> None:
    ran = cli(["coven", "--help"])
    assert "coven open" in ran.stdout
    assert "nemp recall" not in ran.stdout


@pytest.mark.parametrize("name", VERBS, ids=VERB_NAMES)
def test_every_verb_has_help_with_a_usage_line_and_an_example(cli: RunCli, name: tuple[str, ...]) -> None:
    ran = cli([*name, "--help"])
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"usage: memory-recall {' '.join(name)}")
    assert "SUPPRESS" not in ran.stdout
    assert f"example:\n  memory-recall {' '.join(name)}" in ran.stdout
    assert ("--json" in ran.stdout) is (name != ("lsp",))


@pytest.mark.parametrize(
    "arguments",
    [[], ["nonsense"], ["nemp"], ["nemp", "forget"], ["--json", "nemp", "recall", "x"], [""], ["recall"], ["check"]],
)
def test_a_missing_or_unknown_verb_is_one_sentence_and_exit_code_2(cli: RunCli, arguments: list[str]) -> None:
    ran = cli(arguments)
    assert ran.code == 2
    assert ran.stderr.startswith("memory-recall: ")
    assert ran.stderr.count("\n") == 1
    assert "`memory-recall" in ran.stderr


@pytest.mark.parametrize("name", [name for name in VERBS if name != ("lsp",)])
def test_a_usage_error_with_json_is_also_an_object(cli: RunCli, name: tuple[str, ...]) -> None:
    ran = cli([*name, "--json", "--no-such-option"])
    assert ran.code == 2
    assert ran.stderr.count("\n") == 1
    error = ran.json
    assert (error["v"], error["error"]["code"], error["error"]["recoverable"]) == (1, "usage", True)
    assert ran.stderr == f"memory-recall: {error['error']['message']}\n"


def test_json_after_a_double_dash_is_a_word_and_asks_for_no_object(cli: RunCli) -> None:
    ran = cli(["show", "--no-such-option", "--", "--json"])
    assert (ran.code, ran.stdout) == (2, "")


def failing(monkeypatch: pytest.MonkeyPatch, failure: BaseException) -> None:
    """Make the verb `demo` fail in a way that nobody foresaw."""

    def fail(invocation: Invocation) -> int:
        raise failure

    monkeypatch.setattr(main_module, "_failing_verb", fail, raising=False)
    monkeypatch.setitem(VERBS, ("demo",), Verb(main_module.__name__, "_failing_verb", "fails"))


def test_a_failed_recall_is_exit_code_3_with_its_sentence(cli: RunCli, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, RecallError("no-store", "There is no store; make one.", recoverable=False))
    ran = cli(["demo", "--json"])
    assert (ran.code, ran.stderr) == (3, "memory-recall: There is no store; make one.\n")
    assert ran.json == {
        "v": 1,
        "error": {"code": "no-store", "message": "There is no store; make one.", "recoverable": False},
    }


def test_the_unforeseen_is_a_sentence_without_a_traceback_and_without_the_failures_text(
    cli: RunCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, KeyError("a private query"))
    ran = cli(["demo"])
    assert ran.code == 3
    assert ran.stderr.count("\n") == 1
    assert "Traceback" not in ran.stderr
    assert "private" not in ran.stderr
    assert "MEMORY_RECALL_DEBUG=1" in ran.stderr


def test_the_traceback_is_there_for_whoever_asks(cli: RunCli, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, KeyError("here"))
    assert "Traceback" in cli(["demo"], env={"MEMORY_RECALL_DEBUG": "1"}).stderr


def test_what_the_system_refuses_is_told_in_its_words(cli: RunCli, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, OSError(28, "No space left on device", "/secret"))
    ran = cli(["demo"])
    assert (ran.code, ran.stderr) == (
        3,
        "memory-recall: The system refused: No space left on device; see to that and try again.\n",
    )


def test_control_characters_in_an_error_cannot_move_the_cursor(cli: RunCli) -> None:
    ran = cli(["show", "--\x1b[31mred\x07\nnext"])
    assert ran.code == 2
    assert "\x1b" not in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_an_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    failing(monkeypatch, KeyboardInterrupt())
    assert main_module.main(["demo"]) == 130
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_while_reading_a_query_ends_quietly(world: World) -> None:
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", INTERRUPTED],
        cwd=world.project,
        env={"HOME": str(world.home), "PATH": os.environ["PATH"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"")


# Says that it is ready from inside the read, so that the signal finds it waiting there.
INTERRUPTED = """
import sys
from memory_recall.faces.cli import main
class Announced:
    def __init__(self, stream): self.stream = stream
    def read(self, size):
        sys.stdout.write("ready\\n"); sys.stdout.flush()
        return self.stream.read(size)
class Stdin:
    buffer = Announced(sys.stdin.buffer)
sys.stdin = Stdin()
sys.exit(main.main(["show", "--query-stdin"]))
"""


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_reader_that_has_gone_is_met_with_silence(world: World) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "memory_recall", "--help"],
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=20,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["--help"], ["doctor", "--json"]])
def test_a_full_disk_behind_standard_output_is_a_sentence(world: World, arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "memory_recall", *arguments],
            cwd=world.project,
            env={"HOME": str(world.home), "PATH": os.environ["PATH"]},
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=20,
            check=False,
        )
    assert done.returncode == 3
    assert (
        done.stderr.decode()
        == "memory-recall: The system refused: No space left on device; see to that and try again.\n"
    )


@pytest.mark.skipif(os.name == "nt", reason="closed descriptors of POSIX")
def test_closed_standard_streams_are_no_crash(world: World) -> None:
    command = f"exec {sys.executable} -P -m memory_recall doctor <&- >&-"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=world.project,
        env={"HOME": str(world.home), "PATH": os.environ["PATH"]},
        stderr=subprocess.PIPE,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_output_is_utf8_whatever_the_locale(world: World, run_cli: RunCli, locale: dict[str, str]) -> None:
    world.write("project/.nemp/memories.json", {"部署流程": "先跑数据库迁移 🚀"})
    ran = run_cli(["show", "部署流程"], env=locale)
    assert ran.code == 0
    assert "先跑数据库迁移 🚀" in ran.stdout


def test_bytes_that_are_no_text_are_replaced_in_the_query(world: World, run_cli: RunCli) -> None:
    ran = run_cli([b"show", b"caf\xe9-\xff", b"--json"])
    assert ran.code == 0
    assert ran.json["reference"] == "caf\ufffd-\ufffd"


def test_a_deleted_working_directory_is_no_crash(world: World, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone} && rmdir {gone} && exec {sys.executable} -P -m memory_recall show x"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env={"HOME": str(world.home), "PATH": os.environ["PATH"]},
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")
@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_for_terminals_and_honours_no_color(
    world: World, variables: dict[str, str], *, coloured: bool
) -> None:
    world.write("project/.nemp/memories.json", {"auth-flow": "JWT"})
    assert (b"\x1b[1m" in on_a_terminal(world, variables)) is coloured


def on_a_terminal(world: World, variables: dict[str, str]) -> bytes:
    import pty  # not on Windows

    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "memory_recall", "show", "auth-flow"],
            cwd=world.project,
            env={"HOME": str(world.home), "PATH": os.environ["PATH"], "TERM": "xterm-256color", **variables},
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
            timeout=20,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return os.read(ours, 1 << 16)
    finally:
        os.close(ours)
        os.close(theirs)


def test_without_a_terminal_there_is_no_colour_and_no_termcolor(world: World, cli: RunCli) -> None:
    world.write("project/.nemp/memories.json", {"auth-flow": "JWT"})
    assert "\x1b" not in cli(["show", "auth-flow"]).stdout


def test_termcolor_is_imported_only_where_there_is_a_terminal() -> None:
    for path in (REPOSITORY / "lsp_server" / "memory_recall" / "faces").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        at_the_top = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
        assert "termcolor" not in at_the_top, path


def test_a_module_run_is_the_same_program(world: World) -> None:
    streams = Streams(None, None, None)
    assert main_module.run(["--version"], world.env, streams) == 0
