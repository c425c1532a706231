"""What tests of an agent need: its records in memory, and a model that says what it is told to.

import turnspan.testing

def test_weather() -> None:
    with turnspan.testing.ModelServer() as server, turnspan.testing.record() as recorded:
        server.reply(tool_requests=[turnspan.testing.ToolRequest("weather", {"city": "Oslo"})])
        server.reply("It rains.")
        assert answer("Oslo?", base_url=server.url) == "It rains."
    assert recorded.turn().rounds == 2

pytest finds the fixtures ``turnspan_recorded`` and ``turnspan_model`` by itself (docs/testing.md).
"""

from __future__ import annotations

from turnspan.testing.model_server import ModelRequest, ModelServer
from turnspan.testing.recording import NotOneError, Recorded, record
from turnspan.testing.records import (
    RecordedAnnotation,
    RecordedCall,
    RecordedMessage,
    RecordedSpan,
    RecordedTool,
    RecordedTurn,
    ToolRequest,
)
from turnspan.testing.replies import ModelError, Reply, Usage

__all__ = [
    "ModelError",
    "ModelRequest",
    "ModelServer",
    "NotOneError",
    "Recorded",
    "RecordedAnnotation",
    "RecordedCall",
    "RecordedMessage",
    "RecordedSpan",
    "RecordedTool",
    "RecordedTurn",
    "Reply",
    "ToolRequest",
    "Usage",
    "record",
]
