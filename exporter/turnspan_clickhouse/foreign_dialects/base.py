"""What every dialect's reader gives back, and what they read attributes with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final, cast

import orjson

from turnspan import semconv
from turnspan.content.json_codec import arguments_part
from turnspan.content.model import CallContent, Message, Part, as_dict, as_list, dumps_text
from turnspan.dialects.convert import convert_message, tool_definitions
from turnspan.tracing.content_store import InferenceContent, ToolContent
from turnspan.tracing.endpoint import write_usage
from turnspan.turn.turn import TokenUsage

INFERENCE: Final = "inference"
TOOL: Final = "tool"
AGENT: Final = "agent"
WORKFLOW: Final = "workflow"
OTHER: Final = "other"
_KINDS: Final = {
    semconv.OP_CHAT: INFERENCE,
    semconv.OP_TEXT_COMPLETION: INFERENCE,
    semconv.OP_GENERATE_CONTENT: INFERENCE,
    semconv.OP_EMBEDDINGS: INFERENCE,
    semconv.OP_EXECUTE_TOOL: TOOL,
    semconv.OP_INVOKE_AGENT: AGENT,
    semconv.OP_INVOKE_WORKFLOW: WORKFLOW,
}
_OPERATIONS: Final = {
    "llm": semconv.OP_CHAT,
    "generation": semconv.OP_CHAT,
    "embedding": semconv.OP_EMBEDDINGS,
    "tool": semconv.OP_EXECUTE_TOOL,
    "agent": semconv.OP_INVOKE_AGENT,
    "chain": semconv.OP_INVOKE_WORKFLOW,
    "workflow": semconv.OP_INVOKE_WORKFLOW,
}
"""By the words that instrumentations have for them."""

Attributes = Mapping[str, Any]
Events = Sequence[tuple[str, Attributes]]
"""A span's events: (name, attributes)."""


@dataclass(slots=True)
class ForeignSpan:
    """A span of another instrumentation as its dialect's reader gets it."""

    name: str
    scope: str
    attributes: Attributes
    events: Events = ()
    start_time: int = 0
    """Nanoseconds since the epoch."""


@dataclass(slots=True)
class ForeignCall:
    """What a span of another instrumentation says, in our words.

    Messages, system parts and tools are in the GenAI schema. ``usage`` of an agent is an aggregate.
    ``cost_usd`` is what the instrumentation reckoned; durations are seconds.
    """

    operation: str = ""
    provider: str = ""
    request_model: str = ""
    response_model: str = ""
    response_id: str = ""
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost_usd: Decimal | None = None
    finish_reasons: list[str] = field(default_factory=list[str])
    stream: bool = False
    time_to_first_chunk: float | None = None
    conversation_id: str = ""
    user_id: str = ""
    agent_name: str = ""
    """Of a workflow, the workflow's."""
    tool_name: str = ""
    tool_type: str = ""
    tool_call_id: str = ""
    tool_arguments: Any = None
    tool_result: Any = None
    tool_failed: bool = False
    """Whether something besides the result and the span's own status says that it failed."""
    error_type: str = ""
    """What failed, where something besides the span's own status says so; ``_OTHER`` for unknown.

    An OpenTelemetry span whose status was once set to OK stays so, whatever is set later.
    """
    error_message: str = ""
    system: Any = None
    input: list[Message] = field(default_factory=list[Message])
    output: list[Message] = field(default_factory=list[Message])
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    """What else it says, by the names of our attributes."""

    @property
    def kind(self) -> str:
        """``inference``, ``tool``, ``agent``, ``workflow`` or ``other``, by the operation."""
        return _KINDS.get(self.operation, OTHER)

    def canonical(self) -> dict[str, Any]:
        """The current convention's attributes that say the same; unknown ones are left out."""
        found: dict[str, Any] = {
            semconv.OPERATION_NAME: self.operation,
            semconv.PROVIDER_NAME: self.provider,
            semconv.REQUEST_MODEL: self.request_model,
            semconv.RESPONSE_MODEL: self.response_model,
            semconv.RESPONSE_ID: self.response_id,
            semconv.RESPONSE_FINISH_REASONS: self.finish_reasons,
            semconv.REQUEST_STREAM: self.stream,
            semconv.RESPONSE_TIME_TO_FIRST_CHUNK: self.time_to_first_chunk,
            semconv.CONVERSATION_ID: self.conversation_id,
            semconv.USER_ID: self.user_id,
            semconv.AGENT_NAME: self.agent_name,
            semconv.TOOL_NAME: self.tool_name,
            semconv.TOOL_TYPE: self.tool_type,
            semconv.TOOL_CALL_ID: self.tool_call_id,
            semconv.TOOL_FAILED: self.tool_failed,
        }
        known = {key: value for key, value in found.items() if value or _is_zero(value)}
        write_usage(self.usage, known)
        return {**known, **self.extra}

    def content(self) -> InferenceContent | ToolContent | None:
        """The content as the ledger holds that of our own spans; ``None`` where there is none."""
        if self.kind == TOOL:
            if self.tool_arguments is None and self.tool_result is None:
                return None
            return ToolContent(self.tool_arguments, self.tool_result)
        if self.kind != INFERENCE:
            return None
        if not self.input and not self.output and self.system is None and not self.tools:
            return None
        request: dict[str, Any] = {**self.parameters, "messages": self.input}
        if self.system is not None:
            request["system"] = self.system
        if self.tools:
            request["tools"] = self.tools
        return InferenceContent("genai", request, {"messages": self.output})


