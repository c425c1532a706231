"""What a call without a decorator goes on with, rule by rule (docs/no-code.md)."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import turnspan
from no_code.conftest import Stage
from no_code.talks import Message, call_of
from support.normalised import Rows, provider
from turnspan import config
from turnspan.pipeline.processor import RecordProcessor
from turnspan.providers.openai.instrumentor import OpenAIInstrumentor
from turnspan.tracing.state import default
from turnspan_clickhouse.normalise.shared_answers import SharedAnswers

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


def user(text: Any) -> Message:
    """A user's message."""
    return {"role": "user", "content": text}


def said(text: Any, *calls: Message) -> Message:
    """A model's message."""
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


def result(call_id: str, text: str) -> Message:
    """A tool's result."""
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def sessions(rows: Rows) -> list[str]:
    """The session of each call."""
    return [call.session_id for call in rows.calls]


def turns(rows: Rows) -> list[tuple[str, int, int, str]]:
    """User message, rounds, tools and stop reason of each turn."""
    return [
        (turn.user_message, turn.rounds, turn.tool_call_count, turn.stop_reason)
        for turn in rows.turns
    ]


def test_a_beginning_proves_nothing(stage: Stage) -> None:
    """Two users say the same first words; what they were answered tells them apart."""
    histories: dict[str, list[Message]] = {"Ann": [], "Bob": []}
    for question in ("Hi", "Where is it?", "Thanks"):
        for name, history in histories.items():
            history.append(user(question))
            stage.model.chat(history, said(f"To {name}: {question}"), name)
            history.append(said(f"To {name}: {question}"))
    by_name = {
        name: {c.session_id for c in stage.rows.calls if c.response_id == name}
        for name in histories
    }
    assert [len(found) for found in by_name.values()] == [1, 1]
    assert by_name["Ann"] != by_name["Bob"]


def test_the_same_words_under_another_system_prompt(stage: Stage) -> None:
    """Two agents that are told and say the same are two conversations."""
    for system in ("You plan.", "You judge."):
        stage.model.message([user("Hi")], [text("ok")], system, system=system)
    for system in ("You plan.", "You judge."):
        history = [user("Hi"), said("ok"), user("next")]
        stage.model.message(history, [text("ok")], system, system=system)
    planner, critic, planner_again, critic_again = sessions(stage.rows)
    assert (planner, critic) == (planner_again, critic_again)
    assert planner != critic


def text(words: str, **more: Any) -> Message:
    """A block of text."""
    return {"type": "text", "text": words, **more}


def test_conversations_equal_in_everything_stay_two(stage: Stage) -> None:
    """Nothing tells them apart; each goes on with one of them, the one that waits longest first."""
    histories = [[user("Hi")], [user("Hi")]]
    for question in ("And?", "Why?", "So?"):
        for history in histories:
            stage.model.chat(history, said("Hello there."), "r")
            history += [said("Hello there."), user(question)]
    found = sessions(stage.rows)
    assert len(set(found)) == 2
    assert found == found[:2] * 3


def test_a_moving_cache_breakpoint(stage: Stage) -> None:
    """Anthropic's recommended breakpoint is on the newest message only."""
    history: list[Message] = []
    for number, words in enumerate(("Hi", "And Paris?", "Thanks")):
        marked = {"role": "user", "content": [text(words, cache_control={"type": "ephemeral"})]}
        stage.model.message([*history, marked], [text("ok")], f"m{number}")
        history.append({"role": "user", "content": [text(words)]})
        history.append({"role": "assistant", "content": [text("ok")]})
    assert len(set(sessions(stage.rows))) == 1
    assert turns(stage.rows) == [(w, 1, 0, "completed") for w in ("Hi", "And Paris?", "Thanks")]


@pytest.mark.parametrize(
    "clock",
    ["It is 12:0{}.", "Today is Monday, 2{} Nov 2026, 3:15 PM", "Request {}7 of 2026-11-22T10:00Z"],
)
def test_a_clock_in_the_system_prompt(stage: Stage, clock: str) -> None:
    """What changes with the time of day is masked."""
    history: list[Message] = []
    for number in range(3):
        history.append(user(f"q{number}"))
        system = {"role": "system", "content": "You are Bo. " + clock.format(number)}
        stage.model.chat([system, *history], said(f"a{number}"), "r")
        history.append(said(f"a{number}"))
    assert len(set(sessions(stage.rows))) == 1


