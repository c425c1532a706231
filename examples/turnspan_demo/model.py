"""What a recorded run is: turns of user messages, model replies and tool results.

A *turn* is one user message and everything the agent does until the next one: model calls (one
``Reply`` each) and the tool calls they ask for. The model server answers from a run, the agent
loops play one, and ``Expected`` says what a recorder must have seen of it.
"""

from __future__ import annotations

import ast
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

Provider = Literal["openai", "anthropic"]
PROVIDERS: tuple[Provider, ...] = ("openai", "anthropic")

DEFAULT_MODELS: Mapping[Provider, str] = {"openai": "gpt-4o", "anthropic": "claude-sonnet-5"}

OPENED = "(The conversation was opened by the assistant.)"
"""The user message put before a run's greeting for Anthropic, whose first message is the user's."""


SDK_RETRIES = 2
"""How often both providers' SDKs repeat a failed request unless told otherwise."""


class RunError(Exception):
    """A file or a run cannot be used; the message says which and why."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call the model asked for, and what the tool answered.

    ``arguments`` is the text as recorded: usually JSON, but models (and the programs that log
    them) also write other things. ``run`` names the nested run of a tool that is an agent itself.
    """

    id: str
    name: str
    arguments: str
    result: str = ""
    failed: bool = False
    run: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong before the reply: the first ``times`` requests for it fail."""

    kind: Literal["rate_limit", "overloaded", "server_error", "broken_stream"]
    times: int = 1


@dataclass(frozen=True, slots=True)
class Reply:
    """One model reply, and the tools the application ran because of it.

    ``finish`` is ``stop``, ``tool_calls``, ``length`` or ``content_filter`` (OpenAI's words).
    ``delay`` is how many seconds the model takes. ``usage`` is the recorded (prompt, completion)
    token count, ``None`` where the server has to estimate.
    """

    text: str = ""
    tools: tuple[ToolUse, ...] = ()
    thinking: str = ""
    finish: str = "stop"
    delay: float = 0.0
    fault: Fault | None = None
    usage: tuple[int, int] | None = None

    @property
    def lost(self) -> bool:
        """Whether the reply never arrives: its stream breaks, or no retry of an SDK gets it."""
        fault = self.fault
        return fault is not None and (fault.kind == "broken_stream" or fault.times > SDK_RETRIES)


@dataclass(frozen=True, slots=True)
class Turn:
    """One user message and the agent's replies.

    ``stop`` is the reason the *application* gave for ending the turn itself (the last reply asked
    for tools and no further model call was made), empty where the agent's loop ended on its own.
    ``aborted`` turns are cancelled by the user once the last recorded reply is in.
    """

    user: str
    replies: tuple[Reply, ...]
    stop: str = ""
    stop_detail: str = ""
    aborted: bool = False
    labels: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def tools(self) -> list[ToolUse]:
        """The tool calls of the turn, in order."""
        return [tool for reply in self.replies for tool in reply.tools]


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the model is told of it; ``parameters`` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """A recorded conversation of one user with one agent.

    ``greeting`` is an assistant message before the first user message: canned text, no model call.
    ``unanswered`` is a last user message that the agent never saw: no turn. ``nested`` holds the
    runs of agents that this one calls as tools, by name.
    """

    id: str
    turns: tuple[Turn, ...]
    agent: str = "agent"
    system: str = ""
    tools: tuple[ToolDefinition, ...] = ()
    title: str = ""
    source: str = ""
    user_id: str = ""
    greeting: str = ""
    unanswered: str = ""
    user_tool_calls: int = 0
    outcome: str = ""
    max_rounds: int | None = None
    stream: bool = False
    cached: bool = False
    models: Mapping[str, str] = field(default_factory=dict[str, str])
    providers: tuple[Provider, ...] = PROVIDERS
    nested: Mapping[str, Run] = field(default_factory=dict[str, "Run"])

    def model(self, provider: Provider) -> str:
        """The model that the run's requests name."""
        return self.models.get(provider) or DEFAULT_MODELS[provider]

    def everything(self) -> Iterator[Run]:
        """The run and the runs nested in it."""
        yield self
        for run in self.nested.values():
            yield from run.everything()


@dataclass(slots=True)
class Expected:
    """What a recorder must have seen of a run (or of many: ``+=`` them)."""

    turns: int = 0
    llm_calls: int = 0
    tool_calls: int = 0
    tool_errors: int = 0

    def __iadd__(self, other: Expected) -> Expected:
        self.turns += other.turns
        self.llm_calls += other.llm_calls
        self.tool_calls += other.tool_calls
        self.tool_errors += other.tool_errors
        return self


def expected(run: Run) -> Expected:
    """What a recorder must see of a run, its nested agents' turns and calls included."""
    total = Expected()
    for part in run.everything():
        for turn in part.turns:
            total += Expected(
                turns=1,
                llm_calls=len(turn.replies),
                tool_calls=len(turn.tools),
                tool_errors=sum(tool.failed for tool in turn.tools),
            )
    return total


def arguments_of(text: str) -> dict[str, Any]:
    """A tool call's arguments as an object, for those who need one.

    JSON first, then a Python literal (some agents log ``{'id': 1}``); anything that is no object
    after that becomes ``{"arguments": ...}``.
    """
    value: Any = text
    try:
        value = json.loads(text) if text.strip() else {}
    except ValueError:
        try:
            value = ast.literal_eval(text)
            json.dumps(value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            value = text
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {"arguments": value}


def as_sent(run: Run, provider: Provider) -> Run:
    """The run with tool call ids that the provider accepts (nested runs are left alone).

    Anthropic refuses a conversation that uses an id twice, which recorded OpenAI runs do: there
    every call gets an id of its own, in Anthropic's form.
    """
    if provider == "openai":
        return run
    serial = itertools.count(1)
    turns: list[Turn] = []
    for turn in run.turns:
        replies: list[Reply] = []
        for reply in turn.replies:
            tools = tuple(
                replace(tool, id=f"toolu_{next(serial):04d}{_tail(tool.id)}")
                for tool in reply.tools
            )
            replies.append(replace(reply, tools=tools))
        turns.append(replace(turn, replies=tuple(replies)))
    return replace(run, turns=tuple(turns))


def _tail(text: str) -> str:
    return "".join(c for c in text.removeprefix("call_") if c.isascii() and c.isalnum())[:20]


def infer_tools(turns: tuple[Turn, ...]) -> tuple[ToolDefinition, ...]:
    """Definitions of the tools a run used, for runs recorded without their catalogue."""
    seen: dict[str, dict[str, str]] = {}
    for turn in turns:
        for tool in turn.tools:
            known = seen.setdefault(tool.name, {})
            for name, value in arguments_of(tool.arguments).items():
                known.setdefault(name, _json_type(value))
    return tuple(
        ToolDefinition(
            name=name,
            description=name.replace("_", " ").strip().capitalize() + ".",
            parameters={
                "type": "object",
                "properties": {key: {"type": kind} for key, kind in sorted(known.items())},
            },
        )
        for name, known in sorted(seen.items())
    )


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "string"
