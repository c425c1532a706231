"""A response of ``llm`` while it is made: what happens within is its conversation's, and where no
SDK records a model call within, it is recorded by itself.
"""

from __future__ import annotations

import time
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Tracer

from turnspan import semconv
from turnspan.patching.models_on_the_wire import INSIDE
from turnspan.providers.llm.replies import PluginResponse, model_of, provider_of
from turnspan.runtime.guard import guard
from turnspan.tracing.agent_recording import TurnRecording
from turnspan.tracing.begin_call import begin
from turnspan.tracing.call_around import AROUND_KEY, CallAround
from turnspan.tracing.consortium_facts import MEMBER
from turnspan.tracing.context import SESSION_KEY, TURN_KEY, active_session, scope_attributes
from turnspan.tracing.model_call import ABANDONED, COMPLETE
from turnspan.tracing.recording import detach
from turnspan.turn.session import Session

_STEP: Final = guard("llm.step")
_FINISH: Final = guard("llm.finish")
_CONSORTIUM: Final = "llm_consortium"
_ANSWERING_KEY: Final = otel_context.create_key("turnspan-llm-answering")


class ConsortiumOutput(CallAround):
    """Around a response of a consortium: its members and arbiter are asked within."""

    __slots__ = ("name", "run_id", "turn")

    def __init__(self, response: Any) -> None:
        super().__init__(named(response))
        self.name = model_of(response.model)
        self.run_id = ""
        """The run that it is the output of."""
        self.turn: TurnRecording | None = None
        """The turn that the run is, unless it is made in one."""

    def within(self, context: Context) -> Context:
        """Where its own call is: in the trace of the run."""
        turn = self.turn
        return context if turn is None else trace.set_span_in_context(turn.span, context)

    def has_begun(self, attributes: dict[str, Any]) -> None:
        """It is the run's output, not an answer in one that it may be a member of; what it cost,
        its members and arbiter have cost."""
        for name in semconv.CONSORTIUM_IDS:
            attributes.pop(name, None)
        super().has_begun(attributes)
        if not self.run_id:
            return  # it failed before
        attributes[semconv.USAGE_COST] = 0.0
        attributes[semconv.CONSORTIUM_ID] = self.run_id
        attributes[semconv.CONSORTIUM_ROLE] = MEMBER
        if self.turn is not None:
            attributes.update(scope_attributes(self.turn.turn, None))


class PluginAnswering:
    """A member or an arbiter of a consortium: the plugin tells little of what became of it."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        """What its last response failed with."""
        self.text: str | None = None
        """The text of its last response."""
        self._token: object | None = None

    def enter(self) -> None:
        """It is asked within."""
        context = otel_context.get_current()
        self._token = otel_context.attach(otel_context.set_value(_ANSWERING_KEY, self, context))

    def leave(self) -> None:
        """It was asked."""
        token, self._token = self._token, None
        detach(token)


class Making:
    """One response under way. Its pieces are fetched within ``enter`` and ``leave``."""

    first: float | None = None
    """When its first piece came, by ``time.perf_counter``."""
    _response: Any = None

    def __init__(self, tracer: Tracer, response: Any) -> None:
        self._tracer = tracer
        self._response = response
        outer = otel_context.get_current()
        above: Any = outer.get(AROUND_KEY)
        if isinstance(above, CallAround):
            above.recorded = True  # a model that asks others: they are what was asked
        self._answering: Any = outer.get(_ANSWERING_KEY)
        conversation: Any = response.conversation
        self._endpoint = PluginResponse(response, [*conversation.responses] if conversation else [])
        self._texts: list[str] = []
        self._began = (time.time_ns(), time.perf_counter())
        of_consortium = type(response.model).__module__.partition(".")[0] == _CONSORTIUM
        self._around = ConsortiumOutput(response) if of_consortium else CallAround(named(response))
        self._inner = _within(outer, self._around, conversation)

    def enter(self) -> tuple[object, Any] | None:
        """A piece is about to be fetched."""
        with _STEP:
            return otel_context.attach(self._inner), INSIDE.set(True)
        return None

    def leave(self, entered: tuple[object, Any] | None) -> None:
        """It came, or did not."""
        if entered is None:
            return
        with _STEP:
            token, inside = entered
            detach(token)
            detach(inside)

    def came(self, piece: Any) -> None:
        """A piece came."""
        if self.first is None:
            self.first = time.perf_counter()
        if type(piece) is str:
            self._texts.append(piece)

    def finish(self, outcome: str, error: BaseException | None = None) -> None:
        """It is over; the first time that this is said, it is recorded unless an SDK's call was."""
        with _FINISH:
            response, self._response = self._response, None
            if response is None:
                return
            if isinstance(self._answering, PluginAnswering):
                self._answering.error = error
                self._answering.text = "".join(self._texts)
            if self._is_to_be_recorded(outcome):
                self._record(response, outcome, error)

    def _is_to_be_recorded(self, outcome: str) -> bool:
        around = self._around
        if isinstance(around, ConsortiumOutput) and around.run_id:
            return outcome == COMPLETE  # else the run says how it failed
        return not around.recorded

    def _record(self, response: Any, outcome: str, error: BaseException | None) -> None:
        endpoint = self._endpoint
        body = endpoint.body()
        target = {semconv.PROVIDER_NAME: provider_of(response.model)}
        around, context = self._around, self._inner
        if isinstance(around, ConsortiumOutput):
            context = around.within(context)
        token = otel_context.attach(context)
        try:
            stream = bool(response.stream)
            call = begin(self._tracer, endpoint, target, body, stream=stream, began=self._began)
        finally:
            detach(token)
        if call is None:
            return
        given: Any = None
        try:
            if call.wants_response:
                given = endpoint.reply_of(self._texts)
        finally:
            first = self.first if stream else None
            outcome = outcome if stream else ""
            call.close(given, given, error=error, outcome=outcome, first_chunk=first)

    def __del__(self) -> None:
        self.finish(ABANDONED)


def current_output() -> ConsortiumOutput | None:
    """The response of a consortium that is made here, whose run has not begun."""
    found = otel_context.get_value(AROUND_KEY)
    return found if isinstance(found, ConsortiumOutput) and not found.run_id else None


def named(response: Any) -> dict[str, Any]:
    """What ``llm`` calls the model and the response."""
    names: dict[str, Any] = {semconv.LLM_MODEL: model_of(response.model)}
    identity: Any = getattr(response, "id", None)  # older ones have none until they are logged
    if isinstance(identity, str):
        names[semconv.LLM_RESPONSE_ID] = identity
    return names


def _within(outer: Context, around: CallAround, conversation: Any) -> Context:
    """The context of what the model's plugin does."""
    given: dict[str, Any] = {AROUND_KEY: around}
    session = session_in(outer, conversation)
    if session is not None:
        given[SESSION_KEY] = session
    return Context({**outer, **given})


def session_in(context: Context, conversation: Any) -> Session | None:
    """The session that a conversation of ``llm`` is; ``None`` where there is one already.

    What members of a consortium are asked belongs to the session of whoever asked the consortium.
    """
    identity: Any = getattr(conversation, "id", None)
    if not isinstance(identity, str) or TURN_KEY in context:
        return None
    around = active_session(context)
    if around is None:
        return Session(identity)
    if around.id or semconv.CONSORTIUM_ID in (around.loop or ()):
        return None
    return Session(identity, around.user_id, around.attributes, around.loop)