def test_a_window_that_slides(stage: Stage) -> None:
    """Only the newest four messages are sent."""
    history: list[Message] = []
    for number in range(6):
        history.append(user(f"q{number}"))
        stage.model.chat(history[-4:], said(f"a{number}"), "r")
        history.append(said(f"a{number}"))
    assert len(set(sessions(stage.rows))) == 1
    assert len(stage.rows.turns) == 6


def test_a_summary_instead_of_the_beginning(stage: Stage) -> None:
    """A long conversation is cut down to a summary and its last exchange."""
    history: list[Message] = []
    for number in range(4):
        history.append(user(f"q{number}"))
        stage.model.chat(history, said(f"a{number}"), "r")
        history.append(said(f"a{number}"))
    short = [user("Summary: we talked."), *history[-2:], user("q4")]
    stage.model.chat(short, said("a4"), "r")
    assert len(set(sessions(stage.rows))) == 1


def test_a_greeting_of_another_conversation_is_no_proof(stage: Stage) -> None:
    """A common short answer after another question does not join two users."""
    stage.model.chat([user("Hi")], said("Hello! How can I help you today?"), "r")
    other = [user("Good morning"), said("Hello! How can I help you today?"), user("Go on")]
    stage.model.chat(other, said("Sure."), "r")
    first, second = sessions(stage.rows)
    assert first != second


def test_an_answer_begun_for_the_model(stage: Stage) -> None:
    """The request ends with the beginning of the answer; the history has the whole of it."""
    begun = [user("List"), {"role": "assistant", "content": "["}]
    stage.model.message(begun, [text('"a"]')], "m1")
    whole = [user("List"), {"role": "assistant", "content": '["a"]'}, user("More")]
    stage.model.message(whole, [text("[]")], "m2")
    assert len(set(sessions(stage.rows))) == 1


def test_another_answer_than_the_last_was_edited(stage: Stage) -> None:
    """The application changed the last answer; the one before still proves whose it is."""
    history = [user("q0")]
    stage.model.chat(history, said("a0"), "r")
    history += [said("a0"), user("q1")]
    stage.model.chat(history, said("a1"), "r")
    history += [said("[removed]"), user("q2")]
    stage.model.chat(history, said("a2"), "r")
    assert len(set(sessions(stage.rows))) == 1


@pytest.mark.parametrize("around", ["a request each", "one job"])
def test_a_span_around_a_call_is_no_wall(stage: Stage, around: str) -> None:
    """Web servers' spans, a job's span: one session, a turn for each thing the user says."""
    tracer = stage.provider.get_tracer("app")
    history: list[Message] = []

    def talk(number: int) -> None:
        history.append(user(f"q{number}"))
        stage.model.chat(history, said(f"a{number}"), "r")
        history.append(said(f"a{number}"))

    if around == "one job":
        with tracer.start_as_current_span("job"):
            for number in range(3):
                talk(number)
    else:
        for number in range(3):
            with tracer.start_as_current_span("POST /chat"):
                talk(number)
    (session,) = set(sessions(stage.rows))
    assert session.startswith("auto-")
    assert turns(stage.rows) == [(f"q{n}", 1, 0, "completed") for n in range(3)]
    assert {turn.session_id for turn in stage.rows.turns} == {session}


def test_steps_of_one_request_are_one_turn(stage: Stage) -> None:
    """A classifier, the answer and a check, under one span: one turn of three rounds."""
    with stage.provider.get_tracer("web").start_as_current_span("POST /ask"):
        for system in ("Classify.", "Answer.", "Check."):
            stage.model.chat([{"role": "system", "content": system}, user("Why?")], said("x"), "r")
    assert turns(stage.rows) == [("Why?", 3, 0, "completed")]


def test_an_agent_in_another_ones_tool_is_in_its_turn(stage: Stage) -> None:
    """It begins afresh, twice, while the outer agent waits for its tool."""
    outer = {"role": "system", "content": "Outer"}
    with stage.provider.get_tracer("web").start_as_current_span("POST /ask"):
        history = [outer, user("Do it")]
        calls = [call_of("c1", "look", at="a"), call_of("c2", "look", at="b")]
        stage.model.chat(history, said(None, *calls), "r", tools=[TOOL])
        for place in "ab":
            inner = [{"role": "system", "content": "Inner"}, user(f"look at {place}")]
            stage.model.chat(inner, said("seen"), "r")
        history += [said(None, *calls), result("c1", "seen"), result("c2", "seen")]
        stage.model.chat(history, said("Done."), "r", tools=[TOOL])
    (turn,) = stage.rows.turns
    assert (turn.user_message, turn.llm_call_count, turn.tool_call_count) == ("Do it", 4, 2)