def raised(events: Events) -> Attributes | None:
    """The exception that was recorded last on a span; ``None`` where none was."""
    found = (said for name, said in reversed(events) if name == "exception")
    return next(found, None)


def _is_zero(value: Any) -> bool:
    return value == 0 and not isinstance(value, (bool, str, list))


# -- values ----------------------------------------------------------------------------------------


def text(value: Any) -> str:
    """Text; of a structure its JSON; empty for none."""
    if isinstance(value, str):
        return value
    return "" if value is None else dumps_text(value)


def operation_of(word: Any) -> str:
    """The operation that an instrumentation's word for a kind of span means; empty for others."""
    return _OPERATIONS.get(text(word).lower(), "")


NOT_SAID: Final = "<not specified>"
"""What Google's agent development kit says of a tool that raised."""


def tool_call_id(value: Any) -> str:
    """The id of a tool call; empty where a span says that it has none."""
    return "" if value == NOT_SAID else text(value)


def integer(value: Any) -> int | None:
    """A count, written as a number or as text; None for what is none."""
    if isinstance(value, str) and value.strip().isdigit():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 <= value < 2**63 else None


def seconds(value: Any, unit: float = 1.0) -> float | None:
    """A duration in seconds of a number of units."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) * unit


def money(value: Any) -> Decimal | None:
    """An amount of US dollars."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount >= 0 else None


def parsed(value: Any) -> Any:
    """The value that JSON text says; any other value as it is."""
    if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


def texts(value: Any) -> list[str]:
    """A list of texts: of a sequence, of its JSON, or of one text."""
    if isinstance(value, str):
        value = parsed(value)
    if isinstance(value, str):
        return [value] if value else []
    return [text(item) for item in sequence(value) or []]


def sequence(value: Any) -> list[Any] | None:
    """The value as a list if it is a list or a tuple (span attributes are tuples)."""
    listed: Any = [*value] if isinstance(value, tuple) else value
    return as_list(listed)


def first(attributes: Attributes, *keys: str) -> Any:
    """The value of the first of the keys that is there."""
    for key in keys:
        value = attributes.get(key)
        if value is not None and value != "":
            return value
    return None


def nested(attributes: Attributes, prefix: str) -> Any:
    """What attributes flattened under ``prefix.`` say: dictionaries, and lists for numbered keys.

    ``{"p.0.role": "user", "p.1.role": "tool"}`` -> ``[{"role": "user"}, {"role": "tool"}]``;
    ``None`` where there is no such attribute.
    """
    root: dict[str, Any] = {}
    start = len(prefix) + 1
    for key, value in attributes.items():
        if not key.startswith(prefix) or key[len(prefix) : start] != ".":
            continue
        at = root
        *path, last = key[start:].split(".")
        for step in path:
            inner = at.get(step)
            if not isinstance(inner, dict):
                inner = at[step] = {}
            at = cast("dict[str, Any]", inner)
        if last not in at:
            at[last] = value
    return _listed(root) if root else None


