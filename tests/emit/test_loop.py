"""What spans inside lineages, rollouts and attempts carry, and how attempts end."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from turnspan import semconv
from turnspan.loop.attempts import Attempt
from turnspan.loop.lineages import Lineage
from turnspan.loop.rollouts import Rollout
from turnspan.loop.versions import Version
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.guard import errors
from turnspan.testing import ModelServer, record
from turnspan_clickhouse.rows import loop_tables as rows
from turnspan_clickhouse.rows.tables import Definition, LlmCall, SpanRow, ToolCall, TurnSummary


@pytest.fixture
def gpt() -> Iterator[openai.OpenAI]:
    with ModelServer(default="yes") as server:
        yield openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)


def ask(client: openai.OpenAI, text: str = "Hi") -> None:
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])


def texts(column: Any) -> dict[str, str]:
    """A map's column, as it was encoded."""
    found: dict[str, str] = column.texts()
    return found


def rollout() -> Rollout:
    lineage = turnspan.experiment("camp").lineage("A")
    lineage.version({"system_prompt": "Be brief."})
    return lineage.rollout(3, task="t")


def ids(row: LlmCall | TurnSummary) -> tuple[str, str, str, str]:
    return row.lineage_id, row.rollout_id, row.attempt_id, row.agent_version


def test_turns_calls_and_spans_carry_the_ids(gpt: openai.OpenAI) -> None:
    """In decorated code, in a conversation of its own, and in plain SDK code."""

    @turnspan.tool
    def look_up() -> str:
        return "12"

    @turnspan.agent("writer")
    def write() -> None:
        with turnspan.session("conversation-7", user_id="ada"):
            look_up()
            ask(gpt)

    with record() as recorded:
        trying = rollout()
        with trying, trying.attempt(model="m") as attempt:
            write()
            ask(gpt, "plain")
        ask(gpt, "after")

    version = Version.of({"system_prompt": "Be brief."}).id
    inside = (turnspan.experiment("camp").lineage("A").id, trying.id, attempt.id, version)
    calls = recorded.rows(LlmCall)
    assert [ids(call) for call in calls] == [inside, inside, ("", "", "", "")]
    assert calls[0].session_id == "conversation-7"
    turns = {turn.turn_id: ids(turn) for turn in recorded.rows(TurnSummary)}
    assert sorted(turns.values()) == [("", "", "", ""), inside, inside]
    (tool,) = recorded.rows(ToolCall)
    assert texts(tool.attributes)[semconv.ATTEMPT_ID] == attempt.id
    spans = [texts(span.attributes) for span in recorded.rows(SpanRow)]
    carried = [span for span in spans if span.get(semconv.ATTEMPT_ID) == attempt.id]
    assert len(carried) == 4
    assert {span[semconv.CYCLE] for span in carried} == {"3"}
    assert {span[semconv.EXPERIMENT_ID] for span in carried} == {"camp"}


def test_a_framework_s_conversation_is_found_inside(gpt: openai.OpenAI) -> None:
    """An attempt is no conversation: who names one around the call is asked, as outside."""
    with record() as recorded, rollout().attempt() as attempt:
        tracer = TracerProvider(shutdown_on_exit=False).get_tracer("graph")
        named = {semconv.CONVERSATION_ID: "thread-7"}
        with tracer.start_as_current_span("node", attributes=named):
            ask(gpt)

    (call,) = recorded.rows(LlmCall)
    assert (call.session_id, call.attempt_id) == ("thread-7", attempt.id)


def test_an_agent_s_own_version_stays(gpt: openai.OpenAI) -> None:
    """The experiment's is only that of agents that name none."""

    @turnspan.agent("writer", version="1.2")
    def write() -> None:
        ask(gpt)

    with record() as recorded, rollout().attempt():
        write()

    assert {row.agent_version for row in recorded.rows(TurnSummary)} == {"1.2"}


def test_ids_are_not_the_applications_random() -> None:
    """An application that seeds ``random`` makes other attempts and artifacts in each run."""
    made: set[str] = set()
    with record():
        for _ in range(2):
            random.seed(0)
            with rollout().attempt() as attempt:
                made |= {attempt.id, turnspan.artifact("page", "text")}
    assert len(made) == 4


