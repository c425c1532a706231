"""``turnspan.limits``: limits in the context, asked before a model call is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from opentelemetry import context as otel_context
from opentelemetry.context import Context

from turnspan.config import Settings
from turnspan.runtime.call_limits import LimitedCall, LimitSet, LimitsInForce, reserve
from turnspan.runtime.errors import TurnspanLimitReached
from turnspan.tracing.block_stack import OpenBlocks, WithBlock
from turnspan.tracing.context import SESSION_KEY, TURN_KEY
from turnspan.tracing.function_wrapper import wrap
from turnspan.tracing.recording import detach
from turnspan.tracing.recording_protocol import ContextRecording
from turnspan.tracing.state import current

F = TypeVar("F", bound=Callable[..., Any])
_LIMITS_KEY: Final = otel_context.create_key("turnspan-limits")
_of_settings: Final[dict[LimitSet, LimitsInForce]] = {}


class InUse:
    """Whether any block of limits was ever entered: until then a call asks for nothing."""

    blocks = False


def allow(
    context: Context, settings: Settings, turn: Any, session: Any, rounds: bool
) -> LimitedCall | None:
    """Count a call that is about to be made in this context; ``None``: nothing limits it.

    Raises:
        TurnspanLimitReached: it would go beyond a limit. Its turn then ends ``budget_exceeded``.
    """
    around: Any = context.get(_LIMITS_KEY, ()) if InUse.blocks else ()
    in_force: list[LimitsInForce] = list(around)
    everywhere = settings.limits
    if everywhere is not None:
        found = _of_settings.get(everywhere)
        if found is None:
            found = _of_settings.setdefault(everywhere, LimitsInForce(everywhere))
        in_force.append(found)
    if not in_force:
        return None
    whose = session if turn is None else turn.session
    try:
        return reserve(in_force, turn, "" if whose is None else whose.id, rounds)
    except TurnspanLimitReached as reached:
        if turn is not None:
            turn.limit_reached(str(reached))
        raise


def allow_here() -> LimitedCall | None:
    """``allow`` of a chat call in the current context."""
    context = otel_context.get_current()
    settings = current(context).settings
    if not settings.enabled:
        return None
    return allow(context, settings, context.get(TURN_KEY), context.get(SESSION_KEY), True)


class CallLimits(WithBlock["CallLimits"]):
    """Limits of the model calls inside: a context manager and a decorator."""

    def __init__(self, limits: LimitSet) -> None:
        self.limit_set: Final = limits
        """What is limited (not part of the public API)."""
        self._open: OpenBlocks[object | None] = OpenBlocks()

    def _inside(self) -> Context:
        InUse.blocks = True
        context = otel_context.get_current()
        around: Any = context.get(_LIMITS_KEY, ())
        inner = (*around, LimitsInForce(self.limit_set))
        return otel_context.set_value(_LIMITS_KEY, inner, context)

    def __enter__(self) -> CallLimits:
        self._open.push(otel_context.attach(self._inside()))
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        detach(self._open.pop())

    def __call__(self, func: F) -> F:
        """Decorate a function: limits hold for each call of it."""
        return wrap(func, lambda _: lambda args, kwargs: ContextRecording(self._inside()))


def limits(
    *,
    usd: float | None = None,
    calls: int | None = None,
    rounds: int | None = None,
    tokens: int | None = None,
    repeats: int | None = None,
    seconds: float | None = None,
    per: str = "turn",
    name: str = "",
) -> CallLimits:
    """Limit the model calls inside: a context manager, a decorator, or for ``configure(limits=)``.

    The call that would go beyond a limit is not made: ``TurnspanLimitReached`` is raised in its
    place, and its turn ends ``budget_exceeded``. Tokens and cost are known when a call has ended,
    so calls under way may still go beyond. Calls that Turnspan records are limited, no others.

        with turnspan.limits(usd=0.50, calls=40):
            answer("What does the log say?")

    Args:
        usd: the cost, by known prices. A call without a known price costs nothing, and a log line
            says so once.
        calls: model calls, each with its SDK's retries.
        rounds: model calls of a turn's own loop, without those of nested agents.
        tokens: input and output tokens.
        repeats: equal tool calls with equal results in a row in a turn.
        seconds: time since the first call.
        per: what is counted: each ``turn`` (with the turns nested in it), each ``session``, or the
            ``process`` (this block). A call outside of any turn or session counts for the block.
            Processes that write one spool share the counts of turns and sessions, until a day after
            the last call.
        name: with ``per="process"``: processes that give the same name share one count.

    Raises:
        ConfigError: a limit is not a number above 0, or nothing is limited.
    """
    return CallLimits(LimitSet(usd, calls, rounds, tokens, repeats, seconds, per, name))