def _listed(node: Any) -> Any:
    fields = as_dict(node)
    if fields is None:
        return node
    if fields and all(key.isdigit() for key in fields):
        return [_listed(fields[key]) for key in sorted(fields, key=int)]
    return {key: _listed(value) for key, value in fields.items()}


def items(attributes: Attributes, prefix: str) -> list[dict[str, Any]]:
    """The numbered dictionaries under a prefix."""
    return [item for item in map(as_dict, as_list(nested(attributes, prefix)) or []) if item]


def counted(told: Attributes, **names: tuple[str, ...]) -> TokenUsage:
    """Token counts by their names in ``TokenUsage``, each under the first key that is there."""
    return TokenUsage(**{name: integer(first(told, *keys)) for name, keys in names.items()})


def fill_usage(known: TokenUsage, more: TokenUsage) -> None:
    """Put counts where there are none."""
    for name in TokenUsage.__slots__:
        if getattr(known, name) is None:
            setattr(known, name, getattr(more, name))


def fill_reply(call: ForeignCall, said: ForeignCall) -> None:
    """Put what is said of a reply where nothing is."""
    for name in ("output", "response_id", "finish_reasons"):
        setattr(call, name, getattr(call, name) or getattr(said, name))
    fill_usage(call.usage, said.usage)


def take_converted(call: ForeignCall, found: CallContent) -> None:
    """Put in what a provider's own request and reply say."""
    call.input, call.output, call.tools = found.input, found.output, found.tools
    call.system = found.system if found.raw_system is not None else None


_CALLED_WITH: Final = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
"""What a decorated function is called with, and smolagents' tools."""


def keywords(value: Any) -> Any:
    """A tool's arguments, where they are among what its function was called with.

    ``{"args": [], "kwargs": {...}}`` is a decorated function's, ``{"inputs": {...}}`` LangChain's.
    """
    fields = as_dict(parsed(value))
    if fields is None:
        return value
    inputs = fields.get("inputs")
    if inputs is not None and fields.keys() & {"input_str", "kwargs", "tags"}:
        return inputs
    if not fields.get("args") and isinstance(fields.get("kwargs"), dict):
        return fields["kwargs"] if fields.keys() <= _CALLED_WITH else fields
    return fields.get("inputs", fields)


def tool_call(name: Any, arguments: Any, id_: Any) -> Part:
    """A tool call as a part of a message; without an id where there is none."""
    part = arguments_part(text(name), arguments)
    return {"type": "tool_call", "id": text(id_), **part} if id_ else part


# -- messages --------------------------------------------------------------------------------------


def genai_messages(value: Any, role: str) -> list[Message]:
    """Messages in the GenAI schema (or its short forms), as JSON text or as they are."""
    found = parsed(value)
    messages = sequence(found)
    if messages is None:
        messages = [] if found is None or found == "" else [found]
    return [convert_message("genai", parsed(item), default_role=role) for item in messages]


def definitions(value: Any) -> list[dict[str, Any]]:
    """Tool definitions written in any provider's way, as JSON text or as they are."""
    found: list[dict[str, Any]] = []
    given = parsed(value)
    for item in sequence(given) or [given]:
        tool = parsed(item)
        fields = as_dict(tool)
        if fields is None:
            continue
        dialect = "anthropic.messages" if "input_schema" in fields else "openai.chat"
        definition = tool_definitions(dialect, [fields])[0]
        found.append({"type": "function", **definition})
    return found


_PROVIDERS: Final[Mapping[str, str]] = {
    "azure": "azure.ai.openai",
    "azure_openai": "azure.ai.openai",
    "azure-openai": "azure.ai.openai",
    "az.ai.openai": "azure.ai.openai",
    "az.ai.inference": "azure.ai.inference",
    "aws": "aws.bedrock",
    "amazon-bedrock": "aws.bedrock",
    "bedrock": "aws.bedrock",
    "amazon": "aws.bedrock",
    "google": "gcp.gemini",
    "gemini": "gcp.gemini",
    "google-gla": "gcp.gemini",
    "google_genai": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "vertexai": "gcp.vertex_ai",
    "vertex_ai": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
    "x-ai": "x_ai",
    "moonshotai": "moonshot_ai",
    "watsonx": "ibm.watsonx.ai",
}


def provider(value: Any) -> str:
    """The current name of a provider."""
    name = text(value).strip().lower()
    return _PROVIDERS.get(name, name)