def test_over_threads_tasks_and_processes(gpt: openai.OpenAI) -> None:
    """Work that goes elsewhere stays the attempt's; headers bring it along."""
    with record() as recorded:
        trying = rollout()
        with trying.attempt() as attempt:
            with ThreadPoolExecutor() as pool:
                pool.submit(ask, gpt).result()
            carrier = json.loads(json.dumps(turnspan.inject()))

        async def elsewhere() -> None:
            async with trying.attempt() as another:
                await asyncio.to_thread(ask, gpt)
            assert another.id != attempt.id

        asyncio.run(elsewhere())
        with turnspan.extract(carrier):
            ask(gpt)
            made = turnspan.artifact("page", "text")
            onwards = turnspan.inject()["baggage"]
            assert sorted(onwards.split(",")) == sorted(carrier["baggage"].split(","))

    first, second, remote = recorded.rows(LlmCall)
    assert first.attempt_id == remote.attempt_id == attempt.id
    assert second.attempt_id not in ("", attempt.id)
    assert ids(first) == ids(remote)
    (artifact,) = recorded.rows(rows.ArtifactRow)
    assert (artifact.artifact_id, artifact.attempt_id, artifact.cycle) == (made, attempt.id, 3)


def attempts(recorded: Any) -> list[tuple[str, str, str, str]]:
    last = {row.attempt_id: row for row in recorded.rows(rows.AttemptRow)}
    return [(row.status, row.error_type, row.error_message, row.output) for row in last.values()]


def test_how_attempts_end() -> None:
    """An exception fails it, a cancellation interrupts it, and it may say that it failed."""
    with record() as recorded:
        trying = rollout()
        with pytest.raises(ValueError, match="broken"), trying.attempt():
            raise ValueError("broken")
        with pytest.raises(KeyboardInterrupt), trying.attempt():
            raise KeyboardInterrupt
        with trying.attempt() as attempt:
            attempt.fail("no answer")
        with trying.attempt() as attempt:
            attempt.set(input="question", output={"answer": 12})
        with attempt:  # again: another one
            pass

    assert attempts(recorded) == [
        ("failed", "ValueError", "broken", ""),
        ("interrupted", "KeyboardInterrupt", "", ""),
        ("failed", "", "no answer", ""),
        ("succeeded", "", "", '{"answer":12}'),
        ("succeeded", "", "", ""),
    ]


def test_as_a_decorator() -> None:
    """Each call is an attempt of its own, whatever kind of function it is."""
    with record() as recorded:
        trying = rollout()

        @trying.attempt(model="m")
        def plain(x: int) -> int:
            return x + 1

        @trying.attempt()
        async def coroutine() -> str:
            return "later"

        @trying.attempt()
        async def stream() -> AsyncIterator[str]:
            yield "a"
            raise ValueError("cut")

        async def consume() -> None:
            assert await coroutine() == "later"
            with pytest.raises(ValueError, match="cut"):
                assert [item async for item in stream()]

        assert [plain(1), plain(2)] == [2, 3]
        asyncio.run(consume())

    assert attempts(recorded) == [
        ("succeeded", "", "", "2"),
        ("succeeded", "", "", "3"),
        ("succeeded", "", "", "later"),
        ("failed", "ValueError", "cut", ""),
    ]


def test_a_rollout_names_the_attempt_that_counts() -> None:
    """The last that succeeded, unless another is named; what runs is told at once."""

    def told(recorded: Any) -> tuple[str, str]:
        row = recorded.rows(rows.RolloutRow)[-1]
        return row.status, row.final_attempt_id

    with record() as recorded:
        trying = rollout()
        with trying:
            assert told(recorded) == ("running", "")
            with trying.attempt() as good:
                assert recorded.rows(rows.AttemptRow)[-1].status == "running"
            with pytest.raises(ValueError, match="x"), trying.attempt():
                raise ValueError("x")
        assert told(recorded) == ("succeeded", good.id)
        assert rollout().id == trying.id  # opened again, it goes on
        with trying:
            with trying.attempt() as first:
                pass
            with trying.attempt():
                pass
            trying.final(first)
        assert told(recorded) == ("", first.id)  # its attempts say how it ended
        with pytest.raises(ValueError, match="y"), trying:
            raise ValueError("y")
        assert told(recorded)[0] == "failed"


