"""What each recall answers, as text for people. Takes the very shapes that `--json` prints; knows no store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory_recall.faces.present.budgeted import cut, left_out, rest_of
from memory_recall.faces.present.pieces import (
    block,
    counted,
    indented,
    joined,
    line,
    member,
    number,
    preview,
    problems,
)
from memory_recall.faces.present.terminal import Terminal
from memory_recall.text.untrusted import for_terminal

Shape = Mapping[str, Any]

WEAK = "--include-weak"
"""The option that has returned what is otherwise held back."""
QUERY_LENGTH = 200
"""How many characters of a query are repeated in an answer."""


_NAMED = 3
"""How many of what goes on meanwhile are named."""


def nemp(answer: Shape, terminal: Terminal) -> str:
    """A nemp recall: one memory whole, several as a list, or what to try where there is none."""
    memories: Sequence[Shape] = answer["memories"]
    query = _asked(answer)
    found = len(memories) + left_out(answer)
    if not found:
        no_store = any(member(problem, "code") == "no-store" for problem in answer.get("problems") or ())
        words = "" if no_store else "Try other words; "
        tip = f"{words}`memory-recall search` looks in all stores, `memory-recall doctor` lists them."
        lines = [f'❌ No memories found for "{query}"', "", tip]
    elif memories and (found == 1 or answer.get("match") == "exact"):  # one key, were it written down twice
        lines = "\n\n".join("\n".join(_nemp_memory(memory, terminal)) for memory in memories).split("\n")
    else:
        lines = [f'🔍 Found {counted(found, "memory", "memories")} matching "{query}":']
        if memories:
            listed = [_nemp_listed(memory, terminal, whole="budget" in answer) for memory in memories]
            lines += ["", *listed, "", "Use /nemp:recall <exact-key> for full details."]
    if answer.get("match") == "related":
        lines += ["", terminal.faint(f'Nothing says "{query}" itself: this is what is related to it.')]
    omitted = answer.get("omitted")
    if omitted:
        lines.append(terminal.faint(f"{omitted} more matched; --limit shows more, up to 50."))
    for shadowed in answer.get("shadowed") or ():
        where = terminal.place(member(shadowed, "path"), member(shadowed, "line"))
        lines.append(
            terminal.faint(f"Also in {line(member(shadowed, 'source'))} ({where}), shadowed by the project's own.")
        )
    lines += cut(answer, terminal)
    return "\n".join([*lines, *problems(answer, terminal)])


def _asked(answer: Shape) -> str:
    """The query as it is repeated to whoever asked: on one line, and not a whole pasted file."""
    query = for_terminal(str(answer["query"]), single_line=True)
    return query if len(query) <= QUERY_LENGTH else query[:QUERY_LENGTH] + "..."


def _nemp_memory(memory: Shape, terminal: Terminal) -> list[str]:
    vitality, confidence = memory.get("vitality"), memory.get("confidence")
    score = number(member(vitality, "score"))
    state = member(vitality, "state")
    certainty = member(confidence, "score") if isinstance(confidence, Mapping) else confidence
    where = terminal.place(memory["path"], memory.get("line"))
    rest = rest_of(memory, terminal)
    lines = [
        f"🔍 Memory: {terminal.strong(line(memory['key']))}",
        f"Value: {_continued(block(_value(memory)))}",
        *([f"    {rest}"] if rest else []),
        joined(
            f"Type: {line(memory.get('type'))}",
            f"Vitality: {score}" + (f" ({line(state)})" if state is not None else ""),
            f"Confidence: {number(certainty)}",
        ),
        f"Agent: {line(memory.get('agent_id'))}",
        f"Updated: {line(memory.get('updated') or memory.get('created'))}",
        f"Source: {line(memory['source'])} ({where})",
    ]
    lines += [terminal.warning(f"⚠ {line(member(standing, 'message'))}") for standing in memory.get("standings") or ()]
    return lines


def _value(memory: Shape) -> Any:
    """The value as its store spells it; None where there is none at all."""
    spelt = memory.get("text")
    return memory["value"] if spelt is None else spelt or None


def _continued(text: str) -> str:
    """A block whose later lines stand apart from the fields around it, which they could imitate."""
    return text.replace("\n", "\n    ")


def _nemp_listed(memory: Shape, terminal: Terminal, *, whole: bool) -> str:
    """One memory of several: a preview, or where a budget decides how much fits, all that was given of it."""
    key = terminal.strong(f"[{line(memory['key'])}]")
    elsewhere = "" if memory["source"] == "project" else terminal.faint(f" ({line(memory['source'])})")
    if whole:
        shown = " ".join(part for part in (_continued(block(_value(memory))), rest_of(memory, terminal)) if part)
    else:  # nemp's own form: each line ends in dots, cut or not
        shown = preview(_value(memory)).removesuffix("...") + "..."
    doubts = "".join(f" {terminal.warning('⚠ ' + _in_short(standing))}" for standing in memory.get("standings") or ())
    return f"{key} (by {line(memory.get('agent_id'))}) - {shown}{elsewhere}{doubts}"


def _in_short(standing: Any) -> str:
    """Why a memory may no longer hold, in a word or two."""
    code, successor = line(member(standing, "code")), member(standing, "successor")
    return f"{code} by {line(successor)}" if successor else code


def recount(answer: Shape, terminal: Terminal) -> str:
    """What `nemp recount` changed, and what it left; nothing is claimed of what was not checked."""
    changes: Sequence[Shape] = answer["changes"]
    left: Sequence[Shape] = answer.get("left") or ()
    blocks = []
    if changes:
        title = f"✓ Corrected {counted(len(changes), 'memory', 'memories')} from the access log:"
        blocks.append([title, "", *(_recounted(change, terminal) for change in changes)])
    elif answer["checked"]:
        agreeing = f"the read counters of {counted(answer['checked'], 'memory', 'memories')}"
        blocks.append([f"✓ Nothing to correct: {agreeing} agree with the access log."])
    if left:
        title = f"Left as they are, because the access log does not have all their reads: {len(left)}"
        blocks.append([title, "", *(_left(memory, terminal) for memory in left)])
    found = problems(answer, terminal)
    if not blocks and not found:
        blocks.append(["Nothing to recount: no memory here has read counters."])
    return "\n".join(["\n\n".join("\n".join(lines) for lines in blocks), *found]).lstrip("\n")


def _left(memory: Shape, terminal: Terminal) -> str:
    name = terminal.strong(f"[{line(memory['key'])}]")
    return f"{name} last read {line(memory.get('last_read'))}; {line(memory.get('reason'))}"


def _recounted(change: Shape, terminal: Terminal) -> str:
    moves = [
        f"{name} {number(member(move, 'from'))} → {number(member(move, 'to'))}"
        for name, move in change.items()
        if isinstance(move, Mapping) and "from" in move and "to" in move and move["from"] != move["to"]
    ]
    return f"{terminal.strong('[' + line(change['key']) + ']')} {', '.join(moves)}"


def memory(answer: Shape, terminal: Terminal) -> str:
    """A recall of the project's `.agent` memories: what was found, what was left out, and the record it left."""
    memories: Sequence[Shape] = answer["memories"]
    lines = [_agent_heading(answer)]
    for entry in memories:
        lines += ["", *_agent_memory(entry, terminal)]
    filtered = [
        f"{answer.get(counter)} {reason}"
        for counter, reason in (
            ("expired_skipped", "expired (--include-expired shows them)"),
            ("low_confidence_skipped", "below the confidence asked for (--min-confidence)"),
            ("scope_filtered_skipped", "of another scope (--scope)"),
            ("held_back", f"too weak to answer ({WEAK} shows them)"),
        )
        if answer.get(counter)
    ]
    lines.append("")
    if filtered:
        lines.append(f"Left out: {', '.join(filtered)}.")
    if not memories and not left_out(answer):
        lines.append(
            f"Try {'these, or ' if filtered else ''}other words; `memory-recall search` looks in all stores, "
            "`memory-recall show MEM-…` shows one by its id."
        )
    lines += cut(answer, terminal)[1:]
    lines += _continuity(answer.get("continuity"))
    if not any(member(problem, "code") == "run-not-recorded" for problem in answer.get("problems") or ()):
        lines.append(terminal.faint(f"Run: {line(answer.get('run_id'))}"))
    return "\n".join([*lines, *problems(answer, terminal)])


