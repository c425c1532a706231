"""The exact request of a model call: its body as the provider was sent it, put together again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from turnspan.content.model import RequestParts, as_dict, as_list
from turnspan.dialects import (
    anthropic_messages,
    gemini_interactions,
    genai,
    openai_chat,
    openai_responses,
)
from turnspan.dialects.convert import join_request
from turnspan.redaction.truncate import ORIGINAL_BYTES, TRUNCATED
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import ask_row
from turnspan_records.conversation import MessageRecord
from turnspan_records.messages import (
    NONE,
    ContentMissingError,
    load_messages,
    load_sources,
    provider_message,
)

_INSTRUCTIONS = ("system", "developer")
_MEDIA = re.compile(r"sha256:[0-9a-f]{64};size=(\d+)\Z")
_REDACTED = "[REDACTED"


@dataclass(frozen=True, slots=True)
class Alteration:
    """A part of a request that is not as it was sent: ``kind`` is cut, redacted or media.

    ``size`` is how many bytes it had; 0 where that is not known.
    """

    kind: str
    where: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class ExactRequest:
    """The body of a request in its provider's form, and which parts are not exactly as sent.

    ``server`` is the host it was sent to; empty if that is not recorded."""

    span_id: str
    dialect: str
    provider: str
    server: str
    body: dict[str, Any]
    altered: tuple[Alteration, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether every part is exactly as sent. (The order of the body's keys is not recorded.)

        Always false for a request that another package's span recorded in the conventions' form."""
        return not self.altered and self.dialect != genai.NAME


def exact_request(store: Store, project: str, span_id: str) -> ExactRequest:
    """The request of a model call in its provider's form.

    Raises:
        KeyError: there is no such call.
        ContentMissingError: its content was not recorded, or part of it was pruned.
    """
    call = ask_row(store, "call/request", span_id, project=project, span=span_id)
    hashes: list[str] = list(call["hashes"])
    known = load_messages(store, project, str(call["scope"]), hashes)
    defined = load_sources(store, project, (str(call["system"]), str(call["tools"])))
    _require_content(span_id, call, known, defined)
    messages = [known[one] for one in hashes]
    dialect = messages[0].dialect if messages else _dialect(call)
    tools = defined.get(str(call["tools"]))
    body = join_request(
        dialect,
        RequestParts(
            _system(dialect, messages, defined.get(str(call["system"]))),
            [sent_message(message) for message in messages],
            None if tools is None else orjson.loads(tools[1] or tools[0]),
            as_dict(orjson.loads(call["request_parameters"])) or {},
        ),
    )
    altered = (*_cut(messages), *_replaced(body))
    return of_row(ExactRequest, call, span_id=span_id, dialect=dialect, body=body, altered=altered)


def _require_content(
    span_id: str,
    call: Mapping[str, Any],
    known: Mapping[str, MessageRecord],
    defined: Mapping[str, Any],
) -> None:
    if not call["request_parameters"]:
        raise ContentMissingError(
            f"The request of call {span_id} was not recorded: content is recorded with "
            "capture_content=True (TURNSPAN_CAPTURE_CONTENT=1)."
        )
    missing = sum(one not in known for one in call["hashes"])
    if missing:
        raise ContentMissingError(
            f"{missing} of the {len(call['hashes'])} messages of call {span_id} are not in the "
            "store: their content was not recorded, or has been pruned."
        )
    for name in ("system", "tools"):
        if call[name] != NONE and call[name] not in defined:
            raise ContentMissingError(
                f"The {'system prompt' if name == 'system' else 'tools'} of call {span_id} are not "
                "in the store: they were not recorded, or have been pruned."
            )


def _dialect(call: Mapping[str, Any]) -> str:
    """Of a call without messages, by its provider."""
    if call["provider"] == "anthropic":
        return anthropic_messages.NAME
    if str(call["provider"]).startswith("gcp."):  # generateContent has messages always
        return gemini_interactions.NAME
    return openai_responses.NAME if call["operation"] != "chat" else openai_chat.NAME


def _system(dialect: str, messages: list[MessageRecord], defined: tuple[str, str] | None) -> Any:
    """The request's own field; ``None`` where its first messages are the system prompt."""
    if defined is None or dialect == openai_chat.NAME:
        return None
    body, source = defined
    if source:
        return orjson.loads(source)
    led = bool(messages) and messages[0].role in _INSTRUCTIONS
    return None if led else body


def sent_message(message: MessageRecord) -> Any:
    """A message in its provider's form; one that was cut, without the marks that say so."""
    if not any(part.get(TRUNCATED) for part in message.parts):
        return provider_message(message)
    parts = [
        {key: value for key, value in part.items() if key not in (TRUNCATED, ORIGINAL_BYTES)}
        for part in message.parts
    ]
    return provider_message(
        MessageRecord(message.hash, message.role, message.name, parts, "", message.dialect)
    )


def _cut(messages: list[MessageRecord]) -> Iterator[Alteration]:
    for at, message in enumerate(messages):
        for part in message.parts:
            if part.get(TRUNCATED):
                size: Any = part.get(ORIGINAL_BYTES)
                yield Alteration("cut", f"message {at + 1}", size if isinstance(size, int) else 0)


def _replaced(value: Any, where: str = "") -> Iterator[Alteration]:
    """What stands in the place of secrets and of files' bytes."""
    if isinstance(value, str):
        found = _MEDIA.search(value[-96:])
        if found is not None:
            yield Alteration("media", where, int(found[1]))
        elif _REDACTED in value:
            yield Alteration("redacted", where)
        return
    mapping, items = as_dict(value), as_list(value)
    if mapping is not None:
        for key, item in mapping.items():
            yield from _replaced(item, f"{where}.{key}" if where else str(key))
    elif items is not None:
        for at, item in enumerate(items):
            yield from _replaced(item, f"{where}[{at}]")