@pytest.mark.parametrize(
    ("config", "canonical"),
    [
        ({"b": 1.0, "a": [True, None, "é€"]}, '{"a":[true,null,"é€"],"b":1}'),
        ({"n": 1e21, "m": 0.000001}, '{"m":0.000001,"n":1e+21}'),
        ({"\u20ac": 1, "\r": 2, "1": 3}, '{"\\r":2,"1":3,"\u20ac":1}'),
        (
            {"n": 2**60, "x": float("nan"), 5: "key"},
            '{"5":"key","n":"1152921504606846976","x":"nan"}',
        ),
    ],
)
def test_a_version_is_its_configuration(config: Any, canonical: str) -> None:
    """SHA-256 of its canonical JSON; what JSON cannot say is a text. A copy, not a reference."""
    version = Version.of(config)
    assert version.id == hashlib.sha256(canonical.encode()).hexdigest()
    config["later"] = 1
    assert "later" not in version.config


def test_a_version_s_body_is_stored_once_and_masked() -> None:
    """Told again it is the same record; a secret in it is none in the store, and changes its id."""
    secret = "sk-proj-" + "Ab1" * 16
    with record() as recorded:
        camp = turnspan.experiment("camp")
        for label in "AB":
            lineage = camp.lineage(label)
            for _ in range(2):
                lineage.version({"system_prompt": f"Use {secret}"}, name="first")

    versions = recorded.rows(rows.AgentVersion)
    assert [one.version_id for one in versions] == [
        Version.of({"system_prompt": f"Use {secret}"}).id
    ] * 2
    (definition,) = recorded.rows(Definition)
    assert {one.content for one in versions} == {definition.hash}
    assert secret not in definition.body
    assert definition.kind == "agent_version"


def test_what_is_said_of_a_lineage() -> None:
    """Every change is a row; directives are handed out, those that hold once only once."""
    with record() as recorded:
        lineage = turnspan.experiment("camp").lineage(
            "A", strategy="short", locked=True, directive="be kind", once="cite", author="ada"
        )
        assert lineage.locked
        assert lineage.directives() == ["be kind", "cite"]
        lineage.unlock("try on")
        lineage.direct("be brief")
        assert lineage.directives() == ["be brief"]
        assert not lineage.locked

    assert [(one.kind, one.text, one.author) for one in recorded.rows(rows.LineageEventRow)] == [
        ("strategy", "short", "ada"),
        ("directive", "be kind", "ada"),
        ("once", "cite", "ada"),
        ("locked", "", "ada"),
        ("unlocked", "try on", ""),
        ("directive", "be brief", ""),
    ]


def test_an_evolution_says_what_changed() -> None:
    """As the application says it, or else by what differs."""
    with record() as recorded:
        lineage = turnspan.experiment("camp").lineage("A")
        one = lineage.version({"prompt": "a", "tools": []})
        other = lineage.version({"prompt": "b", "tools": [], "memory": 1})
        first = turnspan.evolve(lineage, one, other, trigger="low", hypothesis="more", author="ada")
        turnspan.evolve(lineage, one.id, other.id, changes={"prompt": "names sources"})
        turnspan.evolve(lineage, one, other, changes=["tools"])
        turnspan.insight("it helps", change="prompt", evolutions=[first], lineage=lineage)
        assert lineage.current is other

    changes = [texts(one.changes) for one in recorded.rows(rows.EvolutionRow)]
    assert changes == [{"memory": "", "prompt": ""}, {"prompt": "names sources"}, {"tools": ""}]
    (insight,) = recorded.rows(rows.InsightRow)
    assert (insight.experiment_id, insight.evolution_ids) == ("camp", [first])


