"""``turnspan.testing.record``: everything inside goes to memory, and all else is as it was."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace

import turnspan
import turnspan_records
from turnspan import config, instrumentation
from turnspan.testing import NotOneError, record
from turnspan.tracing import state
from turnspan_clickhouse.errors import NoStoreError
from turnspan_clickhouse.rows.tables import LlmCall, TurnSummary


@turnspan.agent
def answer(question: str) -> str:
    """An agent with one call, by hand, and one tool."""
    with turnspan.inference(provider="mine", model="m-1", messages=question) as call:
        call.response(text="Let me look.", input_tokens=3, output_tokens=2)
    return f"It is {look('Oslo')['sky']}."


@turnspan.tool
def look(city: str) -> dict[str, str]:
    """The sky of a city."""
    return {"city": city, "sky": "grey"}


def left() -> tuple[Any, ...]:
    """What a block must leave as it was."""
    return (
        state.default.stand_in,
        vars(state)["_several"],
        config.look_up,
        config.of_process(),
        state.default.content.active,
        state.default.provider,
        [(one.name, one.enabled) for one in instrumentation.report()],
        trace.get_tracer_provider(),
        threading.active_count(),
    )


def test_everything_inside_is_recorded_as_typed_records() -> None:
    """Turn, call, tool, judgment and spans, in words and numbers, with nothing configured."""
    before = left()
    with record() as recorded:
        with turnspan.session("s-1"):
            assert answer("Is it raining?") == "It is grey."
        turn = recorded.turn()
        assert turnspan.annotate(turn.id, score=7.0)
    assert left() == before

    assert (turn.agent_name, turn.user_message, turn.text) == (
        "answer",
        "Is it raining?",
        "It is grey.",
    )
    assert (turn.status, turn.stop_reason, turn.session_id) == ("final", "completed", "s-1")
    assert (turn.rounds, turn.calls, turn.tools, turn.failed_tools) == (1, 1, 1, 0)
    call = recorded.call(model="m-1")
    assert (call.turn_id, call.input_tokens, call.output_tokens) == (turn.id, 3, 2)
    assert [(m.role, m.text) for m in recorded.messages()] == [
        ("user", "Is it raining?"),
        ("assistant", "Let me look."),
    ]
    tool = recorded.tool(name="look")
    assert (tool.arguments, tool.result) == (
        {"city": "Oslo"},
        {"city": "Oslo", "sky": "grey"},
    )
    judged = recorded.annotation(kind="score")
    assert (judged.subject_kind, judged.subject_id, judged.score) == ("turn", turn.id, 7.0)
    assert {span.name for span in recorded.spans()} == {
        "invoke_agent answer",
        "chat m-1",
        "execute_tool look",
    }
    (row,) = recorded.rows(LlmCall)
    assert row is call.row and row.response_text == "Let me look."


def test_a_turn_under_way_is_there_and_its_end_replaces_it() -> None:
    """A record written again is one record: its newest state."""
    with record() as recorded:
        with turnspan.agent("slow") as turn:
            running = recorded.turn()
            assert (running.id, running.status) == (turn.id, "running")
        assert recorded.turn().status == "final"
    assert len(recorded.rows(TurnSummary)) == 1


def test_in_order_of_their_beginning_and_chosen_by_keyword() -> None:
    """Also where the outer one ends last."""
    with record() as recorded:
        with turnspan.agent("outer"), turnspan.agent("inner"):
            look("Rome")
        look("Oslo")
    assert [turn.agent_name for turn in recorded.turns()] == ["outer", "inner"]
    outer, inner = recorded.turns()
    assert inner.parent_id == outer.id
    assert [tool.name for tool in recorded.tools(turn_id=inner.id)] == ["look"]
    assert recorded.tools(name="look", turn_id=inner.id) == [recorded.tools()[0]]
    assert recorded.turns(agent_name="other") == []


def test_where_not_exactly_one_fits_the_error_lists_what_there_is() -> None:
    """None or several; and a name that no such record has."""
    with record() as recorded:
        assert recorded.show() == "nothing was recorded"
        with pytest.raises(NotOneError, match=r"one call was expected, none is recorded.*nothing"):
            recorded.call()
        answer("Hm?")
        look("Rome")
    with pytest.raises(NotOneError) as none:
        recorded.call(model="gpt-4o")
    assert str(none.value) == (
        "one call with model='gpt-4o' was expected, none is recorded. There is:\n"
        '  call chat m-1 [3+2]: "Let me look."'
    )
    with pytest.raises(AssertionError, match="2 are recorded") as several:
        recorded.tool(name="look")
    assert 'tool look(city="Rome") -> {"city": "Rome", "sky": "grey"}' in str(several.value)
    with pytest.raises(TypeError, match="RecordedTool has no 'nme': it has id, "):
        recorded.tool(nme="look")
    assert recorded.show() == (
        'turn of answer on "Hm?": completed\n'
        '  call chat m-1 [3+2]: "Let me look."\n'
        '  tool look(city="Oslo") -> {"city": "Oslo", "sky": "grey"}\n'
        '  says "It is grey."\n'
        "outside of turns\n"
        '  tool look(city="Rome") -> {"city": "Rome", "sky": "grey"}'
    )


def test_threads_and_tasks_are_recorded() -> None:
    """Whatever context they carry: it holds for the process."""

    @turnspan.agent
    async def ask(number: int) -> str:
        await asyncio.sleep(0)
        return str(look(f"city {number}"))

    async def several() -> None:
        await asyncio.gather(*(ask(number) for number in range(3)))

    with record() as recorded:
        thread = threading.Thread(target=look, args=("in a thread",))
        thread.start()
        thread.join()
        asyncio.run(several())
    assert len(recorded.turns(agent_name="ask", stop_reason="completed")) == 3
    cities = {tool.arguments["city"] for tool in recorded.tools()}
    assert cities == {"in a thread", "city 0", "city 1", "city 2"}


def test_what_an_application_configures_inside_changes_settings_only(tmp_path: Path) -> None:
    """An agent's own main function runs as it is; what the test asks for holds all the same."""
    with record(mask_secrets=False) as recorded:
        turnspan.configure(
            service_name="shop",
            store=f"chdb://{tmp_path / 'store'}",
            capture_content=False,
            project="p",
        )
        answer("Hi")
        assert not config.active().capture_content
        assert not config.active().mask_secrets
        turnspan.shutdown()
        look("Rome")
    assert recorded.turn().user_message == ""
    assert recorded.turn().row.project == "p"
    assert len(recorded.tools()) == 2
    with pytest.raises(NoStoreError):
        turnspan_records.open(f"chdb://{tmp_path / 'store'}")


