"""The verb `demo`: the three recalls as a user types them, then a hover through a real server process.

Everything happens in a copy of the sample world. Each step is a process of its own with that world's home, so what is
shown is what a user would see, and nothing of the user's is read or written.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from memory_recall.errors import RecallError, UsageError
from memory_recall.faces.cli.invocation import PROGRAM, Invocation, Parser
from memory_recall.faces.present.popup import hovered
from memory_recall.faces.present.terminal import Terminal

if TYPE_CHECKING:
    from memory_recall.demo.editor import Editor
    from memory_recall.demo.world import World

STEPS = (
    ("/nemp:recall session-tokens", ("nemp", "recall", "session-tokens")),
    ("/memory recall webhook", ("memory", "recall", "webhook")),
    (
        "the memory-recall skill, in a Coven (a stand-in plays its program)",
        ("coven", "recall", "how many requests does the tracking API allow"),
    ),
)
HOVERED = ("[[nemp:session-tokens]]", "[[nemp:deploy-region-v1]]")

_PYTHON = (sys.executable, "-P", "-m", "memory_recall")
_STEP_SECONDS = 60


def demo(invocation: Invocation) -> int:
    """Run the demo and show it."""
    parser = Parser(
        "demo",
        "The three recalls and a hover on a sample project with a home of its own. Nothing of yours is touched.",
        arguments="",
        example="memory-recall demo --keep /tmp/harbour",
    )
    parser.add_argument("--keep", metavar="DIR", help="build the sample world there and leave it (a new directory)")
    options = invocation.parse(parser)
    from memory_recall.demo import world

    with ExitStack() as stack:
        if options.keep is None:
            root = stack.enter_context(world.temporary())
        else:
            root = invocation.env.cwd / options.keep
            if root.exists() and (not root.is_dir() or any(root.iterdir())):
                raise UsageError("--keep: name a directory that does not exist yet or is empty.")
        sample = world.build(root)
        answer = {
            "v": 1,
            "world": str(sample.root),
            "kept": options.keep is not None,
            "steps": [_step(typed, words, sample) for typed, words in STEPS],
            "hovers": _hovers(sample),
        }
        return invocation.answer(options, answer, _text)


def _step(typed: str, words: tuple[str, ...], sample: World) -> dict[str, Any]:
    import subprocess

    done = subprocess.run(
        [*_PYTHON, *words],
        cwd=sample.project,
        env=sample.variables(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=_STEP_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip() or f"exit code {done.returncode}"
        raise RecallError("demo", f"`{PROGRAM} {shlex.join(words)}` did not answer in the sample world: {said}")
    return {"typed": typed, "command": [PROGRAM, *words], "output": done.stdout}


def _hovers(sample: World) -> list[dict[str, Any]]:
    from memory_recall.demo.editor import Editor, ServerSilent

    try:
        with Editor([*_PYTHON, "lsp"], sample.project, sample.variables()) as editor:
            lines = re.split("\r\n|\n|\r", editor.open(sample.note))
            return [_hover(editor, sample, lines, reference) for reference in HOVERED]
    except ServerSilent as failure:
        raise RecallError("demo", f"The language server did not answer in the sample world: {failure}.") from failure


def _hover(editor: Editor, sample: World, lines: Sequence[str], reference: str) -> dict[str, Any]:
    number = next(number for number, line in enumerate(lines) if reference in line)
    start = lines[number].index(reference)
    inside = start + len("[[")
    hover = editor.ask("textDocument/hover", sample.note, number, inside)
    if not hover:
        raise RecallError("demo", f"The language server had nothing to say about {reference} in the sample note.")
    return {
        "command": [PROGRAM, "lsp"],
        "note": sample.note.relative_to(sample.project).as_posix(),
        "line": number + 1,
        "column": start + 1,
        "source": lines[number],
        "reference": reference,
        "text": _content(hover["contents"]),
        "definition": editor.ask("textDocument/definition", sample.note, number, inside),
    }


def _content(contents: Any) -> str:
    return str(contents["value"] if isinstance(contents, Mapping) else contents)


def _text(answer: Mapping[str, Any], terminal: Terminal) -> str:
    parts = [terminal.faint("A sample project, with a home and a Coven store of its own; nothing of yours is read.")]
    for step in answer["steps"]:
        parts += ["", terminal.strong(f"› {step['typed']}"), terminal.faint(f"$ {shlex.join(step['command'])}")]
        parts.append(step["output"].rstrip("\n"))
    server = shlex.join(answer["hovers"][0]["command"])
    parts += ["", terminal.strong("› the mouse rests on a reference in a note")]
    parts.append(
        terminal.faint(f"$ {server}  (a process of its own; textDocument/hover over standard input and output)")
    )
    for hover in answer["hovers"]:
        start = hover["column"] - 1
        parts += ["", terminal.faint(f"{hover['note']}:{hover['line']}")]
        parts.append(hovered(hover["source"], start, start + len(hover["reference"]), hover["text"]))
    parts.append("")
    kept = f"The sample project stays in {terminal.path(answer['world'])}."
    gone = "The sample project is removed again; `memory-recall demo --keep DIR` leaves it for a look."
    parts.append(terminal.faint(kept if answer["kept"] else gone))
    return "\n".join(parts)
