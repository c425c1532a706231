"""Which stacks are tried, with which instrumentations beside them, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from stacks.script import GOODBYE, HELLO, ORDER, WEATHER

ALONE: Final = "alone"

THREE: Final = [[WEATHER, ORDER, GOODBYE]]
TWO: Final = [[HELLO, WEATHER, ORDER, GOODBYE], [HELLO, ORDER, WEATHER, GOODBYE]]
"""Two users at a time, who begin with the same words."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a program is played."""

    name: str
    scripts: list[list[str]]
    decorated: bool = False
    tools: bool = False
    """Whether its tools are decorated as well."""
    stream: bool = False
    web: bool = False
    at_once: bool = False
    """Whether the users speak at the same time; else one after another, in turns."""
    raises: bool = False
    """Whether a tool's exception ends the run; else the model is told."""
    theirs: bool = False
    """Whether only the other instrumentation records, and Turnspan but lands what it does."""


ONCE: Final = Manner("plain", THREE)
STREAMED: Final = Manner("streamed", TWO, stream=True)
BOTH: Final = Manner("two at a time", TWO)
AT_ONCE: Final = Manner("at once", TWO, at_once=True)
WEB: Final = Manner("web server", TWO, web=True)
DECORATED: Final = Manner("decorated", TWO, decorated=True, tools=True, at_once=True)
AGENT: Final = Manner("only the agent", TWO, decorated=True)
RAISES: Final = Manner("a tool raises", [[WEATHER, ORDER], [HELLO, ORDER]], raises=True)
THEIRS: Final = Manner("theirs only", THREE, theirs=True)

EVERY: Final = (ONCE, STREAMED, BOTH, AT_ONCE, WEB, DECORATED, AGENT, RAISES, THEIRS)


@dataclass(frozen=True, slots=True)
class Waiver:
    """What is not asked of some cells, and why."""

    beside: str
    manner: Manner
    checks: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Stack:
    """One framework or SDK, played by one program."""

    name: str
    venv: str
    program: str
    package: str
    """The distribution whose version the table names."""
    beside: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """Other instrumentations: their entry points, and the distribution of each."""
    environment: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """What is set for them in the environment."""
    streams: bool = True
    remembers: bool = True
    """Whether it resends or names what was said before; else each turn stands for itself."""
    told: tuple[str, ...] | None = None
    """With which of the others its records can tell that a tool failed (None: with any)."""
    mute: tuple[str, ...] = ()
    """Those of the others that by themselves do not record that a tool failed."""
    partial: tuple[str, ...] = ()
    """Those of the others that do not record, without ours, what the turns are known by: the model
    calls, or which call another one goes on with."""
    native: bool = True
    """Whether its tools are asked for in the API's way; else their rows come from spans only."""
    apart: bool = False
    """Whether nothing but a span around them tells that its model calls belong together."""
    here: bool = True
    """Whether it runs in Python, beside Turnspan; else it sends its spans to it."""
    executes: bool = True
    """Whether anybody runs the tools that the model asks for."""
    raises: bool = False
    """Whether a tool's exception can end the run."""
    raises_alone: bool = False
    """Whether it tells by itself of a tool that did."""
    names: tuple[str, ...] | None = None
    """With which of the others its records have its own names of the conversations (None: any,
    where it has names)."""
    waivers: tuple[Waiver, ...] = ()


OI: Final = "openinference-instrumentation-"
OTEL: Final = "opentelemetry-instrumentation-"
GENAI: Final = "opentelemetry-instrumentation-genai-"