def _agent_heading(answer: Shape) -> str:
    query, found = _asked(answer), len(answer["memories"]) + left_out(answer)
    more = answer["matched"] - found - (answer.get("held_back") or 0)
    if answer.get("ranked_by") == "confidence":
        about = f' in "{query}"' if query.strip() else ""
        of_all = f"{found} of {answer['matched']}" if more > 0 else f"{found}"
        what = f"{of_all} {'memory' if answer['matched'] == 1 else 'memories'}, ranked by confidence and recency:"
        return f"{'🔍' if found else '❌'} No words to search by{about}; {what if found else 'no memories found'}"
    about = f' for "{query}"' if query.strip() else ""
    if found:
        of_all = f", {more} more matched" if more > 0 else ""
        return f"🔍 Found {counted(found, 'memory', 'memories')}{about}{of_all}:"
    return f"❌ No memories found{about} among {counted(answer['scanned'], 'entry', 'entries')}"


def _agent_memory(entry: Shape, terminal: Terminal) -> list[str]:
    tags, rest = entry.get("tags"), rest_of(entry, terminal)
    lines = [
        f"{terminal.strong('[' + line(entry['memory_id']) + ']')} {line(entry.get('title') or '(no title)')}",
        indented(block(entry.get("content"))) + (f"\n    {rest}" if rest else ""),
        "  "
        + joined(
            f"Type: {line(entry.get('type'))}",
            f"Confidence: {number(entry.get('confidence'))}",
            f"Created: {line(entry.get('created_at'))}",
            f"Tags: {', '.join(line(tag) for tag in tags)}" if isinstance(tags, list) and tags else None,
        ),
        "  " + terminal.faint(f"Source: {terminal.place(entry.get('path'), entry.get('line'))}"),
    ]
    if entry.get("expired"):
        lines.insert(2, "  " + terminal.warning(f"⚠ It expired at {line(entry.get('expires_at'))}."))
    return lines


