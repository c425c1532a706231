"""The blocks of ``turnspan.context_assembly``: what was put into a prompt, what was left out, and
why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from turnspan import config, semconv
from turnspan.content.given_values import text_of
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.guard import errors, guard
from turnspan.tracing import otel_fast, recording
from turnspan.tracing.assembly import (
    DROPPED,
    KEPT,
    MAX_NOTES,
    Assembly,
    Note,
    count_of,
    texts_of,
)
from turnspan.tracing.block_stack import OpenBlocks, WithBlock
from turnspan.tracing.content_store import ContextFact
from turnspan.tracing.context import active_turn, session_around
from turnspan.tracing.context_steps import AttachedCalls, StepSpan, leave, name_of
from turnspan.tracing.recording import SpanRecording, context_of
from turnspan.tracing.state import State, another_one, current

_ADD: Final = guard("context.add", "turnspan.context_assembly")


class ContextAssembly:
    """What ``with turnspan.context_assembly(...) as context`` gives: say here what is considered,
    kept and dropped, from any thread or task.

    Nothing of it raises, whatever it is given, and nothing of it changes what the application
    does. An item may be told of in any order, and again with more: what was said last holds.
    After the block it can only be read (``meta``) and named (``id``, ``attached``).
    """

    def __init__(self, assembly: Assembly, state: State, span: SpanRecording | None) -> None:
        self._assembly = assembly
        self._state = state
        self._span = span

    @property
    def id(self) -> str:
        """The assembly's id: its span's, in lowercase hex."""
        return self._assembly.id

    # -- what the application says ------------------

    def step(self, name: str) -> StepSpan:
        """A step of the work, as a context manager (also asynchronous): a span, and its duration in
        the record. ``load_config``, ``plan``, ``trim``, or any other name."""
        return StepSpan(self._assembly, text_of(name) or "step")

    def set(
        self,
        *,
        task: str | None = None,
        entities: Iterable[str] | None = None,
        budget: int | None = None,
    ) -> None:
        """Set what you learn inside the block: the kind of task, its entities, the budget in
        tokens."""
        with _ADD:
            assembly = self._open("set")
            if assembly is not None:
                assembly.task = assembly.task if task is None else text_of(task)
                assembly.entities = assembly.entities if entities is None else texts_of(entities)
                assembly.budget = assembly.budget if budget is None else count_of(budget)

    def consider(
        self,
        id: str,
        *,
        text: str | None = None,
        section: str | None = None,
        source: str | None = None,
        score: float | None = None,
        tokens: int | None = None,
        hop: int | None = None,
        requires_depth: int | None = None,
    ) -> None:
        """Record a candidate for the context.

        Args:
            id: its name, such as a page's title.
            text: its text; stored once, by its hash.
            section: its part of the context, such as ``encyclopedia``.
            source: where it comes from.
            score: how well it fits.
            tokens: its length; default: a fourth of its letters, marked as an estimate.
            hop: the number of links between it and the starting point.
            requires_depth: the number of requirements between it and the first instructions.
        """
        with _ADD:
            self._note(id, "", "", (text, section, source, score, tokens, hop, requires_depth))

    def keep(
        self,
        id: str,
        *,
        text: str | None = None,
        section: str | None = None,
        source: str | None = None,
        score: float | None = None,
        tokens: int | None = None,
        hop: int | None = None,
        requires_depth: int | None = None,
    ) -> None:
        """It goes into the context. Items have the order in which they were kept (the last time);
        one that was not considered before is considered herewith."""
        with _ADD:
            self._note(id, KEPT, "", (text, section, source, score, tokens, hop, requires_depth))

    def drop(self, id: str, *, reason: str) -> None:
        """Record a dropped item, with a reason: ``budget``, ``duplicate``, ``filtered``, ..."""
        with _ADD:
            self._note(id, DROPPED, text_of(reason), (None,) * 7)

    def bypass(self, reason: str) -> None:
        """Record that the assembly was skipped: the prompt has no context."""
        with _ADD:
            assembly = self._open("bypass")
            if assembly is not None:
                assembly.bypass_reason = text_of(reason)
                assembly.bypassed = True

    def assembled(self, text: str, *, tokens: int | None = None) -> None:
        """Record the final text. Later model calls of the turn that send it are recorded as using
        it.

        Args:
            text: the whole context, as it goes into the prompt.
            tokens: its length; default: the sum of the kept items.
        """
        with _ADD:
            assembly = self._open("assembled")
            if assembly is not None:
                assembly.text = text_of(text)
                assembly.text_tokens = count_of(tokens)
                _tell(assembly, self._state, self._span, "assembled")

    def attached(self) -> AttachedCalls:
        """A context manager (also asynchronous): model calls inside are recorded as using this
        context. You need it only if the text is changed before it is sent, or content is not
        recorded; otherwise the text is found in the request."""
        return AttachedCalls(self._assembly.id)

    # -- what the application is told ------------------

    def meta(self) -> dict[str, Any]:
        """Everything but the texts, ready for JSON, to return with the answer."""
        with guard("context.meta"):
            return self._assembly.meta()
        return {}

    def _note(self, id: Any, decision: str, reason: str, facts: tuple[Any, ...]) -> None:
        assembly = self._open(decision or "considered")
        if assembly is None:
            return
        if len(assembly.notes) >= MAX_NOTES:
            self._state.content.dropped["context_items_full"] += 1
            return
        assembly.notes.append(Note(id, decision, reason, facts))

    def _open(self, what: str) -> Assembly | None:
        """The assembly, while it can be added to; what comes later is counted as an error."""
        if not self._assembly.ended:
            return self._assembly
        late = ConfigError(f"the assembly is over: {what} came after its block")
        errors.record("context.late", late, public="turnspan.context_assembly")
        return None


def _tell(assembly: Assembly, state: State, span: SpanRecording | None, stage: str) -> None:
    """Tell the worker how far an assembly has come, where that is recorded."""
    if span is not None and state.content.active and span.span.is_recording():
        text = assembly.text if stage == "assembled" else ""
        state.content.tell(ContextFact(stage, assembly, text))


class _AssemblyEntry:
    """One time that an assembly's block was entered."""

    def __init__(self, assembly: Assembly, state: State, span: SpanRecording | None) -> None:
        self.assembly = assembly
        self.context = ContextAssembly(assembly, state, span)
        self._state = state
        self._span = span
        self._token: object | None = None
        self._forks = recording.forks

    def enter(self) -> None:
        if self._span is not None:
            self._token = self._span.enter()
            with guard("context.begin"):
                _tell(self.assembly, self._state, self._span, "began")

    def exit(self, error: BaseException | None) -> None:
        assembly, span = self.assembly, self._span
        if self._forks != recording.forks:
            if span is not None:  # a forked child that unwinds: the record is its parent's
                span.leave(self._token)
            return
        with guard("context.end"):
            assembly.end(name_of(error))
            _tell(assembly, self._state, span, "ended")
            assembly.ended = True
            if span is not None:
                otel_fast.set_attributes(span.span, _attributes(assembly))
        if span is not None:
            leave(span, self._token, error)


