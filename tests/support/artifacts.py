"""What agents wrote, as hand-made rows, with their texts."""

from __future__ import annotations

import time
from hashlib import blake2b
from typing import Any

from support.rows import PROJECT
from turnspan_clickhouse.rows.loop_tables import ArtifactRow
from turnspan_clickhouse.rows.tables import Definition, Record


def artifact(name: str, target: str, text: str, **values: Any) -> list[Record]:
    """The rows of something that an agent wrote, now unless ``created_at`` says when."""
    digest = blake2b(f"artifact\0{text}\0".encode(), digest_size=16).digest()
    known: dict[str, Any] = {
        "project": PROJECT,
        "target": target,
        "artifact_id": name,
        "kind": "page",
        "content": digest,
        "content_bytes": len(text.encode()),
        "session_id": "s1",
        "turn_id": f"turn-{name}",
        "call_id": f"call-{name}",
        "created_at": time.time_ns(),
        "written_at": 1,
    }
    body = Definition(project=PROJECT, hash=digest, kind="artifact", body=text, written_at=1)
    return [ArtifactRow(**{**known, **values}), body]
