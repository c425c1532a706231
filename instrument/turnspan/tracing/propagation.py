"""One turn across processes: ``inject`` writes where this code is into a carrier, ``extract`` goes
on from there.

The carrier is a plain ``dict[str, str]`` of HTTP headers: it can be pickled, put into JSON, sent as
a message's headers. The trace travels as OpenTelemetry's global propagator writes it (W3C
``traceparent`` and ``tracestate``), the turn and its session as baggage.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final, cast
from urllib.parse import quote_plus
from weakref import WeakValueDictionary

from opentelemetry import baggage, trace
from opentelemetry import context as otel_context
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context

from turnspan import semconv
from turnspan.runtime.guard import guard, warn_once
from turnspan.runtime.inspection import looking
from turnspan.tracing.block_stack import OpenBlocks, WithBlock
from turnspan.tracing.context import SESSION_KEY, TURN_KEY, active_turn, session_around
from turnspan.tracing.recording import detach
from turnspan.turn.turn import NO_TURN, Session, Turn

TURN_ID: Final = "turnspan.turn_id"
AGENT: Final = "turnspan.agent"
ROUND: Final = "turnspan.round"
SESSION_ID: Final = "turnspan.session_id"
USER_ID: Final = "turnspan.user_id"
LOOP: Final = (
    semconv.EXPERIMENT_ID,
    semconv.LINEAGE_ID,
    semconv.ROLLOUT_ID,
    semconv.ATTEMPT_ID,
    semconv.TURN_AGENT_VERSION,
    semconv.CYCLE,
    semconv.CONSORTIUM_ID,
    semconv.CONSORTIUM_ROLE,
    semconv.CONSORTIUM_ITERATION,
    semconv.CONSORTIUM_MEMBER,
)
"""What attempts and consortium runs put on spans: it travels by the attributes' own names."""
_NUMBERS: Final = (semconv.CYCLE, semconv.CONSORTIUM_ROLE, semconv.CONSORTIUM_ITERATION)
KEYS: Final = (TURN_ID, AGENT, ROUND, SESSION_ID, USER_ID, *LOOP)
"""The baggage we write and read; nothing else of a carrier reaches a span or a record."""

_MAX_LENGTH: Final = 1_024  # of one value, encoded; the standard's limit for all of it is 8,192
_MAX_HEADERS: Final = 1_000
_IDENTITY: Final = re.compile(r"[0-9a-f]{16,32}")
_NUMBER: Final = re.compile(r"[0-9]{1,6}")
_HEADER: Final = "baggage"
_w3c_baggage: Final = W3CBaggagePropagator()


class RemoteTurn(Turn):
    """A turn that began in another process: its summary is written there.

    Calls and tools recorded here carry its id, and rounds go on from the number that travelled.
    What the application says about a turn (``stop``, ``abort``, ``set``) it must say there.
    """

    def stop(self, reason: str, detail: str = "") -> None:
        """No effect: the turn ends where it began."""
        warn_once("turn.stop() has no effect in a process that only received the turn.")

    def abort(self, detail: str = "") -> None:
        """No effect: the turn ends where it began."""
        warn_once("turn.abort() has no effect in a process that only received the turn.")

    def set(self, **attributes: Any) -> None:
        """No effect: the turn's record is written where it began."""
        warn_once("turn.set() has no effect in a process that only received the turn.")


# Turns whose identity has left or come, while they live: work that returns to a turn's own process
# counts for it, and pieces of one remote turn that run here at once count together.
_travelling: WeakValueDictionary[tuple[int, str], Turn] = WeakValueDictionary()


def inject(carrier: dict[str, str] | None = None) -> dict[str, str]:
    """Write the current trace, turn and session into ``carrier`` (default: a new one).

    Returns the carrier with ``traceparent``, ``tracestate`` and ``baggage``; outside any trace,
    turn and session nothing is added. Never raises. The application's own baggage is included, the
    session's attributes are not.
    """
    carrier = {} if carrier is None else carrier
    with guard("inject", "turnspan.inject"):
        context = otel_context.get_current()
        ours = _to_send(context)
        if not ours:
            _propagate().inject(carrier, context)
            return carrier
        others = baggage.get_all(context)
        alone = baggage.clear(context)
        for key, value in ours.items():
            alone = baggage.set_baggage(key, value, alone)
        together = alone  # ours come first: what exceeds the standard's limits is left out
        for name, other in others.items():
            together = baggage.set_baggage(name, other, together)
        _propagate().inject(carrier, together)
        if _HEADER not in _propagate().get_global_textmap().fields:
            _w3c_baggage.inject(carrier, alone)
    return carrier


def _propagate() -> Any:
    """OpenTelemetry's module: to import it fails where OTEL_PROPAGATORS names what there is not."""
    from opentelemetry import propagate

    return propagate


def _to_send(context: Context) -> dict[str, str]:
    turn, session = active_turn(context), session_around(context)
    values: dict[str, str] = {}
    if turn is not None and turn.id:
        values[TURN_ID] = turn.id
        values[AGENT] = turn.agent_name
        values[ROUND] = str(turn.rounds)
        _travelling[os.getpid(), turn.id] = turn
    if session is not None:
        values[SESSION_ID] = session.id
        values[USER_ID] = session.user_id
        if session.loop is not None:
            values.update((key, str(value)) for key, value in session.loop.items())
    return {key: value for key, value in values.items() if value and _fits(key, value)}