def _continuity(continuity: Any) -> list[str]:
    said = joined(
        _named(member(continuity, "live_sessions"), "session_id", "live session"),
        _named(member(continuity, "open_waitpoints"), "waitpoint_id", "open waitpoint"),
    )
    return [f"Meanwhile: {said}"] if said else []


def _named(found: Any, name: str, noun: str) -> str | None:
    """How many there are, and the names of the first few."""
    if not isinstance(found, list | tuple) or not found:
        return None
    names = [line(member(each, name)) for each in found[:_NAMED]]
    if len(found) > _NAMED:
        names.append(f"{len(found) - _NAMED} more")
    return f"{counted(len(found), noun)} ({', '.join(names)})"


def coven(answer: Shape, terminal: Terminal) -> str:
    """Claims of the Coven store with who attested each. The query is not repeated: it may appear nowhere."""
    hits: Sequence[Shape] = answer["hits"]
    found = len(hits) + left_out(answer)
    if found:
        lines = [f"🔍 Found {counted(found, 'claim')}:"]
    else:
        lines = [f"❌ No claims found{': ' + line(answer['note']) if answer.get('note') else ''}"]
        if answer.get("note") and answer.get("manifest_hash") is None:
            lines += [
                "",
                "There is no ~/.coven/memory/manifest.jsonl: nothing was promoted to Coven's memory here yet.",
            ]
    for hit in hits:
        lines += ["", *_claim(hit, terminal)]
    untold = [
        f"Dropped: {answer['dropped']} ({_reasons(answer.get('dropped_reasons'))})" if answer.get("dropped") else None,
        f"Outside of the period: {answer['filtered']}" if answer.get("filtered") else None,
        f"More matched: {answer['omitted']}; -k shows more, up to 20" if answer.get("omitted") else None,
    ]
    lines += ["", *(said for said in untold if said)] if any(untold) else []
    lines += cut(answer, terminal)
    if answer.get("manifest_hash"):
        read = f"Manifest: sha256 {line(answer['manifest_hash'])[:16]}… read {line(answer.get('queried_at'))}"
        lines += ["", terminal.faint(read)]
    return "\n".join([*lines, *problems(answer, terminal)])


def _claim(hit: Shape, terminal: Terminal) -> list[str]:
    source, rest = hit.get("source_context"), rest_of(hit, terminal)
    lines = [
        f"{terminal.strong('[' + line(hit['ulid']) + ']')} {line(hit.get('title'))}",
        indented(block(hit.get("snippet"))) + (f"\n    {rest}" if rest else ""),
        f"  Attested by {line(hit.get('attested_by'))} ({line(hit.get('attestation_type'))})"
        f" | Confidence: {line(hit.get('confidence'))} | Promoted: {line(hit.get('promoted_at'))}",
    ]
    if hit.get("indexed_text_differs"):
        shown = "shown is the verified text" if hit.get("verified") else "shown is the index's, which nobody attested"
        lines.append("  " + terminal.warning(f"⚠ The index holds another text than the claim's snapshot; {shown}."))
    if hit.get("superseded_by"):
        lines.append("  " + terminal.warning(f"⚠ Superseded by {line(hit['superseded_by'])}"))
    lines += ["  " + terminal.warning(f"⚠ {line(member(standing, 'message'))}") for standing in _other_standings(hit)]
    if hit.get("path"):
        lines.append("  " + terminal.faint(f"Claim: {terminal.place(hit['path'], hit.get('line'))}"))
    if source:
        lines.append("  " + terminal.faint(f"Source: {line(source)}"))
    return lines


