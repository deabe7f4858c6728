"""One full record as text for people: what is remembered, whether it holds, where it comes from, all its fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory_recall.faces.present.pieces import block, indented, line, number, preview, problems
from memory_recall.faces.present.terminal import Terminal
from memory_recall.text.json_values import dumps
from memory_recall.text.untrusted import for_terminal


def show(answer: Mapping[str, Any], terminal: Terminal) -> str:
    """All records that a reference names, or the references that come near where there is none."""
    records: Sequence[Mapping[str, Any]] = answer["records"]
    if not records:
        lines = [f'❌ Nothing here is called "{preview(answer["reference"])}"']
        near = [line(suggestion) for suggestion in answer.get("suggestions") or ()]
        lines.append(f"Did you mean {' or '.join(near)}?" if near else "`memory-recall search` looks for words.")
    else:
        lines = "\n\n".join(record(shape, terminal) for shape in records).split("\n")
    return "\n".join([*lines, *problems(answer, terminal)])


def record(shape: Mapping[str, Any], terminal: Terminal) -> str:
    """One record."""
    name, title = f"[{shape['system']}:{line(shape['id'])}]", shape.get("title")
    lines = [terminal.strong(name) + ("" if title in (None, "", shape["id"]) else f" {line(title)}")]
    lines.append(indented(block(shape.get("text"))))
    lines += [terminal.warning(f"⚠ {line(standing['message'])}") for standing in shape.get("standings") or ()]
    lines += ["", *_provenance(shape["provenance"], terminal)]
    if shape.get("tags"):
        lines.append(f"Tags: {', '.join(line(tag) for tag in shape['tags'])}")
    if shape.get("fields"):
        lines += ["Record:", terminal.faint(indented(for_terminal(dumps(dict(shape["fields"]), indent=2))))]
    return "\n".join(lines)


def _provenance(provenance: Mapping[str, Any], terminal: Terminal) -> list[str]:
    where = terminal.place(provenance["path"], provenance.get("line"))
    lines = [f"Source: {line(provenance.get('source'))} ({where})"]
    for label, name in (
        ("Author", "author"),
        ("Attested by", "attested_by"),
        ("Attestation", "attestation_type"),
        ("Created", "created"),
        ("Updated", "updated"),
    ):
        if provenance.get(name) is not None:
            lines.append(f"{label}: {line(provenance[name])}")
    lines.append(f"Confidence: {number(provenance.get('confidence'))}")
    verified = provenance.get("verified")
    if verified is not None:
        lines.append(f"Verified: {terminal.good('yes') if verified else terminal.warning('no')}")
    return lines
