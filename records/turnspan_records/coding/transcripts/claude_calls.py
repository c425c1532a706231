"""What Claude Code's transcripts have in several lines: replies; and whose lines they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from turnspan import semconv
from turnspan.content.json_codec import generic_part
from turnspan.content.media import digest_media
from turnspan.content.model import Part, as_list, as_text, dumps, dumps_text, text_part
from turnspan.dialects import anthropic_messages
from turnspan.dialects.convert import convert_message
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.events import AgentCall, CodingEvent, ToolEnd, UserMessage
from turnspan_records.coding.transcripts.wire_values import WireFields, fields_of

_LINE: Final = frozenset(
    {
        *("uuid", "parentUuid", "logicalParentUuid", "sessionId", "timestamp", "cwd", "gitBranch"),
        *("version", "isSidechain", "userType", "type", "message", "agentId", "forkedFrom"),
    }
)
_MESSAGE: Final = frozenset({"id", "type", "role", "model", "content", "stop_reason", "usage"})
_USAGE: Final = frozenset(
    {
        *("input_tokens", "output_tokens", "cache_creation_input_tokens"),
        *("cache_read_input_tokens", "cache_creation", "service_tier", "speed"),
    }
)
_COMMAND_PARTS: Final = re.compile(r"<command-(name|args)>(.*?)</command-", re.DOTALL)
_BYTES_OF_TOKEN: Final = 16
"""No tokenizer needs fewer tokens for what a reply says: a count below is one of its beginning."""
_MOST_OF_RESULT: Final = 4_096
"""Characters of a value of ``toolUseResult`` that is kept: longer ones repeat the result."""


class ReplyUnderWay:
    """A reply whose lines are being read."""

    def __init__(self, message_id: str, parent: str) -> None:
        self.message_id = message_id
        self.call_ids: set[str] = set()
        self.after: list[CodingEvent] = []
        """What the tool put in while it was written."""
        self._parent = parent
        self._blocks: list[WireFields] = []
        self._line = WireFields()
        self._message = WireFields()
        self._usage = WireFields()
        self._reason = ""
        self._time = 0

    def add(
        self, line: WireFields, message: WireFields, blocks: list[WireFields], time: int
    ) -> None:
        """A line of it."""
        self._blocks += blocks
        self.call_ids.update(
            block.text("id") for block in blocks if block.get("type") == "tool_use"
        )
        self._line.update(line)
        self._message.update(message)
        self._usage = message.object("usage") or self._usage
        self._reason = message.text("stop_reason") or self._reason
        self._time = time

    def call(self) -> AgentCall:
        """The call, now that nothing more comes of it."""
        parts = parts_of("assistant", self._blocks) if self._blocks else []
        usage, attributes = self._tokens()
        beside = {k: v for k, v in self._line.items() if k not in _LINE and v not in (None, "")}
        more = {k: v for k, v in self._message.items() if k not in _MESSAGE and v is not None}
        return AgentCall(
            self.message_id,
            self._time,
            0,
            "anthropic",
            self._message.text("model"),
            parts,
            usage,
            self._parent,
            finish_reasons=(self._reason,) if self._reason else (),
            attributes={**beside, **more, **attributes},
        )

    def _tokens(self) -> tuple[TokenUsage, dict[str, Any]]:
        said = self._usage
        attributes: dict[str, Any] = {
            key: value
            for key, value in said.items()
            if key not in _USAGE and value not in (None, [])
        }
        written = said.object("cache_creation")
        searches = said.object("server_tool_use")
        told = {
            semconv.USAGE_CACHE_WRITE_1H_INPUT_TOKENS: written.get("ephemeral_1h_input_tokens"),
            semconv.RESPONSE_SERVICE_TIER: said.get("service_tier"),
            semconv.RESPONSE_SPEED: said.get("speed"),
            semconv.USAGE_WEB_SEARCHES: searches.get("web_search_requests"),
        }
        attributes.update((name, value) for name, value in told.items() if value)
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        counts = [said.count(name) for name in names]
        known = [count for count in counts if count is not None]
        output = said.count("output_tokens")
        if output is not None and not self._reason and self._is_more_than(output):
            attributes[semconv.CODING_USAGE_INCOMPLETE] = True
        usage = TokenUsage(sum(known) if known else None, output, counts[1], counts[2])
        return usage, attributes

    def _is_more_than(self, tokens: int) -> bool:
        said = [
            {key: value for key, value in block.items() if key != "signature"}
            for block in self._blocks
        ]
        return len(dumps(said)) > (tokens + 8 * len(said)) * _BYTES_OF_TOKEN


@dataclass(slots=True)
class ClaudeAgent:
    """Whose lines are read: the session's own, or a subagent's."""

    id: str
    name: str = ""
    parent_call: str = ""
    reply: ReplyUnderWay | None = None
    runs: list[ToolEnd] = field(default_factory=list[ToolEnd])
    """Results of tools that ran while their reply was being written."""
    command: list[UserMessage] = field(default_factory=list[UserMessage])
    """A command with a slash, and what the tool put in for it: a prompt if the model answers, else
    the tool's own."""

    def whole_reply(self) -> list[CodingEvent]:
        """The reply, with what ran beside it; none if none is under way."""
        reply, self.reply = self.reply, None
        runs, self.runs = self.runs, []
        return [] if reply is None else [reply.call(), *runs, *reply.after]

    def whole_command(self, *, answered: bool = False) -> list[UserMessage]:
        """The command, and what was put in for it."""
        command, self.command = self.command, []
        if command:
            command[0].injected = not answered
        return command