def test_an_artifact_is_its_turn_s(gpt: openai.OpenAI) -> None:
    """Its text is stored once, and not where content is not recorded."""

    @turnspan.agent
    def write() -> str:
        ask(gpt)
        turnspan.artifact("page", "text", kind="page", version="7")
        return turnspan.artifact("page", "text", id="mine")

    with record() as recorded, turnspan.session("s"):
        assert write() == "mine"
    first, second = recorded.rows(rows.ArtifactRow)
    (turn,) = (row for row in recorded.rows(TurnSummary) if row.status == "final")
    assert {one.turn_id for one in (first, second)} == {turn.turn_id}
    assert (first.session_id, first.version, first.content_bytes) == ("s", "7", 4)
    bodies = {one.hash: one.body for one in recorded.rows(Definition) if one.kind == "artifact"}
    assert bodies == {first.content: "text"} == {second.content: "text"}
    with record(capture_content=False) as silent:
        turnspan.artifact("page", "text")
    assert [one.content for one in silent.rows(rows.ArtifactRow)] == [bytes(16)]
    assert silent.rows(Definition) == []


def test_where_nothing_is_recorded_it_costs_nothing_and_says_so() -> None:
    """Everything can be called, and returns what can be used."""
    lineage = turnspan.experiment("camp", need="n").lineage("A", locked=False)
    with lineage, lineage.rollout(1) as trying, trying.attempt() as attempt:
        assert turnspan.artifact("page", "text") == ""
    assert isinstance(attempt, Attempt)
    assert isinstance(lineage, Lineage)
    assert attempt.id
    assert not turnspan.annotate(attempt, score=5)
    assert turnspan.evolve(lineage, "a", "b") == turnspan.insight("p") == ""


def test_a_locked_lineage_goes_on_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    """It takes no other version and is tried as it is (what it writes is better than what the
    others of its cycle do: SEMANTICS), and a name is one configuration's; where the mistake would
    hit whoever is served, it is said instead, and what happens is kept."""
    with record() as recorded:
        lineage = turnspan.experiment("camp").lineage("A")
        first = lineage.version({"prompt": "a"}, name="one")
        with pytest.raises(ConfigError, match="'one' of lineage 'A' has another configuration"):
            lineage.version({"prompt": "b"}, name="one")
        lineage.lock()
        assert lineage.version({"prompt": "a"}) is first
        with pytest.raises(ConfigError, match="'A' is locked and takes no new version"):
            lineage.version({"prompt": "c"})
        with pytest.raises(ConfigError, match="'A' is locked and takes no rollout of another"):
            lineage.rollout(1, version="b" * 64)
        with lineage.rollout(2), lineage.rollout(3, version=first):
            pass
        assert [one.version_id for one in recorded.rows(rows.AgentVersion)] == [first.id]
        with turnspan.agent("desk"):
            lineage.version({"prompt": "c"})
            with lineage.rollout(1, version=first):
                pass
        assert "locked" in caplog.text
        lineage.unlock()
        lineage.version({"prompt": "d"}, name="two")

    assert len(recorded.rows(rows.AgentVersion)) == 3
    assert len(recorded.rows(rows.RolloutRow)) == 3


@pytest.mark.tests_internal_errors
def test_hostile_values_stay_the_application_s() -> None:
    """What cannot be read costs what it says, and nothing else."""

    class Hostile:
        def __str__(self) -> str:
            raise RuntimeError("mine")

        def __repr__(self) -> str:
            raise RuntimeError("mine")

    bad: Any = Hostile()
    with record() as recorded:
        lineage = turnspan.experiment(bad, need=bad, constraints=bad).lineage(bad, directive=bad)
        version = lineage.version({"x": bad})
        trying = lineage.rollout(bad, task=bad, version=bad)
        with trying, trying.attempt(model=bad, parameters=bad, input=bad) as attempt:
            attempt.set(output=bad)
            turnspan.artifact(bad, bad, kind=bad)
        turnspan.evolve(lineage, version, bad, changes=bad)
        turnspan.insight(bad, evolutions=bad, confidence=bad)
    assert [one.status for one in recorded.rows(rows.AttemptRow)][-1] == "succeeded"
    errors.reset()