class context_assembly(WithBlock[ContextAssembly]):
    """Record how a prompt's context is assembled: a context manager, also asynchronous.

        with turnspan.context_assembly("query", budget=8_000) as context:
            with context.step("search"):
                for page in search(question):
                    context.consider(page.title, text=page.text, section="encyclopedia")
            ...
            context.keep("Lighthouses")
            context.drop("Tides", reason="budget")
            context.assembled(prompt)

    It returns a ``ContextAssembly``. The record has each item, each step and the use of the budget.
    Model calls of the turn that send the text are recorded as using it.

    Args:
        task: the kind of task, such as ``query`` or ``edit_page``.
        budget: the most tokens of the context.
        entities: what the prompt is about. They are content, and recorded only with content.
    """

    def __init__(
        self,
        task: str = "unknown",
        *,
        budget: int | None = None,
        entities: Iterable[str] = (),
    ) -> None:
        self._task = text_of(task) or "unknown"
        self._budget: int | None = None
        self._entities: list[str] = []
        with guard("context.arguments", "turnspan.context_assembly"):
            self._budget = count_of(budget)
            self._entities = texts_of(entities)
        self._state = another_one()
        self._blocks: OpenBlocks[_AssemblyEntry] = OpenBlocks()

    def __enter__(self) -> ContextAssembly:
        assembly = Assembly(self._task, self._budget, list(self._entities))
        block = _AssemblyEntry(assembly, current(), None)
        with guard("context.begin"):
            if config.active().enabled:
                block = _start(assembly, self._state)
        block.enter()
        self._blocks.push(block)
        return block.context

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        block = self._blocks.pop()
        if block is not None:
            block.exit(error)


def _start(assembly: Assembly, state: State | None) -> _AssemblyEntry:
    """Begin an assembly's span and find out where it belongs."""
    around = context_of(state)
    turn = active_turn(around)
    session = session_around(around)
    name = f"context_assembly {assembly.task}"
    began = recording.begin_span(name, {semconv.CONTEXT_TASK: assembly.task}, state)
    span: Any = began.span
    identity = span.get_span_context()
    if identity.is_valid:
        assembly.id = f"{identity.span_id:016x}"
    parent = getattr(span, "parent", None)
    resource = getattr(span, "resource", None)
    assembly.start_time = getattr(span, "start_time", None) or assembly.start_time
    place = assembly.place
    place.trace_id, place.span_id = identity.trace_id, identity.span_id
    if parent is not None:
        place.parent_span_id = parent.span_id
    if turn is not None:
        place.turn_id, place.agent_name = turn.id, text_of(turn.agent_name)
    if session is not None:
        place.session_id = text_of(session.id)
    if resource is not None:
        place.resource = resource.attributes
    otel_fast.set_attributes(span, {semconv.CONTEXT_ID: assembly.id})
    return _AssemblyEntry(assembly, current(around), began)


def _attributes(assembly: Assembly) -> dict[str, Any]:
    """What an assembly's span says of it that nobody has to work out first."""
    found: dict[str, Any] = {semconv.CONTEXT_TASK: assembly.task}
    if assembly.budget is not None:
        found[semconv.CONTEXT_BUDGET] = assembly.budget
    if assembly.bypassed:
        found[semconv.CONTEXT_BYPASS_REASON] = assembly.bypass_reason
    return found