def _other_standings(hit: Shape) -> list[Any]:
    return [standing for standing in hit.get("standings") or () if member(standing, "code") != "superseded"]


def _reasons(reasons: Any) -> str:
    if isinstance(reasons, Mapping):
        return ", ".join(f"{number(count)} {line(reason).replace('-', ' ')}" for reason, count in reasons.items())
    return ", ".join(line(member(reason, "message") or reason) for reason in reasons or ()) or "no reason given"


def opened_source(answer: Shape, terminal: Terminal) -> str:
    """The source of a claim: its text where it was found, else the reference as it is and why."""
    lines = [f"Source: {line(answer.get('reference'))}"]
    if answer.get("resolved"):
        lines.append(f"File: {terminal.path(str(answer['resolved']))}")
    if answer.get("note"):
        lines.append(line(answer["note"]))
    lines += [terminal.warning(f"⚠ {line(member(each, 'message'))}") for each in answer.get("standings") or ()]
    if answer.get("text") is not None:
        lines += ["", block(answer["text"])]
    return "\n".join([*lines, *problems(answer, terminal)])


def search(answer: Shape, terminal: Terminal) -> str:
    """One ranked list over all systems, each hit with where it comes from."""
    hits: Sequence[Shape] = answer["hits"]
    query = _asked(answer)
    found = len(hits) + left_out(answer)
    if found:
        lines = [f'🔍 Found {counted(found, "memory", "memories")} for "{query}":']
    else:
        lines = [f'❌ No memories found for "{query}"', "", "`memory-recall doctor` lists the stores in sight."]
    for hit in hits:
        lines += ["", *_hit(hit, terminal, whole="budget" in answer)]
    if answer.get("omitted"):
        lines += ["", terminal.faint(f"{answer['omitted']} more matched; --limit shows more, up to 50.")]
    if answer.get("held_back"):
        weak = counted(answer["held_back"], "weak match was", "weak matches were")
        lines += ["", terminal.faint(f"{weak} held back; {WEAK} shows them, more telling words find better ones.")]
    lines += cut(answer, terminal)
    return "\n".join([*lines, *problems(answer, terminal)])


def _hit(hit: Shape, terminal: Terminal, *, whole: bool) -> list[str]:
    """One hit: a line of it, or where a budget decides how much fits, all that was given of it."""
    provenance, rest = hit["provenance"], rest_of(hit, terminal)
    name = f"[{hit['system']}:{line(hit['id'])}]"
    title = "" if hit["title"] == hit["id"] else f" {line(hit['title'])}"
    lines = [
        f"{terminal.strong(name)}{title}",
        indented(block(hit["text"]) if whole else preview(hit.get("snippet") or hit["text"])),
        *([f"    {rest}"] if rest else []),
        f"  {origin(provenance, terminal)}",
    ]
    lines += [
        "  " + terminal.warning(f"⚠ {line(member(standing, 'message'))}") for standing in hit.get("standings") or ()
    ]
    for also in hit.get("also") or ():
        where = origin(also["provenance"], terminal) if member(also, "provenance") else ""
        lines.append("  " + terminal.faint(f"Also {line(member(also, 'system'))}:{line(member(also, 'id'))} {where}"))
    return lines


def origin(provenance: Shape, terminal: Terminal) -> str:
    """Where a memory comes from, who says so, when, how sure: one line."""
    writer = provenance.get("attested_by") or provenance.get("author")
    kind = provenance.get("attestation_type")
    verified = provenance.get("verified")
    return joined(
        f"{line(provenance.get('source'))} ({terminal.place(provenance.get('path'), provenance.get('line'))})",
        f"by {line(writer)}" + (f" ({line(kind)})" if kind else "") if writer else None,
        line(provenance.get("updated") or provenance.get("created"))
        if provenance.get("updated") or provenance.get("created")
        else None,
        f"confidence {number(provenance['confidence'])}" if provenance.get("confidence") is not None else None,
        None if verified is None else terminal.good("verified") if verified else terminal.warning("not verified"),
    )
