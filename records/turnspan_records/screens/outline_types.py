"""The outline of a session: everything that happened, with the beginnings of texts only."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_records.conversation import CallFacts, ToolFacts, TurnFacts

HEAD = 300
"""Characters of a text that an outline has of it."""


@dataclass(frozen=True, slots=True)
class Text:
    """The beginning of a text; ``size`` is what all of it takes, in bytes of UTF-8."""

    head: str = ""
    size: int = 0

    @property
    def whole(self) -> bool:
        """Whether the beginning is all there is."""
        return len(self.head.encode("utf-8", "replace")) >= self.size


@dataclass(frozen=True, slots=True)
class Head:
    """A message: whose it is, what it holds, and how it begins.

    ``kinds`` are the types of its parts in the GenAI schema, each once. ``recorded`` is false where
    only its hash is known.
    """

    hash: str
    role: str = ""
    name: str = ""
    kinds: tuple[str, ...] = ()
    size: int = 0
    text: str = ""
    thoughts: str = ""
    recorded: bool = True


@dataclass(frozen=True, slots=True)
class DefinitionHead:
    """A system prompt or a tool catalogue: how it begins."""

    hash: str
    kind: str
    text: Text


@dataclass(frozen=True, slots=True)
class ToolsChange:
    """How a tool catalogue differs from another, by the tools' names."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutlineRequest:
    """A tool call that the model asked for.

    ``tool`` is the span of the tool that ran, empty where none is recorded. ``altered`` says that
    the model was given something else than the tool's own result; ``seen`` is how that began, empty
    where both are the same.
    """

    call_id: str
    name: str
    arguments: str
    tool: str = ""
    answered: bool = False
    seen: str = ""
    altered: bool = False


@dataclass(slots=True)
class OutlineTurn(TurnFacts):
    """A turn. ``ended_how`` is its stop reason, or the state of one that has not ended."""

    ended_how: str
    user_message: Text
    response_text: Text
    identical_streak: int


@dataclass(slots=True)
class OutlineCall(CallFacts):
    """A model call. ``new`` and ``replies`` are places in the outline's ``messages``.

    ``before`` is the span of the call whose conversation it continues, empty where it begins one.
    Of that conversation it keeps the first ``kept`` messages; ``dropped`` are those it was not
    given any more. Where it left the middle out or edited it, it is ``rewritten``.
    """

    parent_span_id: str
    stream_outcome: str
    cache_write_tokens: int | None
    cache_lost: int | None
    """Tokens fewer read from the provider's cache than the call before had left there."""
    tokens_estimated: bool
    consortium_id: str
    messages: int
    new: tuple[int, ...]
    replies: tuple[int, ...]
    before: str
    kept: int
    dropped: int
    rewritten: bool
    system: str
    """The hash of its system prompt; empty for none."""
    system_new: bool
    """Whether it is the first of its agent with this system prompt, and no message says it."""
    system_changed: bool
    tools: str
    tools_changed: ToolsChange | None
    requests: tuple[OutlineRequest, ...]
    response: Text
    """What it answered where no message of it is recorded: of a call that has not ended, all of the
    text so far."""
    status: str
    """``final``; ``running`` or ``interrupted`` where it has not ended."""
    stored: float
    """Seconds from its beginning until what is known of it was stored, if it has not ended."""
    thoughts: str
    """The thoughts so far of a call that has not ended."""


@dataclass(slots=True)
class OutlineTool(ToolFacts):
    """A tool that ran. ``times`` counts the calls of its turn with the same arguments up to this
    one, ``first`` is the span of the first of them; ``same_result`` says that the one before gave
    the same. ``result`` has no beginning where the model was given it as it is: the message has."""

    arguments: Text
    result: Text
    times: int
    first: str
    same_result: bool
    requested: bool
    """Whether a call's reply asked for it; else it stands on its own."""
    decision: str
    """What was decided before it ran: ``accept`` or ``reject``; empty if that is not known."""
    decided_by: str
    """Who decided: the user, a rule (``config``, ``auto``), a hook."""


@dataclass(frozen=True, slots=True)
class OutlineStep:
    """A row in the order in which a conversation is read: ``kind`` is turn, call or tool."""

    kind: str
    id: str
    depth: int


@dataclass(frozen=True, slots=True)
class CountedFact:
    """What a coding agent counted in a session, by the name that the week's report has for it."""

    what: str
    value: float


@dataclass(frozen=True, slots=True)
class Outline:
    """A session, or a trace without one. ``cursor`` is its newest moment (``newest``);
    ``continues`` says that this is its beginning only, without ``cursor`` and ``counted``."""

    project: str
    session_id: str
    trace_id: str
    cursor: str
    running: bool
    turns: tuple[OutlineTurn, ...] = ()
    calls: tuple[OutlineCall, ...] = ()
    tools: tuple[OutlineTool, ...] = ()
    messages: tuple[Head, ...] = ()
    definitions: tuple[DefinitionHead, ...] = ()
    steps: tuple[OutlineStep, ...] = ()
    continues: bool = False
    counted: tuple[CountedFact, ...] = ()