STACKS: Final = (
    Stack(
        "OpenAI chat",
        "plain",
        "openai_chat",
        "openai",
        {
            "OpenInference": {"openai": OI + "openai"},
            "OpenLLMetry": {"openai": OTEL + "openai"},
            "OpenTelemetry": {"openai": GENAI + "openai"},
        },
    ),
    Stack(
        "OpenAI responses",
        "plain",
        "openai_responses",
        "openai",
        {
            "OpenInference": {"openai": OI + "openai"},
            "OpenLLMetry": {"openai": OTEL + "openai"},
            "OpenTelemetry": {"openai": GENAI + "openai"},
        },
        partial=("OpenLLMetry", "OpenTelemetry"),
    ),
    Stack(
        "Anthropic",
        "plain",
        "anthropic_messages",
        "anthropic",
        {
            "OpenInference": {"anthropic": OI + "anthropic"},
            "OpenLLMetry": {"anthropic": OTEL + "anthropic"},
            "OpenTelemetry": {"anthropic": GENAI + "anthropic"},
        },
        mute=("OpenLLMetry", "OpenTelemetry"),
    ),
    Stack(
        "OpenAI Agents",
        "openai-agents",
        "openai_agents",
        "openai-agents",
        {
            "OpenInference": {"openai_agents": OI + "openai-agents"},
            "OpenLLMetry": {"openai_agents": OTEL + "openai-agents"},
            "OpenTelemetry": {"openai_agents": GENAI + "openai-agents"},
            "OpenInference for both": {
                "openai_agents": OI + "openai-agents",
                "openai": OI + "openai",
            },
        },
        told=("OpenInference", "OpenLLMetry", "OpenTelemetry", "OpenInference for both"),
        partial=("OpenTelemetry",),
    ),
    Stack(
        "pydantic-ai",
        "pydantic-ai",
        "pydantic_ai_desk",
        "pydantic-ai-slim",
        {"its own": {}, "OpenInference": {"pydantic_ai": OI + "pydantic-ai"}},
        raises=True,
    ),
    Stack(
        "LangGraph",
        "langchain",
        "langgraph_desk",
        "langgraph",
        {
            "OpenInference": {"langchain": OI + "langchain"},
            "OpenLLMetry": {"langchain": OTEL + "langchain"},
            "OpenTelemetry": {"langchain": GENAI + "langchain"},
            "OpenInference for both": {"langchain": OI + "langchain", "openai": OI + "openai"},
            "LangSmith": {},
        },
        {
            "LangSmith": {
                "LANGSMITH_TRACING": "true",
                "LANGSMITH_OTEL_ENABLED": "true",
                "LANGSMITH_OTEL_ONLY": "true",
            }
        },
        told=(
            "OpenInference",
            "OpenLLMetry",
            "OpenTelemetry",
            "OpenInference for both",
            "LangSmith",
        ),
        raises=True,
    ),
    Stack(
        "LangChain",
        "langchain",
        "langchain_call",
        "langchain",
        {
            "OpenInference": {"langchain": OI + "langchain"},
            "OpenLLMetry": {"langchain": OTEL + "langchain"},
            "OpenTelemetry": {"langchain": GENAI + "langchain"},
        },
        told=("OpenInference", "OpenLLMetry", "OpenTelemetry"),
    ),
    Stack(
        "LiteLLM to OpenAI",
        "litellm",
        "litellm_desk",
        "litellm",
        {
            "OpenInference": {"litellm": OI + "litellm"},
            "OpenLLMetry": {"litellm": OTEL + "litellm"},
            "its own": {},
        },
        partial=("its own",),
    ),
    Stack(
        "LiteLLM to Anthropic",
        "litellm",
        "litellm_anthropic",
        "litellm",
        {
            "OpenInference": {"litellm": OI + "litellm"},
            "OpenLLMetry": {"litellm": OTEL + "litellm"},
            "its own": {},
        },
        partial=("its own",),
    ),
    Stack(
        "CrewAI",
        "crewai",
        "crewai_desk",
        "crewai",
        {
            "OpenInference": {"crewai": OI + "crewai"},
            "OpenInference for both": {"crewai": OI + "crewai", "openai": OI + "openai"},
            "OpenLLMetry": {"crewai": OTEL + "crewai"},
        },
        remembers=False,
        told=("OpenInference", "OpenInference for both"),
        partial=("OpenInference", "OpenLLMetry"),
    ),
    Stack(
        "Google GenAI",
        "google-genai",
        "google_genai_desk",
        "google-genai",
        {
            "OpenInference": {"google_genai": OI + "google-genai"},
        },
    ),
    Stack(
        "Google GenAI 2",
        "google-genai-2",
        "google_genai_desk",
        "google-genai",
        {"OpenTelemetry": {"google-genai": OTEL + "google-genai"}},
    ),
    Stack(
        "Google ADK",
        "google-adk",
        "google_adk_desk",
        "google-adk",
        {"OpenInference": {"google_adk": OI + "google-adk"}},
        partial=("OpenInference",),
        raises=True,
        raises_alone=True,
    ),
    Stack(
        "Agno",
        "agno",
        "agno_desk",
        "agno",
        {
            "OpenInference": {"agno": OI + "agno"},
            "OpenLLMetry": {"agno": OTEL + "agno"},
            "OpenTelemetry": {"agno": GENAI + "agno"},
        },
        told=("OpenInference", "OpenTelemetry"),
        partial=("OpenLLMetry", "OpenTelemetry"),
        names=("OpenInference",),
        waivers=(
            Waiver(
                "OpenLLMetry",
                STREAMED,
                ("turns", "sessions"),
                "a streamed run is an empty turn beside the one with its calls: the span ends "
                "before them, in a trace of its own",
            ),
        ),
    ),
    Stack(
        "LlamaIndex",
        "llama-index",
        "llama_index_desk",
        "llama-index-core",
        {
            "OpenInference": {"llama_index": OI + "llama-index"},
            "OpenLLMetry": {"llama_index": OTEL + "llamaindex"},
            "OpenTelemetry": {"llama_index": GENAI + "llama-index"},
        },
        told=("OpenInference", "OpenTelemetry"),
        partial=("OpenLLMetry", "OpenTelemetry"),
    ),
    Stack(
        "smolagents",
        "smolagents",
        "smolagents_desk",
        "smolagents",
        {
            "OpenInference": {"smolagents": OI + "smolagents"},
            "OpenTelemetry": {"smolagents": GENAI + "smolagents"},
        },
        partial=("OpenTelemetry",),
    ),
    Stack(
        "smolagents at its limit",
        "smolagents",
        "smolagents_limit",
        "smolagents",
        {"OpenInference": {"smolagents": OI + "smolagents"}},
        partial=("OpenInference",),
    ),
    Stack(
        "Microsoft Agent Framework",
        "agent-framework",
        "agent_framework_desk",
        "agent-framework-core",
        {"its own": {}},
        names=(),
        waivers=(
            Waiver("its own", STREAMED, ("replies",), "the framework gives streamed text twice"),
        ),
    ),
    Stack(
        "Strands",
        "strands",
        "strands_desk",
        "strands-agents",
        streams=False,
    ),
    Stack(
        "AutoGen",
        "autogen",
        "autogen_desk",
        "autogen-agentchat",
        {"OpenInference": {"autogen_agentchat": OI + "autogen-agentchat"}},
        partial=("OpenInference",),
    ),
    Stack(
        "DSPy",
        "dspy",
        "dspy_desk",
        "dspy",
        {
            "OpenInference": {"dspy": OI + "dspy"},
            "OpenTelemetry": {"dspy": GENAI + "dspy"},
        },
        streams=False,
        remembers=False,
        native=False,
        apart=True,
        told=("OpenTelemetry",),
        partial=("OpenInference",),
    ),
    Stack(
        "Instructor",
        "instructor",
        "instructor_desk",
        "instructor",
        {
            "OpenInference": {"instructor": OI + "instructor"},
            "OpenInference for both": {"instructor": OI + "instructor", "openai": OI + "openai"},
        },
        streams=False,
        executes=False,
        partial=("OpenInference",),
    ),
    Stack(
        "OpenAI chat with MCP",
        "plain",
        "openai_mcp",
        "mcp",
        {"OpenInference": {"mcp": OI + "mcp"}},  # OpenLLMetry's cannot instrument today's client
        streams=False,
        partial=("OpenInference",),
    ),
    Stack("Vercel AI SDK", "node", "vercel/desk.mjs", "ai", here=False),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One run."""

    stack: Stack
    beside: str
    manner: Manner

    @property
    def id(self) -> str:
        """What ``-k`` chooses by."""
        said = f"{self.stack.name}-{self.beside}-{self.manner.name}"
        return said.lower().replace(" ", "-")

    @property
    def tells_failures(self) -> bool:
        """Whether anything that is recorded says that the tool failed."""
        told = self.stack.told
        if self.manner.theirs and self.beside in self.stack.mute:
            return False
        if self.manner.raises and self.beside == ALONE and not self.stack.raises_alone:
            return False
        return told is None or self.beside in told or self.manner.tools

    @property
    def stands_alone(self) -> bool:
        """Whether each model call is all that anybody can know of its turn."""
        alone = self.stack.apart and self.beside == ALONE
        return alone and not (self.manner.decorated or self.manner.web)

    @property
    def has_names(self) -> bool:
        """Whether its records can have the framework's own names of the conversations."""
        names = self.stack.names
        return self.manner.decorated or names is None or self.beside in names

    @property
    def waived(self) -> dict[str, str]:
        """The checks that are not made of it, and why."""
        return {
            check: waiver.why
            for waiver in self.stack.waivers
            if (waiver.beside, waiver.manner) == (self.beside, self.manner)
            for check in waiver.checks
        }

    def not_asked(self) -> Iterator[str]:
        """What is not asked of it, though it is of others."""
        stack, manner = self.stack, self.manner
        if self.stands_alone:
            yield "each call is a turn and a session: nothing tells which of them are one"
        elif not (stack.remembers or manner.decorated):
            yield "each message is a session: the framework resends nothing of the one before"
        if not stack.native and self.beside == ALONE and not manner.tools:
            yield "its tools are not seen: the requests do not tell of them"
        elif stack.executes and not self.tells_failures:
            yield "that a tool failed is not told, but for its words"
        if not (self.has_names or self.stands_alone):
            yield "sessions do not have the framework's ids: nothing tells them"
        yield from dict.fromkeys(self.waived.values())


_CI: Final = {
    "OpenAI chat": (BOTH,),
    "Anthropic": (THEIRS,),
    "LangGraph": (DECORATED,),
}


def in_ci(cell: Cell) -> bool:
    """Whether it is one of those that fit beside everything else in CI."""
    return cell.manner in _CI.get(cell.stack.name, ())


def cells() -> Iterator[Cell]:
    """All runs, by stack."""
    for stack in STACKS:
        for beside in (ALONE, *stack.beside):
            for manner in EVERY:
                cell = Cell(stack, beside, manner)
                if _makes_sense(cell):
                    yield cell


def _makes_sense(cell: Cell) -> bool:
    manner = cell.manner
    if manner.stream and not cell.stack.streams:
        return False
    if manner.raises and not cell.stack.raises:
        return False
    if not cell.stack.here and (manner.web or manner.decorated or manner.at_once):
        return False
    if manner.theirs:
        return cell.beside not in (ALONE, *cell.stack.partial)
    return cell.beside == ALONE or not manner.web
