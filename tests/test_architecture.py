"""The invariants of docs/architecture.md, read off the source and off a real process."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import memory_recall

PACKAGE = Path(memory_recall.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# From the bottom up. A module may import its own layer and any below it.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "cancellation", "environment", "model", "records", ""),
    ("text",),
    ("files",),
    ("ranking",),
    ("index",),
    ("stores",),
    ("references", "recall", "catalogue"),
    ("demo", "faces", "__main__"),
)
RANK = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}

FACE_LIBRARIES = {"pygls", "lsprotocol", "mcp", "argparse", "termcolor"}

# Who may write, and what: see docs/architecture.md.
WRITERS = {
    "files/writing.py": "the one door",
    "files/locking.py": "a lock file where a directory cannot be locked",
    "index/cache.py": "the rebuildable index, in the user's cache",
    "recall/coven_index.py": "the private copy of the index, in a temporary directory",
    "recall/coven_binary.py": "the directory of the program's model, in the user's cache",
    "demo/": "its own world, in a temporary directory",
}
WRITING_CALLS = {
    "makedirs", "rename", "replace", "remove", "link", "symlink", "chmod", "chown", "truncate", "ftruncate", "utime",
    "setxattr", "unlink", "rmdir", "mkdir", "rmtree", "copy", "copy2", "copyfile", "copytree", "move", "mkdtemp",
    "mkstemp", "NamedTemporaryFile", "TemporaryDirectory",
}  # fmt: skip
WRITING_MODULES = {"os", "shutil", "tempfile", "pathlib"}


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def room_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return "" if parts == ("__init__",) else parts[0]


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively; one spelling only"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of_import(name: str) -> str | None:
    parts = name.split(".")
    if parts[0] != "memory_recall":
        return None
    return parts[1] if len(parts) > 1 and parts[1] in RANK else ""


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_dependencies_run_one_way(path: Path) -> None:
    level = RANK[room_of(path)]
    backwards = {name for name in imports_of(path) if (room := room_of_import(name)) is not None and RANK[room] > level}
    assert not backwards, f"{name_of(path)} reaches up into {sorted(backwards)}"


def test_no_module_needs_itself_to_be_read() -> None:
    """No circles, not even by way of a late import or of types alone."""
    names = {"memory_recall." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in MODULES}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    arrows = {name: {other for other in imports_of(path) if other in names} - {name} for name, path in names.items()}
    while free := {name for name, needed in arrows.items() if not needed & arrows.keys()}:
        arrows = {name: needed for name, needed in arrows.items() if name not in free}
    assert not arrows, f"a circle among {sorted(arrows)}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_the_core_knows_no_library_of_a_face(path: Path) -> None:
    if room_of(path) in ("faces", "demo"):
        return
    used = {name.split(".")[0] for name in imports_of(path)} & FACE_LIBRARIES
    assert not used, f"{name_of(path)} belongs to the core and imports {sorted(used)}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_the_writing_door_writes(path: Path) -> None:
    name = name_of(path)
    if any(name.startswith(allowed) for allowed in WRITERS):
        return
    found = list(writing_calls(ast.parse(path.read_text(encoding="utf-8"))))
    assert not found, f"{name} calls {found}; go through files/writing.py"


def writing_calls(tree: ast.Module) -> Iterator[str]:
    """Calls that can change a disk: methods of `Path`, functions of `os`, `shutil`, `tempfile`, `open` to write."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC"):
            yield f"line {node.lineno}: {node.attr}"
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        called = (
            function.attr
            if isinstance(function, ast.Attribute)
            else function.id
            if isinstance(function, ast.Name)
            else ""
        )
        owner = (
            function.value.id if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) else ""
        )
        if called in ("write_text", "write_bytes", "touch", "mkdir", "unlink", "rmdir", "symlink_to", "hardlink_to"):
            yield f"line {node.lineno}: {called}"
        elif called in WRITING_CALLS and owner in WRITING_MODULES:
            yield f"line {node.lineno}: {owner}.{called}"
        elif called == "open" and owner != "os" and any(is_writing_mode(argument) for argument in mode_arguments(node)):
            yield f"line {node.lineno}: open for writing"


def mode_arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]


def is_writing_mode(argument: ast.expr) -> bool:
    return (
        isinstance(argument, ast.Constant)
        and isinstance(argument.value, str)
        and 0 < len(argument.value) <= 3
        and set(argument.value) <= set("rwaxbt+")
        and bool(set(argument.value) & set("wax+"))
    )


def test_reading_a_store_never_imports_the_writing_door() -> None:
    for path in (PACKAGE / "stores").glob("*.py"):
        assert not any(name.startswith("memory_recall.files.writing") for name in imports_of(path)), name_of(path)


CONVERSIONS = {
    "file://": {"faces/lsp/uris.py"},
    "splitlines": {"text/positions.py"},
    "utf-16": {"text/positions.py"},
    "utf_16": {"text/positions.py"},
}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_positions_and_uris_are_converted_in_one_module_each(path: Path) -> None:
    """Only code counts: documentation may speak of what it does not do."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        word = (
            node.value
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
            else node.attr
            if isinstance(node, ast.Attribute)
            else ""
        )
        for forbidden, allowed in CONVERSIONS.items():
            assert forbidden not in word or name_of(path) in allowed, f"{name_of(path)} line {node.lineno}: {forbidden}"


GLOBALS = {"environ", "getcwd", "getenv", "home", "cwd", "expanduser"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_process_globals_are_read_in_the_environment_and_the_faces_only(path: Path) -> None:
    if room_of(path) in ("environment", "faces", "demo"):
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in GLOBALS and isinstance(node.value, ast.Name):
            assert node.value.id not in ("os", "Path", "pathlib"), f"{name_of(path)} line {node.lineno}: {node.attr}"
        if isinstance(node, ast.Attribute) and node.attr in ("now", "utcnow", "today"):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            assert owner not in ("datetime", "date"), (
                f"{name_of(path)} line {node.lineno}: the clock is Environment.now"
            )


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_stay_small_and_say_what_they_own(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.split("\n")) <= 420, f"{name_of(path)} has grown too large to hold one thought"
    assert ast.get_docstring(ast.parse(text)), f"{name_of(path)} does not say what it owns"


def test_the_first_answer_of_a_terminal_loads_no_library_it_does_not_use(tmp_path: Path) -> None:
    store = tmp_path / "project" / ".nemp" / "memories.json"
    store.parent.mkdir(parents=True)
    store.write_text('{"auth-flow": {"value": "JWT", "agent_id": "main"}}\n', encoding="utf-8")
    (tmp_path / "home").mkdir()
    probe = (
        "import sys\n"
        "from memory_recall.faces.cli.main import main\n"
        "try:\n    code = main(['nemp', 'recall', 'auth-flow'])\n"
        "except SystemExit as leaving:\n    code = leaving.code\n"
        "assert not code, code\n"
        "heavy = 'pygls lsprotocol pydantic yaml rapidfuzz filelock msgspec asyncio subprocess '\\\n"
        "'dataclasses inspect'.split()\n"
        "print('LOADED', sorted(set(heavy) & set(sys.modules)))\n"
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=store.parent.parent,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "LOADED []"