def test_an_agent_that_starts_afresh_is_another_conversation(stage: Stage) -> None:
    """The same system prompt and tools, no history: somebody else, also in one trace."""
    with stage.provider.get_tracer("job").start_as_current_span("evaluate"):
        for name in ("one", "two"):
            stage.model.chat([user(name)], said("ok"), name, tools=[TOOL])
    first, second = sessions(stage.rows)
    assert first != second
    assert [turn.user_message for turn in stage.rows.turns] == ["one", "two"]


def test_responses_that_name_the_one_before(stage: Stage) -> None:
    """No history is sent; ``previous_response_id`` says what the call goes on with."""
    previous: dict[str, Any] = {}
    for number in range(3):
        stage.model.respond(f"q{number}", f"a{number}", f"resp_{number}", **previous)
        previous = {"previous_response_id": f"resp_{number}"}
    assert len(set(sessions(stage.rows))) == 1
    assert [turn.user_message for turn in stage.rows.turns] == ["q0", "q1", "q2"]


def test_a_conversation_that_a_framework_names_by_the_response_before(stage: Stage) -> None:
    """Each call names another one (Microsoft's agent framework): it is no conversation's id."""
    stage.provider.add_span_processor(RecordProcessor(Rows()))  # hands the id down, as in use
    tracer = stage.provider.get_tracer("framework")
    named: dict[str, Any] = {}
    previous: dict[str, Any] = {}
    for number in range(3):
        with tracer.start_as_current_span("chat", attributes=named):
            stage.model.respond(f"q{number}", f"a{number}", f"r{number}", **previous)
        previous = {"previous_response_id": f"r{number}"}
        named = {"gen_ai.conversation.id": f"r{number}"}
    with tracer.start_as_current_span("chat", attributes=named):  # which it alone knows
        stage.model.respond("q3", "a3", "r3")
    (session,) = set(sessions(stage.rows))
    assert session.startswith("auto-")
    assert [turn.user_message for turn in stage.rows.turns] == ["q0", "q1", "q2", "q3"]


@pytest.mark.parametrize("name", ["gen_ai.conversation.id", "session.id"])
def test_an_id_that_a_framework_gives_beats_history(stage: Stage, name: str) -> None:
    """On the span of its agent, two spans above the call."""
    stage.provider.add_span_processor(RecordProcessor(Rows()))  # hands the id down, as in use
    tracer = stage.provider.get_tracer("framework")
    history: list[Message] = []
    for number, session in enumerate(("thread-1", "thread-1", "thread-2")):
        history.append(user(f"q{number}"))
        with (
            tracer.start_as_current_span("agent", attributes={name: session}),
            tracer.start_as_current_span("step"),
        ):
            stage.model.chat(history, said(f"a{number}"), "r")
        history.append(said(f"a{number}"))
    stage.model.chat([*history, user("q3")], said("a3"), "r")  # it says none: history does
    assert sessions(stage.rows) == ["thread-1", "thread-1", "thread-2", "thread-2"]


def test_an_id_in_the_context_of_other_packages(stage: Stage) -> None:
    """OpenInference's ``using_session`` and Traceloop's association properties."""
    from opentelemetry import context

    for key, value in (("session.id", "s1"), ("association_properties", {"thread_id": "s2"})):
        token = context.attach(context.set_value(key, value))
        stage.model.chat([user("Hi")], said("Hello"), "r")
        context.detach(token)
    assert sessions(stage.rows) == ["s1", "s2"]


@pytest.mark.parametrize("conversation", ["conv_1", {"id": "conv_1"}])
def test_a_conversation_that_the_provider_keeps(stage: Stage, conversation: Any) -> None:
    """Its id is the session's."""
    stage.model.respond("q0", "a0", "resp_0", conversation=conversation)
    stage.model.respond("q1", "a1", "resp_1", conversation=conversation)
    assert set(sessions(stage.rows)) == {"conv_1"}
    assert [turn.user_message for turn in stage.rows.turns] == ["q0", "q1"]


