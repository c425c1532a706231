"""The dialect ``openai.completions``: kwargs of ``completions.create`` and a Completion.

Prompts and continuations are plain texts (or lists of token numbers), each a message of its own.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from turnspan.content.json_codec import generic_part, generic_raw
from turnspan.content.model import Message, Part, RequestParts, as_dict, as_list

NAME: Final = "openai.completions"


def split_texts(request: dict[str, Any], field: str) -> RequestParts:
    """Take a request apart whose texts stand under ``field``.

    Where they stand in a list of fewer than two, which their number does not tell, an empty list
    stays among the parameters in their place.
    """
    parameters = dict(request)
    given = parameters.get(field)
    items = as_list(given)
    messages: list[Any] = []
    if items is not None and not (items and isinstance(items[0], int)):
        messages = items
        parameters[field] = []
        if len(items) > 1:
            del parameters[field]
    elif given is not None:
        messages = [parameters.pop(field)]
    return RequestParts(None, messages, None, parameters)


def join_texts(parts: RequestParts, field: str) -> dict[str, Any]:
    """The request that ``split_texts`` took apart."""
    request = dict(parts.parameters)
    if request.get(field) == [] or len(parts.messages_raw) > 1:
        request[field] = parts.messages_raw
    elif parts.messages_raw:
        request[field] = parts.messages_raw[0]
    return request


split_request: Final = partial(split_texts, field="prompt")
join_request: Final = partial(join_texts, field="prompt")
"""A request's prompts are its messages."""


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