def blocks_of(content: Any) -> list[WireFields]:
    """The blocks of a message; a text is one."""
    if isinstance(content, str):
        return [WireFields(type="text", text=content)] if content else []
    return [
        fields_of(block) or WireFields(type="text", text=as_text(block))
        for block in as_list(content) or []
    ]


def words_of(blocks: list[WireFields]) -> str:
    """The text of blocks, in lines."""
    return "\n".join(block.text("text") for block in blocks if block.get("text"))


def typed_command(text: str) -> str:
    """A command as the user typed it."""
    said = {name: words.strip() for name, words in _COMMAND_PARTS.findall(text)}
    return f"{said.get('name', '')} {said.get('args', '')}".strip()


def attached_part(attachment: WireFields) -> Part:
    """What the tool puts into the conversation by itself: its text, or the whole of it."""
    lines = [line for line in as_list(attachment.get("addedLines")) or [] if isinstance(line, str)]
    texts = (attachment.get(name) for name in ("content", "text", "snippet", "banner"))
    text = next((one for one in texts if isinstance(one, str) and one), "\n".join(lines))
    if not text:
        return generic_part(digest_media(dict(attachment)))
    rest = {name: value for name, value in attachment.items() if value not in (text, lines)}
    return {**text_part(text), "other": digest_media(rest)}


def parts_of(role: str, blocks: list[WireFields]) -> list[Part]:
    """Blocks in the GenAI schema."""
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        return [text_part(as_text(blocks[0]["text"]))]
    said = {"role": role, "content": list(map(dict, blocks))}
    message = convert_message(anthropic_messages.NAME, said)
    parts: list[Part] = message["parts"]
    return parts


def short_values(name: str, values: WireFields) -> dict[str, Any]:
    """What a tool says beside its result, as far as it is short: JSON, as an attribute."""
    short: dict[str, Any] = {}
    for key, value in values.items():
        if not isinstance(value, str) or len(value) <= _MOST_OF_RESULT:
            reduced = digest_media(value)
            if len(dumps(reduced)) <= _MOST_OF_RESULT:
                short[key] = reduced
    return {name: dumps_text(short)} if short else {}