def test_a_result_with_the_next_words_ends_the_turn_that_asked(stage: Stage) -> None:
    """The tool belongs to the turn that asked for it, and the words begin another."""
    stage.model.chat([user("Book it")], said(None, call_of("t1", "book", id=7)), "c1")
    history = [
        user("Book it"),
        said(None, call_of("t1", "book", id=7)),
        result("t1", '{"error": "no seat"}'),
        user("And now?"),
    ]
    stage.model.chat(history, said("Sorry"), "c2")
    assert turns(stage.rows) == [
        ("Book it", 1, 1, "tool_failure"),
        ("And now?", 1, 0, "completed"),
    ]
    (tool,) = stage.rows.tools
    assert tool.turn_id == stage.rows.turns[0].turn_id


@pytest.mark.parametrize("place", ["beside the result", "after it"])
def test_a_reminder_is_not_the_user(stage: Stage, place: str) -> None:
    """Coding agents put reminders of their own beside tool results."""
    stage.model.message(
        [user("Fix it")],
        [{"type": "tool_use", "id": "t1", "name": "bash", "input": {"cmd": "ls"}}],
        "m1",
    )
    done: list[Message] = [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]
    reminder = text("<reminder>The list is empty.</reminder>")
    history = [
        user("Fix it"),
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "bash", "input": {"cmd": "ls"}}],
        },
    ]
    if place == "after it":
        history += [{"role": "user", "content": done}, {"role": "user", "content": [reminder]}]
    else:
        history += [{"role": "user", "content": [*done, reminder]}]
    stage.model.message(history, [text("Done")], "m2")
    assert turns(stage.rows) == [("Fix it", 2, 1, "completed")]


@pytest.mark.parametrize(
    "content", ["", [{"type": "image_url", "image_url": {"url": "http://x/y"}}]]
)
def test_a_user_without_words_begins_a_turn(stage: Stage, content: Any) -> None:
    """An empty text, an image."""
    stage.model.chat([user("Hi")], said("Hello"), "r")
    stage.model.chat([user("Hi"), said("Hello"), user(content)], said("I see."), "r")
    assert [turn.rounds for turn in stage.rows.turns] == [1, 1]
    assert len(set(sessions(stage.rows))) == 1


def test_a_tool_that_was_named_is_the_answer(stage: Stage) -> None:
    """``tool_choice`` names the tool: a structured answer, after which nothing is executed."""
    choice = {"type": "function", "function": {"name": "look"}}
    reply = said(None, call_of("t1", "look", at="a"))
    stage.model.chat([user("Extract")], reply, "r", tools=[TOOL], tool_choice=choice)
    (turn,) = stage.rows.turns
    assert (turn.status, turn.stop_reason) == ("final", "completed")


def test_a_structured_answer_of_one_field_is_json(stage: Stage) -> None:
    """Only the tool that is there for answers says its answer as a text."""
    choice = {"type": "function", "function": {"name": "City"}}
    reply = said(None, call_of("t1", "City", city="Rome"))
    stage.model.chat([user("Extract")], reply, "r", tools=[TOOL], tool_choice=choice)
    assert stage.rows.turns[0].response_text == '{"city":"Rome"}'


def test_a_call_that_failed_and_is_made_again(stage: Stage) -> None:
    """One turn: the user said it once."""
    import openai

    with pytest.raises(openai.APIStatusError):
        stage.model.chat([user("Hi")], 500)
    stage.model.chat([user("Hi")], said("Hello"), "r")
    assert len(set(sessions(stage.rows))) == 1
    assert turns(stage.rows) == [("Hi", 2, 0, "completed")]


def test_a_call_that_failed_is_an_error(stage: Stage) -> None:
    """And nothing else: there was no reply to judge by."""
    import openai

    with pytest.raises(openai.APIStatusError):
        stage.model.chat([user("Hi")], 400)
    (turn,) = stage.rows.turns
    assert (turn.stop_reason, turn.error_type != "") == ("error", True)