def _fits(key: str, value: str) -> bool:
    fits = len(quote_plus(value)) <= _MAX_LENGTH
    if not fits:
        warn_once(f"{key} is too long to travel ({len(value):,} characters) and is left out.")
    return fits


class extract(WithBlock[Turn]):
    """``with turnspan.extract(headers) as turn:`` continues where ``inject`` was called.

    Work inside belongs to the sender's trace, turn and session. The turn's summary is written where
    the turn began; an ``@agent`` inside is a nested turn. Returns the turn; without one in the
    headers, a turn that records nothing. Malformed headers are ignored. Never raises. Extract only
    headers that you trust: their sender names the turn and session.

    Args:
        carrier: headers as a mapping or pairs, texts or bytes; names in any case.
    """

    def __init__(self, carrier: Mapping[str, Any] | Iterable[tuple[Any, Any]] | None) -> None:
        self._carrier = carrier
        self._open: OpenBlocks[object | None] = OpenBlocks()

    def __enter__(self) -> Turn:
        token: object | None = None
        turn: Turn = NO_TURN
        with guard("extract", "turnspan.extract"):
            with looking:
                headers = _headers(self._carrier)
            context = _continued(headers, otel_context.get_current())
            if context is not None:
                token = otel_context.attach(context)
                turn = active_turn(context) or NO_TURN
        self._open.push(token)
        return turn

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with guard("extract"):
            detach(self._open.pop())


def _headers(carrier: Any) -> dict[str, str]:
    """The carrier as the propagators read it: lower-case names, one text each."""
    headers: dict[str, str] = {}
    if carrier is None:
        return headers
    items: Iterable[tuple[Any, Any]] = carrier.items() if hasattr(carrier, "items") else carrier
    for name, value in islice(items, _MAX_HEADERS):
        name, value = _text(name).lower(), _text(value)
        if value:
            headers[name] = f"{headers[name]},{value}" if name in headers else value
    return headers


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, (list, tuple)):
        return ",".join(_text(item) for item in cast("list[Any]", value))
    return value if isinstance(value, str) else ""


def _continued(headers: dict[str, str], here: Context) -> Context | None:
    """The context that goes on from the headers; ``None`` where they say nothing."""
    if not headers:
        return None
    there = _propagate().extract(headers, Context())
    if _HEADER not in _propagate().get_global_textmap().fields:
        carried = baggage.get_all(_w3c_baggage.extract(headers, Context()))
    else:
        carried = baggage.get_all(there)
    sent = {key: value for key in KEYS if (value := _accepted(carried.get(key)))}
    remote = trace.get_current_span(there)
    if not remote.get_span_context().is_valid and not sent:
        return None
    context = Context({**here, **there})
    span = trace.get_current_span(here)
    if span.get_span_context().trace_id == remote.get_span_context().trace_id:
        # A server's span is current already, a child of the sender's: it stays the parent.
        context = trace.set_span_in_context(span, context)
    return _with_turn(sent, _with_baggage(context, here, there))


def _with_baggage(context: Context, here: Context, there: Context) -> Context:
    """The application's own baggage goes on; ours does not, for no request to take it elsewhere."""
    context = baggage.clear(context)
    for key, value in {**baggage.get_all(here), **baggage.get_all(there)}.items():
        if key not in KEYS:
            context = baggage.set_baggage(key, value, context)
    return context


def _with_turn(sent: Mapping[str, str], context: Context) -> Context:
    session: Session | None = None
    loop = _loop(sent)
    if sent.get(SESSION_ID) or sent.get(USER_ID) or loop:
        session = Session(sent.get(SESSION_ID, ""), sent.get(USER_ID, ""), loop=loop)
    values = {k: v for k, v in context.items() if k not in (TURN_KEY, SESSION_KEY)}
    if session is not None:
        values[SESSION_KEY] = session
    identity = sent.get(TURN_ID, "")
    if _IDENTITY.fullmatch(identity):
        number = sent.get(ROUND, "")
        rounds = int(number) if _NUMBER.fullmatch(number) else 0
        values[TURN_KEY] = _turn(identity, sent.get(AGENT, ""), session, rounds)
    return Context(values)


def loop_ids(carrier: Mapping[str, str]) -> dict[str, Any]:
    """The lineage, rollout, attempt and consortium run that a carrier of ``inject`` names."""
    carried = baggage.get_all(_w3c_baggage.extract(_headers(carrier), Context()))
    return _loop({key: value for key in LOOP if (value := _accepted(carried.get(key)))}) or {}


def _loop(sent: Mapping[str, str]) -> dict[str, Any] | None:
    """The lineage, rollout, attempt and consortium run that travelled."""
    found: dict[str, Any] = {key: value for key in LOOP if (value := sent.get(key))}
    for key in _NUMBERS:
        number = found.pop(key, "")
        if _NUMBER.fullmatch(number):
            found[key] = int(number)
    return found or None


def _turn(identity: str, agent: str, session: Session | None, rounds: int) -> Turn:
    known = _travelling.get((os.getpid(), identity))
    if known is not None:
        return known
    turn = RemoteTurn(identity, agent_name=agent, session=session)
    turn.rounds = rounds
    turn.place()  # its row is written where it began
    return _travelling.setdefault((os.getpid(), identity), turn)


def _accepted(value: object) -> str:
    """A value of our baggage; empty for one that we would not have written."""
    if not isinstance(value, str) or len(value) > _MAX_LENGTH:
        return ""
    return value if value.isprintable() and "\ufffd" not in value else ""
