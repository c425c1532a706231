"""A turn, its calls and its tools have one session: the application's, whoever names another."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from itertools import count
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from no_code.talks import Model
from support.normalised import Rows
from turnspan.pipeline.processor import RecordProcessor
from turnspan.providers.openai.instrumentor import OpenAIInstrumentor
from turnspan.tracing.state import default

OWN = {"gen_ai.conversation.id": "theirs", "session.id": "theirs too"}
"""What other packages call the conversation."""


@turnspan.tool
def lookup() -> str:
    """A tool of the application's own."""
    return "found"


class Desk:
    """An application whose framework records with a tracer of its own."""

    def __init__(self, provider: TracerProvider, model: Model) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("framework")
        self._numbers = count(1)
        self.model = model

    @contextmanager
    def theirs(self, operation: str, at_start: bool, **more: str) -> Generator[None]:
        """A span of the framework's, which names its conversation at once or at the end."""
        said = {"gen_ai.operation.name": operation, "gen_ai.request.model": "gpt-4o", **more}
        given = {**said, **OWN} if at_start else said
        with self._tracer.start_as_current_span(operation, attributes=given) as span:
            yield
            span.set_attributes({**OWN, "openinference.span.kind": more.get("kind", "CHAIN")})

    def work(self, at_start: bool) -> None:
        """An agent of the framework's: its call, its tool, ours inside them, and ours beside."""
        with self.theirs("invoke_agent", at_start):
            with self.theirs("chat", at_start):
                pass
            with self.theirs("execute_tool", at_start, **{"gen_ai.tool.name": "search"}):
                lookup()
            said = {"role": "assistant", "content": "Hello"}
            self.model.chat([{"role": "user", "content": "Hi"}], said, f"r{next(self._numbers)}")
        lookup()

    def landed(self) -> None:
        """Have everything recorded so far land."""
        assert self._provider.force_flush()


@pytest.fixture
def rows() -> Rows:
    """Where everything lands."""
    return Rows()


@pytest.fixture
def desk(rows: Rows) -> Iterator[Desk]:
    """The application, recorded."""
    made = TracerProvider(shutdown_on_exit=False)
    made.add_span_processor(RecordProcessor(rows))
    default.provider = made
    instrumentor = OpenAIInstrumentor()
    default.content.attach()
    instrumentor.instrument(tracer_provider=made)
    try:
        yield Desk(made, Model())
    finally:
        instrumentor.uninstrument()
        default.provider = None
        made.shutdown()
        default.content.detach()


def in_session(work: Callable[[], None]) -> None:
    """The usual way."""
    with turnspan.session("ours", user_id="ada"), turnspan.agent("desk"):
        work()


def begun_inside(work: Callable[[], None]) -> None:
    """The agent's function says whose session it is."""
    with turnspan.agent("desk"), turnspan.session("ours", user_id="ada"):
        work()


def another_inside(work: Callable[[], None]) -> None:
    """Another session begins inside a turn of this one."""
    with turnspan.session("ours", user_id="ada"), turnspan.agent("desk"):
        work()
        with turnspan.session("another", user_id="bob"):
            work()


def in_none(work: Callable[[], None]) -> None:
    """A turn of no session."""
    with turnspan.agent("desk"):
        work()


def begun_late(work: Callable[[], None]) -> None:
    """A session begins in a turn of which something is recorded already."""
    with turnspan.agent("desk"):
        work()
        with turnspan.session("late"):
            work()


def of_a_block(work: Callable[[], None]) -> None:
    """No turn is decorated."""
    with turnspan.session("ours", user_id="ada"):
        work()


WAYS: dict[Callable[[Callable[[], None]], None], str] = {
    in_session: "ours",
    begun_inside: "ours",
    another_inside: "ours",
    in_none: "",
    begun_late: "",
    of_a_block: "ours",
}


@pytest.mark.parametrize("at_start", [True, False], ids=["named at once", "named at the end"])
@pytest.mark.parametrize(
    ("way", "session"), WAYS.items(), ids=lambda way: getattr(way, "__name__", "")
)
def test_a_turn_has_one_session(
    desk: Desk, rows: Rows, way: Any, session: str, at_start: bool
) -> None:
    """Whatever the framework says, at a span's start or its end."""
    way(lambda: desk.work(at_start))
    desk.landed()

    found: list[Any] = [*rows.turns, *rows.calls, *rows.tools]
    assert {row.session_id for row in found} == {session}
    assert {turn.user_id for turn in rows.turns if turn.agent_name == "desk"} <= {
        "ada" if session else ""
    }
    assert all("turnspan.session.id" not in str(row.attributes) for row in found)


def test_a_nested_agent_may_have_another_session(desk: Desk, rows: Rows) -> None:
    """It is a turn of its own: its rows have its session, the outer turn's the outer one's."""

    @turnspan.agent("inner")
    def inner() -> None:
        desk.work(True)

    with turnspan.session("ours"), turnspan.agent("outer"):
        lookup()
        with turnspan.session("another"):
            inner()
    desk.landed()

    turns = {turn.turn_id: turn.session_id for turn in rows.turns}
    assert sorted(turns.values()) == ["another", "ours"]
    for row in (*rows.calls, *rows.tools):
        assert row.session_id == turns[row.turn_id]


def test_a_conversation_of_the_provider_is_no_other_session(desk: Desk, rows: Rows) -> None:
    """What a request names as its conversation is that of a call without a turn."""
    for name, around in (("r1", turnspan.agent("desk")), ("r2", nullcontext())):
        with around:
            desk.model.respond("Hi", "Hello", name, conversation="conv_1")
    desk.landed()

    assert [call.session_id for call in rows.calls] == ["", "conv_1"]