def test_an_inner_block_takes_what_is_made_inside_it() -> None:
    """Then the outer one goes on; a function made in the inner one is recorded by it, too."""
    with record() as outer:
        look("outer")
        with record() as inner:

            @turnspan.tool
            def made_inside() -> None: ...

            look("inner")
            made_inside()
        made_inside()
    made_inside()  # nobody records it
    assert [tool.name for tool in inner.tools()] == ["look", "made_inside"]
    assert [(tool.name, tool.arguments) for tool in outer.tools()] == [
        ("look", {"city": "outer"}),
        ("made_inside", {}),
    ]


def test_what_ends_after_the_block_is_not_recorded() -> None:
    """What is there can still be asked for."""
    block = record()
    recorded = block.__enter__()
    with turnspan.agent("late"):
        look("Rome")
        block.__exit__(None, None, None)
    assert recorded.turn().status == "running"
    assert recorded.tool().name == "look"


def test_the_environment_may_say_that_nothing_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many set it for their tests."""
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    with record() as recorded:
        turnspan.configure()
        answer("Hi")
    assert recorded.turn().calls == 1


def test_redaction_can_be_tested() -> None:
    """The hook that the application configures is at work, or one that the test gives."""
    with record(redact=lambda text, where: text.replace("Oslo", "[city]")) as recorded:
        look("Oslo")
    assert recorded.tool().arguments == {"city": "[city]"}
    none: Any = 3
    with pytest.raises(ValueError, match="redact must be a function"), record(redact=none):
        pass
    wrong: Any = "no"
    with pytest.raises(ValueError, match="must be True or False"), record(capture_content=wrong):
        pass
    assert state.default.stand_in is None


def test_an_exception_of_the_test_is_its_own() -> None:
    """It passes, and everything is as it was."""
    before = left()
    with pytest.raises(ZeroDivisionError), record() as recorded:
        look("Rome")
        raise ZeroDivisionError
    assert left() == before
    assert recorded.tool().name == "look"


def test_what_is_instrumented_stays_so() -> None:
    """And what is not is instrumented for the block only, unless the test says otherwise."""

    def on() -> list[str]:
        return [one.name for one in instrumentation.report() if one.enabled]

    assert on() == []
    with record():
        assert {"openai", "anthropic", "threads"} <= set(on())
        with record():
            assert "openai" in on()
        assert "openai" in on()
    assert on() == []
    with record(instrument=False):
        assert on() == []
    turnspan.instrument(only=["openai"])
    try:
        with record():
            assert on() == ["openai"]
        assert on() == ["openai"]
    finally:
        turnspan.uninstrument()