def test_without_content_turns_and_tools_stay(stage: Stage, request: pytest.FixtureRequest) -> None:
    """Nothing that was said is in any row; sessions, turns, rounds and stop reasons are."""
    before = config.active()
    request.addfinalizer(lambda: config.activate(before))
    config.activate(config.resolve({"capture_content": False}))
    history = [user("secret question"), said(None, call_of("t1", "look", at="secret place"))]
    stage.model.chat(history[:1], history[1], "r", tools=[TOOL])
    history.append(result("t1", "Error: secret result"))
    stage.model.chat(history, said("secret answer"), "r", tools=[TOOL])
    history += [said("secret answer"), user("more")]
    stage.model.chat(history, said("secret end"), "r", tools=[TOOL])

    assert len(set(sessions(stage.rows))) == 1
    assert [(t.rounds, t.tool_call_count) for t in stage.rows.turns] == [(2, 1), (1, 0)]
    assert [t.stop_reason for t in stage.rows.turns] == ["completed", "completed"]
    (tool,) = stage.rows.tools
    assert (tool.name, tool.arguments, tool.result) == ("look", "", "")
    assert "secret" not in repr([*stage.rows.calls, *stage.rows.turns, *stage.rows.tools])


def test_another_process_goes_on(tmp_path: Path) -> None:
    """A pool's next worker, or the program started anew: the answers are known by their hashes."""
    from no_code.talks import Model

    found: list[str] = []
    history = [user("q0")]
    for number in range(3):
        rows = Rows(SharedAnswers(tmp_path))  # as a process of its own has it
        made = provider(rows)
        instrumentor = OpenAIInstrumentor()
        default.content.attach()
        instrumentor.instrument(tracer_provider=made)
        try:
            Model().chat(history, said(f"answer {number}"), f"r{number}")
        finally:
            instrumentor.uninstrument()
            made.shutdown()
            default.content.detach()
        (call,) = rows.calls
        found.append(call.session_id)
        history += [said(f"answer {number}"), user(f"q{number + 1}")]
    assert len(set(found)) == 1
    for path in (tmp_path / "answers").iterdir():
        assert path.stat().st_mode & 0o077 == 0
        assert b"answer 0" not in path.read_bytes()


def test_tools_that_are_told_by_text(stage: Stage) -> None:
    """A framework writes its model's tool calls, and what they brought, as text (smolagents)."""
    first = [user("New task:\nThe weather in Rome?")]
    stage.model.chat(first, said("Let me look.", call_of("call_1", "look", at="Rome")), "r")
    told = said("Let me look.Calling tools:\n[{'id': 'call_1', 'function': {'name': 'look'}}]")
    brought = [*first, told, user("Observation:\n25 degrees")]
    answer = call_of("call_2", "final_answer", answer="Sunny")
    stage.model.chat(brought, said(None, answer), "r")
    done = said("Calling tools:\n[{'id': 'call_2', 'function': {'name': 'final_answer'}}]")
    stage.model.chat(
        [*brought, done, user("Observation:\nSunny\nNew task:\nAnd in Pisa?")], said("Rain."), "r"
    )
    assert len(set(sessions(stage.rows))) == 1
    found = [(turn.rounds, turn.tool_call_count, turn.status) for turn in stage.rows.turns]
    assert found == [(2, 2, "final"), (1, 0, "final")]
    assert stage.rows.turns[1].user_message == "And in Pisa?"
    assert [tool.result for tool in stage.rows.tools] == ["25 degrees", "Sunny"]


@pytest.mark.parametrize("says_the_result", [True, False])
def test_a_tool_that_fails_by_text_and_by_a_span(stage: Stage, says_the_result: bool) -> None:
    """Its span tells of it before the next request does, in words: no user speaks there."""
    first = [user("New task:\nCheck order 7")]
    stage.model.chat(first, said("Let me look.", call_of("call_1", "look", order=7)), "r")
    doing = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
    if says_the_result:
        doing |= {"gen_ai.tool.call.result": "order 7 not in database"}
    with stage.provider.get_tracer("framework").start_as_current_span("look", attributes=doing):
        pass
    told = said("Let me look.Calling tools:\n[{'id': 'call_1', 'function': {'name': 'look'}}]")
    failed = user("Error:\nError executing tool 'look': order 7 not in database")
    stage.model.chat([*first, told, failed], said("Sorry."), "r")
    (turn,) = stage.rows.turns
    (tool,) = stage.rows.tools
    assert (turn.rounds, turn.tool_call_count) == (2, 1)
    assert tool.failed is not says_the_result, "what its span says of its result holds"


