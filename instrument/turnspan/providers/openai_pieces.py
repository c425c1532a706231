"""Content that comes as a list of blocks, as Mistral's reasoning models send it, even in pieces."""

from __future__ import annotations

from typing import Any

from turnspan.content.shapes import is_dict, is_list
from turnspan.content.snapshot import freeze


def block_text(content: Any) -> str:
    """The text for the user to read in a message's content: text, or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = content if is_list(content) else []
    texts = [b.get("text") for b in blocks if is_dict(b) and b.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def joined_content(pieces: list[Any]) -> Any:
    """The content that a stream's pieces, texts and lists of blocks, make up."""
    try:
        return "".join(pieces)
    except TypeError:  # a list of blocks among them
        pass
    blocks: list[Any] = []
    for piece in pieces:
        if is_list(piece):
            for block in piece:
                _add(blocks, freeze(block))
        else:
            _add(blocks, {"type": "text", "text": piece})
    return blocks


def _add(blocks: list[Any], block: Any) -> None:
    """Append a block, or its text to the block before where both are of one kind."""
    last = blocks[-1] if blocks else None
    if is_dict(last) and is_dict(block) and last.keys() == block.keys():
        kind = block.get("type")
        if kind == last.get("type") == "text" and isinstance(block.get("text"), str):
            last["text"] += block["text"]
            return
        if kind == last.get("type") == "thinking" and is_list(block.get("thinking")):
            for each in block["thinking"]:
                _add(last["thinking"], each)
            return
    blocks.append(block)
