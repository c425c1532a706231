"""Pieces of a stream that are more than text: lists of blocks, as Mistral's reasoning models send
them, and fields that OpenAI's schema does not have."""

from __future__ import annotations

from typing import Any, Final

from turnspan.content.snapshot import freeze
from turnspan.runtime.type_guards import is_dict, is_list


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


# -- fields outside the API's schema, as other servers send them piece by piece --------------------

_WHOLE: Final = frozenset(
    {"type", "id", "name", "format", "role", "object", "model", "provider", "status", "index"}
)
"""Fields that say the same in every piece, or the newest."""
_GROWING: Final = frozenset(
    {"text", "content", "summary", "thinking", "reasoning", "refusal", "transcript"}
)
"""Fields of which every piece brings more."""

_NAMING: Final = ["type", "id"]


def merged(known: Any, piece: Any, name: str = "") -> Any:
    """What a field is once another piece of it has come; both are frozen, the known one is ours.

    The answer as it would have come unstreamed: texts go on, items of lists go on by their index
    or after the last one, and what repeats all that was known stands for it.
    """
    if piece is None:
        return known
    if is_dict(known) and is_dict(piece):
        for key, value in piece.items():
            known[key] = merged(known.get(key), value, key)
        return known
    if is_list(known) and is_list(piece):
        return _merged_list(known, piece)
    if isinstance(known, str) and isinstance(piece, str):
        if name in _GROWING:
            return known + piece
        if name in _WHOLE or piece.startswith(known):
            return piece or known
        return known + piece
    return piece


def joined_text(name: str, pieces: list[str]) -> str:
    """The text that a field's pieces make up."""
    return pieces[-1] if name in _WHOLE else "".join(pieces)


def _merged_list(known: list[Any], piece: list[Any]) -> list[Any]:
    if piece[: len(known)] == known:
        return piece
    for item in piece:
        before = _continued(known, item) if is_dict(item) else None
        if before is None:
            known.append(item)
        else:
            merged(before, item)
    return known


def _continued(known: list[Any], item: dict[str, Any]) -> Any:
    """The item that another one goes on with; ``None`` where it is a new one."""
    index = item.get("index")
    if index is None:
        last: Any = known[-1] if known else None
        return last if is_dict(last) and _grows(last, item) else None
    for before in known[::-1]:
        if is_dict(before) and before.get("index") == index and _alike(before, item, _NAMING):
            return before
    return None


def _grows(before: dict[str, Any], item: dict[str, Any]) -> bool:
    """Whether an item brings more text for one that is like it in all else."""
    rest: list[str] = []
    grows = False
    for key, value in item.items():
        if key not in _GROWING:
            rest.append(key)
        elif isinstance(value, str) and key in before:
            grows = True
    return grows and _alike(before, item, rest)


def _alike(before: dict[str, Any], item: dict[str, Any], keys: list[str]) -> bool:
    for key in keys:
        one: Any = before.get(key)
        other: Any = item.get(key)
        if one is not None and other is not None and one != other:
            return False
    return True
