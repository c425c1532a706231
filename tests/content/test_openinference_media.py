"""OpenInference says images and sounds by URL: their bytes land on request only."""

from __future__ import annotations

import base64

import pytest

from turnspan import config
from turnspan_clickhouse.foreign_dialects import ForeignSpan, read


@pytest.mark.parametrize("capture", [False, True])
@pytest.mark.parametrize("modality", ["image", "audio"])
@pytest.mark.parametrize("side", ["input", "output"])
def test_bytes_stay_only_where_media_are_recorded(capture: bool, modality: str, side: str) -> None:
    """By their hash and size elsewhere."""
    encoded = base64.b64encode(bytes(range(200))).decode()
    block = f"llm.{side}_messages.0.message.contents.0.message_content"
    attributes = {
        "openinference.span.kind": "LLM",
        f"{block}.type": modality,
        f"{block}.{modality}.{modality}.url": f"data:{modality}/x;base64,{encoded}",
    }
    before = config.active()
    config.activate(config.Settings(capture_media=capture))
    try:
        call = read(ForeignSpan("call", "openinference.x", attributes, [], 0))
    finally:
        config.activate(before)
    assert call is not None
    (part,) = (call.input or call.output)[0]["parts"]
    assert part["type"] == "blob"
    assert (part.get("content") == encoded) is capture
    assert capture or part["size"] == 200
