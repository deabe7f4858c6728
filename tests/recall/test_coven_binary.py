"""The program: where it may come from, how it is started, and that it never outlives its question."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from coven_worlds import A, Coven, coven_in, install_program, state_of
from memory_recall.cancellation import Cancellation
from memory_recall.environment import Environment
from memory_recall.errors import Cancelled, RecallError, UsageError
from memory_recall.recall import coven_binary
from memory_recall.recall.coven_binary import find_binary, search, time_limit
from memory_recall.recall.coven_index import PrivateIndex, private_index
from worlds import World

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs of these tests are shell scripts")


@pytest.fixture
def coven(world: World) -> Coven:
    coven = coven_in(world)
    coven.claim(A, "Queue names are kebab-case.")
    return coven.finish()


@pytest.fixture
def index(tmp_path: Path) -> PrivateIndex:
    directory = tmp_path / "index"
    directory.mkdir()
    return PrivateIndex(tmp_path / "coven" / "memory", directory, directory / "db", directory / "vectors")


# --- finding -----------------------------------------------------------------------------------------------------


def test_the_named_program_goes_before_the_variable_and_that_before_path(coven: Coven, tmp_path: Path) -> None:
    named = install_program(tmp_path / "named")
    variable = install_program(tmp_path / "variable")
    env = coven.env(COVEN_MEMORY_BIN=str(variable))
    assert find_binary(str(named), env) == named
    assert find_binary(None, env) == variable
    assert find_binary(None, coven.env()) == coven.programs / "coven-memory"


def test_a_named_program_may_be_relative_to_where_it_was_typed_or_under_home(coven: Coven) -> None:
    install_program(coven.world.project / "tools")
    install_program(coven.world.home / "tools")
    assert find_binary("tools/coven-memory", coven.env()) == coven.world.project / "tools" / "coven-memory"
    assert find_binary("~/tools/coven-memory", coven.env()) == coven.world.home / "tools" / "coven-memory"


def test_a_bare_name_is_looked_for_on_path_only(coven: Coven) -> None:
    install_program(coven.world.project, name="other-memory")
    with pytest.raises(RecallError):
        find_binary("other-memory", coven.env())
    other = install_program(coven.programs, name="other-memory")
    assert find_binary("other-memory", coven.env()) == other
    assert find_binary(None, coven.env(COVEN_MEMORY_BIN="other-memory")) == other


@pytest.mark.parametrize("path", ["", ".", ":", "bin", "./bin:../project/bin", "/nowhere"])
def test_a_project_cannot_bring_its_own_program(world: World, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install_program(world.project)
    install_program(world.project / "bin")
    monkeypatch.chdir(world.project)
    with pytest.raises(RecallError) as caught:
        find_binary(None, world.env._replace(variables={"PATH": path}))
    assert caught.value.code == "binary-missing"
    assert "OpenCoven/coven" in caught.value.message
    assert "crates/coven-memory" in caught.value.message


@pytest.mark.parametrize("kind", ["missing", "directory", "not-executable", "relative"])
def test_a_variable_that_names_no_program_is_an_error_and_not_a_fallback(
    coven: Coven, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "program"
    if kind == "directory":
        path.mkdir()
    elif kind == "not-executable":
        path.write_text("#!/bin/sh\n")
    named = "bin/program" if kind == "relative" else str(path)
    with pytest.raises(RecallError) as caught:
        find_binary(None, coven.env(COVEN_MEMORY_BIN=named))
    assert caught.value.code == "binary-missing"


def test_a_file_on_path_that_may_not_be_executed_is_passed_over(coven: Coven, tmp_path: Path) -> None:
    (tmp_path / "early").mkdir()
    (tmp_path / "early" / "coven-memory").write_text("#!/bin/sh\n")
    (tmp_path / "earlier" / "coven-memory").mkdir(parents=True)
    path = os.pathsep.join(map(str, (tmp_path / "earlier", tmp_path / "early", coven.programs)))
    assert find_binary(None, coven.env(PATH=path)) == coven.programs / "coven-memory"


@pytest.mark.parametrize("found", ["not-executable", "relative", "nothing"])
def test_what_looks_like_the_program_and_does_not_count_is_named(world: World, tmp_path: Path, found: str) -> None:
    path = "/nowhere"
    if found == "not-executable":
        install_program(tmp_path / "bin").chmod(0o644)
        path = str(tmp_path / "bin")
    elif found == "relative":
        install_program(world.project / "tools")
        path = "/nowhere:tools"
    with pytest.raises(RecallError) as caught:
        find_binary(None, world.env._replace(variables={"PATH": path}))
    message = caught.value.message
    assert caught.value.code == "binary-missing"
    said = {"not-executable": "chmod +x", "relative": "(tools)", "nothing": "is not on PATH"}[found]
    assert said in message
    # The sentence must help in an editor as well, which has no options.
    assert "$COVEN_MEMORY_BIN" in message
    assert "OpenCoven/coven" in message
    assert "--binary" not in message


# --- running -------------------------------------------------------------------------------------------------------


def run(program: Path, index: PrivateIndex, env: Environment, query: str = "words", timeout: float = 20.0) -> bytes:
    return search(program, index, env, query=query, familiar="coven", count=7, timeout=timeout)


REPORT = """#!/bin/sh
printf '%s\\n' "$0" "$@" > "{out}"
{{ pwd; echo "$HOME"; echo "$FASTEMBED_CACHE_DIR"; echo "$MARK"; cat; echo "end of input"; }} >> "{out}"
echo "said"
echo "complained about words" >&2
"""


def report_of(env: Environment, index: PrivateIndex, tmp_path: Path, query: str = "-- $(touch x) 'y'") -> list[str]:
    out = tmp_path / "report"
    program = install_program(tmp_path / "program", REPORT.format(out=out))
    assert run(program, index, env, query) == b"said\n"
    return out.read_text(encoding="utf-8").split("\n")


def test_the_program_gets_an_argument_vector_and_its_own_copy(
    coven: Coven, index: PrivateIndex, tmp_path: Path
) -> None:
    report = report_of(coven.env(MARK="kept"), index, tmp_path)
    options = ["--familiar", "coven", "-k", "7", "--index", str(index.vectors), "--db", str(index.database)]
    assert report[1:12] == ["search", *options, "--", "-- $(touch x) 'y'"]
    cache = coven.world.home / ".cache" / "memory-recall" / "fastembed"
    assert report[12:] == [str(index.directory), str(coven.world.home), str(cache), "kept", "end of input", ""]


def test_a_familiar_that_begins_with_a_dash_is_still_a_value(index: PrivateIndex, tmp_path: Path, coven: Coven) -> None:
    out = tmp_path / "report"
    program = install_program(tmp_path / "program", REPORT.format(out=out))
    search(program, index, coven.env(), query="q", familiar="-x", count=1, timeout=20.0)
    assert "--familiar=-x" in out.read_text().split("\n")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"FASTEMBED_CACHE_DIR": "/models"}, "/models"),
        ({"FASTEMBED_CACHE_DIR": "models", "XDG_CACHE_HOME": "{tmp}/xdg"}, "{tmp}/xdg/memory-recall/fastembed"),
        ({"XDG_CACHE_HOME": "relative"}, "{tmp}/home/.cache/memory-recall/fastembed"),
        ({"XDG_CACHE_HOME": "{tmp}/coven/cache"}, "{tmp}/home/.cache/memory-recall/fastembed"),
    ],
)
def test_the_model_cache_is_a_lasting_place_outside_of_the_working_directory(
    coven: Coven, index: PrivateIndex, tmp_path: Path, variables: dict[str, str], expected: str
) -> None:
    given = {name: value.format(tmp=tmp_path) for name, value in variables.items()}
    assert report_of(coven.env(**given), index, tmp_path)[14] == expected.format(tmp=tmp_path)


def test_the_cache_directory_is_for_its_owner_only(coven: Coven, index: PrivateIndex, tmp_path: Path) -> None:
    report_of(coven.env(), index, tmp_path)
    cache = coven.world.home / ".cache" / "memory-recall"
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("#!/bin/sh\nexit 1\n", "binary-failed"),
        ("#!/bin/sh\nexit 2\n", "binary-failed"),
        ("#!/bin/sh\necho partial\nexit 101\n", "binary-crashed"),
        ("#!/bin/sh\nkill -9 $$\n", "binary-crashed"),
        ("#!/no/such/interpreter\n", "binary-failed"),
        ("\x7fELF nonsense", "binary-failed"),
    ],
)
def test_every_way_to_fail_has_its_code(
    coven: Coven, index: PrivateIndex, tmp_path: Path, script: str, code: str
) -> None:
    with pytest.raises(RecallError) as caught:
        run(install_program(tmp_path / "program", script), index, coven.env())
    assert caught.value.code == code
    assert "words" not in caught.value.message


@pytest.mark.parametrize("query", ["a\x00b", "\ud800", "x" * 5_000_000])
def test_a_query_that_no_program_can_be_given_is_a_usage_error(
    coven: Coven, index: PrivateIndex, tmp_path: Path, query: str
) -> None:
    program = install_program(tmp_path / "program", "#!/bin/sh\n")
    with pytest.raises(UsageError) as caught:
        run(program, index, coven.env(), query)
    assert caught.value.code == "query-invalid"
    assert len(caught.value.message) < 200
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(("written", "seconds"), [(None, 30.0), ("", 30.0), ("0.5", 0.5), ("86400", 86_400.0)])
def test_the_time_limit_is_the_variables(world: World, written: str | None, seconds: float) -> None:
    variables = {} if written is None else {"MEMORY_RECALL_COVEN_TIMEOUT": written}
    assert time_limit(world.env._replace(variables=variables)) == seconds


@pytest.mark.parametrize("written", ["0", "-1", "abc", "nan", "inf", "1e400", "90000", " "])
def test_a_time_limit_that_is_none_is_refused(world: World, written: str) -> None:
    with pytest.raises(UsageError) as caught:
        time_limit(world.env._replace(variables={"MEMORY_RECALL_COVEN_TIMEOUT": written}))
    assert "$MEMORY_RECALL_COVEN_TIMEOUT" in caught.value.message


def is_running(process_id: int) -> bool:
    try:
        status = Path(f"/proc/{process_id}/stat").read_text()
    except OSError:
        return False
    return status.rsplit(")", 1)[1].split()[0] not in "ZX"


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see processes")

FAMILY = """#!/bin/sh
sleep 300 &
echo $! > "{out}.part"
echo $$ >> "{out}.part"
mv "{out}.part" "{out}"
{then}
"""


def family(tmp_path: Path, then: str) -> Path:
    return install_program(tmp_path / "program", FAMILY.format(out=tmp_path / "family", then=then))


def assert_nobody_runs(tmp_path: Path) -> None:
    """A killed process is gone a moment after the signal; one that was not killed sleeps for minutes."""
    started = [int(number) for number in (tmp_path / "family").read_text().split()]
    for _ in range(500):
        if not any(is_running(number) for number in started):
            return
        threading.Event().wait(0.01)
    pytest.fail("the program, or what it started, outlived the question")


@needs_proc
def test_a_program_that_takes_too_long_is_stopped_with_its_children(
    coven: Coven, index: PrivateIndex, tmp_path: Path
) -> None:
    with pytest.raises(RecallError) as caught:
        run(family(tmp_path, "trap '' TERM; echo begun; wait"), index, coven.env(), timeout=2.0)
    assert caught.value.code == "binary-timeout"
    assert caught.value.__context__ is None
    assert "$MEMORY_RECALL_COVEN_TIMEOUT" in caught.value.message
    assert str(coven.world.home / ".cache" / "memory-recall" / "fastembed") in caught.value.message
    assert_nobody_runs(tmp_path)


@needs_proc
def test_a_program_that_closes_its_output_and_stays_is_stopped(
    coven: Coven, index: PrivateIndex, tmp_path: Path
) -> None:
    with pytest.raises(RecallError) as caught:
        run(family(tmp_path, "exec >&-; wait"), index, coven.env(), timeout=2.0)
    assert caught.value.code == "binary-timeout"
    assert_nobody_runs(tmp_path)


@needs_proc
def test_a_child_that_holds_the_output_open_does_not_hold_the_answer(
    coven: Coven, index: PrivateIndex, tmp_path: Path
) -> None:
    """Not even where hardly any time is left: the answer is there."""
    assert run(family(tmp_path, "echo answer"), index, coven.env(), timeout=0.001) == b"answer\n"
    assert_nobody_runs(tmp_path)


@needs_proc
def test_a_cancelled_question_stops_its_program(coven: Coven, index: PrivateIndex, tmp_path: Path) -> None:
    program = family(tmp_path, "wait")
    cancellation = Cancellation()

    def cancel_when_started() -> None:
        while not (tmp_path / "family").exists() and threading.main_thread().is_alive():
            threading.Event().wait(0.01)
        cancellation.cancel()

    threading.Thread(target=cancel_when_started, daemon=True).start()
    with pytest.raises(Cancelled):
        search(
            program,
            index,
            coven.env(),
            query="q",
            familiar="coven",
            count=1,
            timeout=20.0,
            cancellation=cancellation,
        )
    assert_nobody_runs(tmp_path)


def test_endless_output_is_stopped(
    coven: Coven, index: PrivateIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coven_binary, "_OUTPUT_LIMIT", 100_000)
    with pytest.raises(RecallError) as caught:
        run(install_program(tmp_path / "program", "#!/bin/sh\nwhile :; do echo again; done\n"), index, coven.env())
    assert caught.value.code == "output-unknown"


def test_much_output_arrives_whole(coven: Coven, index: PrivateIndex, tmp_path: Path) -> None:
    script = (
        "#!/bin/sh\ni=0\nwhile [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done\n"
    )
    assert len(run(install_program(tmp_path / "program", script), index, coven.env())) == 3_000 * 41


def test_the_live_index_is_not_among_what_the_program_is_shown(coven: Coven) -> None:
    before = {path: state_of(path) for path in coven.root.iterdir()}
    with private_index(coven.root, coven.env()) as index:
        run(coven.programs / "coven-memory", index, coven.env())
        assert (index.directory / "archival.sqlite3").exists()
    assert {path: state_of(path) for path in coven.root.iterdir()} == before
    assert str(coven.root) not in "".join(coven.starts()[0]["argv"])


@needs_proc
def test_a_signal_in_the_moment_of_the_start_leaves_no_program(
    coven: Coven, index: PrivateIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exception of a signal's handler comes while the program is being started."""

    class Ended(BaseException):
        pass

    def end(number: int, frame: object) -> None:
        raise Ended

    started = []
    popen = subprocess.Popen
    interrupted = threading.Event()

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*arguments, **options))
        os.kill(os.getpid(), signal.SIGUSR1)
        interrupted.wait(0.2)  # the main thread meets the exception before the program is known
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", start)
    program = install_program(tmp_path / "program", "#!/bin/sh\nexec sleep 300\n")
    before = signal.signal(signal.SIGUSR1, end)
    try:
        with pytest.raises(Ended):
            run(program, index, coven.env())
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert started[0].poll() is not None
