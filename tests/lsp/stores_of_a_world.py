"""The stores that the tests of hover, definition and commands look at: small, and with one of everything."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from worlds import World

MEMORY_ID = "MEM-webhook-retry"
CLAIM = "01K8ZQ4T7N5X2M9R6B3C1D0E8F"
NEWER_CLAIM = "01K8ZQ4T7N5X2M9R6B3C1D0E8G"
ATTESTATION = "01K8ZQ4T7N5X2M9R6B3C1D0E8A"
HOSTILE = (
    "[click](command:evil) ![x](http://evil.test/x.png) <img src=x> ``` \u202e `tick` http://evil.test www.evil.test"
)


@dataclass(frozen=True)
class Stores:
    """Where things are."""

    nemp: Path
    shared: Path
    memory: Path
    log: Path


def entry(key: str, value: object, **more: object) -> dict[str, object]:
    return {"key": key, "value": value, "created": "2026-01-01T00:00:00Z", "agent_id": "backend", **more}


def write_stores(world: World) -> Stores:
    """A project store, a global store, `.agent` memories and a Coven store with two claims."""
    entries = [
        entry(
            "auth-flow",
            "JWT access tokens, refreshed",
            updated="2026-02-02T00:00:00Z",
            type="procedure",
            confidence={"score": 0.91},
            vitality={"score": 62, "state": "active"},
        ),
        entry("deploy_v1", "Vercel", links={"superseded_by": "deploy_v2"}),
        entry("deploy_v2", "Fly.io"),
        entry("部署流程", "先迁移,再发布"),
        entry("hostile-key", HOSTILE, agent_id=HOSTILE, type=HOSTILE),
        entry("long-value", "x" * 5_000 + "THE END"),
        entry("many-lines", "\n".join(f"line {number}" for number in range(100))),
        entry("db.url", {"host": "localhost", "port": 5432}),
    ]
    nemp = world.write("project/.nemp/memories.json", {"memories": entries})
    shared = world.write(
        "home/.nemp/memories.json",
        {"auth-flow": {"value": "Okta", "agent_id": "main"}, "commit-style": "imperative"},
    )
    memory = world.write(
        f"project/.agent/memory/semantic/{MEMORY_ID}.json",
        {
            "schema_version": 1,
            "memory_id": MEMORY_ID,
            "type": "semantic",
            "title": "Webhook retries",
            "content": "Five times, with exponential backoff.",
            "tags": ["payments"],
            "confidence": 0.8,
            "expires_at": "2026-01-01",
            "created_at": "2025-12-01T00:00:00Z",
        },
    )
    write_claims(world)
    return Stores(nemp, shared, memory, nemp.parent / "access.log")


def write_claims(world: World) -> None:
    root = "home/.coven/memory"
    attestation = f"---\nulid: {ATTESTATION}\nattester: ann\nattestation_type: review\n---\nSeen.\n"
    world.write(f"{root}/attestations/{ATTESTATION}.md", attestation)
    lines = []
    for ulid, text, operation, prior in (
        (CLAIM, "The gateway times out after 30 s.", "promote", None),
        (NEWER_CLAIM, "The gateway times out after 60 s.", "supersede", CLAIM),
    ):
        snapshot = (
            f"---\nulid: {ulid}\ntitle: Gateway timeout\nconfidence: high\nattested_via: {ATTESTATION}\n---\n{text}\n"
        )
        world.write(f"{root}/snapshots/{ulid}.md", snapshot)
        line = {
            "timestamp": f"2026-03-0{len(lines) + 1}T00:00:00Z",
            "ulid": ulid,
            "operation": operation,
            "entry_path": f"memory/{ulid}.md",
            "author": "ann",
            "attested_by": "bob",
            "source_session": "session://coven/2026-03-01/gateway",
            "sha256": hashlib.sha256(snapshot.encode()).hexdigest(),
            "prior_ulid": prior,
        }
        lines.append(json.dumps({name: value for name, value in line.items() if value is not None}))
    world.write(f"{root}/manifest.jsonl", "\n".join(lines) + "\n")
