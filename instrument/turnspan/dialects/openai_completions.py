"""The dialect ``openai.completions``: kwargs of ``completions.create`` and a Completion.

Prompts and continuations are plain texts (or lists of token numbers), each a message of its own.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from turnspan.content.json_codec import generic_part, generic_raw
from turnspan.content.model import Message, Part, as_dict, as_list
from turnspan.dialects.plain_text import join_texts, split_texts

NAME: Final = "openai.completions"


split_request: Final = partial(split_texts, field="prompt")
join_request: Final = partial(join_texts, field="prompt")
"""A request's prompts are its messages."""


def system_parts(raw_system: Any, messages: list[Message]) -> list[Part]:
    """There are none."""
    return []


def tool_definitions(raw_tools: Any) -> list[dict[str, Any]]:
    """There are none."""
    return []


def output_messages(response: Any) -> tuple[list[Any], list[str]]:
    """The texts of the choices and their finish reasons."""
    body = as_dict(response)
    if body is None:
        return ([], []) if response is None else ([response], [])
    choices = [as_dict(raw) or {} for raw in as_list(body.get("choices")) or []]
    reasons = [choice.get("finish_reason") for choice in choices]
    return [choice.get("text", "") for choice in choices], [r for r in reasons if r]


def to_message(raw: Any, default_role: str) -> Message:
    """A prompt that is no text: a list of token numbers."""
    return {"role": default_role, "parts": [generic_part(raw)]}


def from_message(role: str, name: str, parts: list[Part]) -> Any:
    """The inverse of ``to_message``."""
    return generic_raw(parts[0])