def test_arguments_that_are_sent_again_as_text(stage: Stage) -> None:
    """A structured answer: the application's history has its JSON, written another way."""
    choice = {"type": "function", "function": {"name": "look"}}
    call = call_of("t1", "look", at="Rome", days=2)
    stage.model.chat([user("q0")], said(None, call), "r", tools=[TOOL], tool_choice=choice)
    history = [user("q0"), said('{"days":2,"at":"Rome"}'), user("q1")]
    stage.model.chat(history, said("ok"), "r")
    assert len(set(sessions(stage.rows))) == 1
    assert stage.rows.turns[0].response_text == '{"at":"Rome","days":2}'


def test_a_final_answer_by_tool(stage: Stage) -> None:
    """The turn is over with it, and it is the reply."""
    call = call_of("t1", "final_answer", answer="It is sunny.")
    stage.model.chat([user("q0")], said(None, call), "r", tools=[TOOL], tool_choice="required")
    (turn,) = stage.rows.turns
    assert (turn.status, turn.stop_reason, turn.response_text) == (
        "final",
        "completed",
        "It is sunny.",
    )


@pytest.mark.parametrize("decorated", [False, True])
@pytest.mark.parametrize("failed", [False, True])
def test_an_agent_at_its_limit(stage: Stage, decorated: bool, failed: bool) -> None:
    """Its last words are asked for under another system prompt, without tools: the same turn."""
    before: list[Any] = [{"role": "system", "content": "Answer."}]
    with turnspan.agent("desk") if decorated else nullcontext():
        first = [user("New task:\nThe weather in Rome?")]
        asked = said("Let me look.", call_of("c1", "look", at="Rome"))
        stage.model.chat([*before, *first], asked, "r1", tools=[TOOL])
        told = "Let me look." if failed else "Let me look.\nCalling tools:\n[{'id': 'c1'}]"
        brought = "Error:\nno such city" if failed else "Observation:\n25 degrees"
        history = [*first, said(told), user(f"{brought}\nNow answer: the weather in Rome?")]
        last = {"role": "system", "content": "An agent was stuck. Answer for it."}
        stage.model.chat([last, *history], said("Warm."), "r2")
    (turn,) = stage.rows.turns
    (tool,) = stage.rows.tools
    assert len(set(sessions(stage.rows))) == 1
    assert (turn.rounds, turn.tool_call_count, turn.response_text) == (2, 1, "Warm.")
    assert turn.stop_reason == ("tool_failure" if failed else "completed")
    assert (tool.name, tool.failed, tool.turn_id) == ("look", failed, turn.turn_id)


def test_another_agent_that_is_asked_is_another_conversation(stage: Stage) -> None:
    """Where the user speaks, the same history under another prompt proves nothing."""
    before: list[Any] = [{"role": "system", "content": "Answer."}]
    stage.model.chat([*before, user("Hi")], said("Hello."), "r1")
    other = [{"role": "system", "content": "Judge."}, user("Hi"), said("Hello."), user("Good?")]
    stage.model.chat(other, said("Yes."), "r2")
    assert len(set(sessions(stage.rows))) == 2


def test_a_decorated_turn_reads_what_an_undecorated_one_does(stage: Stage) -> None:
    """Results told by text, and those of calls that a framework sends one after another."""
    two = [call_of("c1", "look", at="Rome"), call_of("c2", "look", at="Pisa")]
    apart = [
        *(said(None, two[0]), result("c1", "warm")),
        *(said(None, two[1]), result("c2", '{"error": "no such city"}')),
    ]
    by_text = [said("Let me look."), user("Observation:\nwarm")]
    for number, answer in enumerate((apart, by_text)):
        calls = two if answer is apart else two[:1]
        with turnspan.agent("desk"):
            stage.model.chat([user("Where?")], said(None, *calls), f"r{number}")
            stage.model.chat([user("Where?"), *answer], said("Rome."), f"s{number}")
    found = [(tool.call_id, tool.result, tool.failed) for tool in stage.rows.tools]
    failed = '{"error": "no such city"}'
    assert found == [("c1", "warm", False), ("c2", failed, True), ("c1", "warm", False)]
    assert [turn.tool_call_count for turn in stage.rows.turns] == [2, 1]
