"""What is recorded of consortium runs: members, arbiters, iterations, wherever they run."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

import turnspan
from turnspan import config, semconv
from turnspan.loop.consortia.runs import Run
from turnspan.runtime.guard import errors
from turnspan.testing import ModelServer, Recorded, record
from turnspan_clickhouse.rows.consortium_tables import (
    Consortium,
    ConsortiumIteration,
    ConsortiumMember,
)
from turnspan_clickhouse.rows.tables import Annotation, Definition, LlmCall, SpanRow, TurnSummary


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(default="yes") as started:
        yield started


@pytest.fixture
def gpt(server: ModelServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)


def ask(client: openai.OpenAI, model: str, text: str = "Which?") -> str:
    made = client.chat.completions.create(model=model, messages=[{"role": "user", "content": text}])
    return made.choices[0].message.content or ""


def whose(call: LlmCall) -> tuple[str, int | None, str]:
    """A call's run, role and iteration."""
    return call.consortium_id, call.consortium_role, texts(call).get(ITERATION, "")


ITERATION = semconv.CONSORTIUM_ITERATION


def texts(row: Any) -> dict[str, str]:
    found: dict[str, str] = row.attributes.texts()
    return found


def the_run(recorded: Recorded) -> Consortium:
    (run,) = recorded.rows(Consortium)
    return run


def body(recorded: Recorded, digest: bytes) -> str:
    (found,) = [one.body for one in recorded.rows(Definition) if one.hash == digest]
    return found


def test_a_run_of_two_iterations(gpt: openai.OpenAI) -> None:
    """Members, arbiters and what they decided; the first arbiter's call is written as that of an
    earlier one when the second iteration begins."""
    with record() as recorded:
        with turnspan.consortium("Which?", name="jury", strategy="rank") as run:
            for iteration in (1, 2):
                for model in ("a", "b"):
                    with run.member(model, instance=1):
                        ask(gpt, model)
                with run.arbiter(model="judge") as arbiter:
                    said = ask(gpt, "judge")
                    arbiter.decided(
                        synthesis=said,
                        confidence=iteration / 2,
                        ranking=["b", "a"],
                        reasoning="clearer",
                        refinement_areas=["sources"],
                        needs_iteration=iteration == 1,
                    )
            run.final("all told")
        ask(gpt, "after")

    row = the_run(recorded)
    assert (row.consortium_id, row.name, row.strategy) == (run.id, "jury", "rank")
    assert (row.status, row.iterations, row.source, row.error_type) == ("finished", 2, "live", "")
    assert body(recorded, row.prompt) == "Which?"
    assert body(recorded, row.final_text) == "all told"
    assert len(run.id) == 27
    assert run.id.isalnum()
    members = recorded.rows(ConsortiumMember)
    assert [(one.iteration, one.model, one.instance, one.answer) for one in members] == [
        (number, model, "1", "") for number in (1, 2) for model in ("a", "b")
    ]
    iterations = recorded.rows(ConsortiumIteration)
    assert [
        (one.iteration, one.model, one.synthesis, one.ranking, one.confidence, one.reasoning)
        for one in iterations
    ] == [(n, "judge", "yes", ["b", "a"], n / 2, "clearer") for n in (1, 2)]
    assert [(one.refinement_areas, one.needs_iteration) for one in iterations] == [
        (["sources"], 1),
        (["sources"], 0),
    ]
    calls = recorded.rows(LlmCall)
    assert [whose(call) for call in calls] == [
        *[(run.id, 0, "1")] * 2, (run.id, 2, "1"), *[(run.id, 0, "2")] * 2, (run.id, 1, "2"),
        ("", None, ""),
    ]  # fmt: skip
    named = [texts(call)[semconv.CONSORTIUM_MEMBER] for call in calls[:6]]
    assert named == [
        *[one.member_id for one in members[:2]], iterations[0].arbiter_id,
        *[one.member_id for one in members[2:]], iterations[1].arbiter_id,
    ]  # fmt: skip
    spans = {span.span_id: span for span in recorded.rows(SpanRow)}
    around = spans[row.span_id]
    assert around.name == "consortium jury"
    assert texts(around)[semconv.CONSORTIUM_STATUS] == "finished"
    assert {spans[one.member_id].parent_span_id for one in members} == {row.span_id}
    assert spans[calls[0].parent_span_id].name == "member a"
    assert texts(spans[iterations[1].arbiter_id])[semconv.CONSORTIUM_CONFIDENCE] == "1.0"


def test_code_without_an_instrumented_call_is_recorded() -> None:
    """Answers are said; an exception in a member is the member's, and the run goes on."""
    with record() as recorded, turnspan.consortium("Which?") as run:
        with run.member("local") as member:
            member.answered("the first")
        with pytest.raises(ValueError, match="down"), run.member("broken"):
            raise ValueError("down")
        with run.arbiter() as arbiter:
            arbiter.decided(synthesis="the first")
        run.final("the first")

    one, broken = recorded.rows(ConsortiumMember)
    assert (one.answer, one.error_type) == ("the first", "")
    assert (broken.answer, broken.error_type, broken.error_message) == ("", "ValueError", "down")
    assert the_run(recorded).status == "finished"


def test_failed_runs() -> None:
    """An exception that leaves it, or no final text; an arbiter that is asked again decides on the
    same iteration."""
    with record() as recorded:
        with pytest.raises(ValueError, match="no"), turnspan.consortium("q", name="raised"):
            raise ValueError("no")
        with turnspan.consortium("q", name="nothing") as run:
            with pytest.raises(KeyError), run.arbiter(model="judge"):
                raise KeyError("json")
            with run.arbiter(model="judge") as again:
                again.decided("s")
            with run.member("m") as member:
                pass
    raised, nothing = recorded.rows(Consortium)
    assert (raised.status, raised.error_type, raised.error_message) == (
        "failed",
        "ValueError",
        "no",
    )
    assert (nothing.status, nothing.error_type) == ("failed", "")
    first, second = recorded.rows(ConsortiumIteration)
    assert (first.iteration, first.error_type, second.iteration) == (1, "KeyError", 1)
    assert member.iteration == 2
    assert nothing.iterations == 2


def test_threads_without_a_context_and_tasks(gpt: openai.OpenAI, server: ModelServer) -> None:
    """Members that are opened elsewhere are the run's, with its session and turn."""
    aside = openai.AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0)

    @turnspan.agent("host")
    def host() -> Run:
        with turnspan.consortium("q") as run:

            def answer(model: str) -> None:
                with run.member(model):
                    ask(gpt, model)

            with ThreadPoolExecutor(2) as pool:
                list(pool.map(answer, ["t1", "t2"]))

            async def answer_aside(model: str) -> None:
                async with run.member(model):
                    await aside.chat.completions.create(
                        model=model, messages=[{"role": "user", "content": "q"}]
                    )

            async def both() -> None:
                await asyncio.gather(answer_aside("a1"), answer_aside("a2"))

            asyncio.run(both())
            with run.arbiter():
                ask(gpt, "judge")
            run.final("x")
        return run

    with record() as recorded, turnspan.session("talk"):
        run = host()

    (turn,) = recorded.rows(TurnSummary)
    row = the_run(recorded)
    assert (row.session_id, row.turn_id) == ("talk", turn.turn_id)
    members = {one.member_id: one.model for one in recorded.rows(ConsortiumMember)}
    assert sorted(members.values()) == ["a1", "a2", "t1", "t2"]
    calls = recorded.rows(LlmCall)
    assert {(c.consortium_id, c.session_id, c.turn_id) for c in calls} == {
        (run.id, "talk", turn.turn_id)
    }
    assert {
        members[texts(c)[semconv.CONSORTIUM_MEMBER]]: c.request_model
        for c in calls
        if c.consortium_role == 0
    } == {name: name for name in members.values()}


_ELSEWHERE = """
import json, sys, openai, turnspan
from turnspan.testing import record
from turnspan_clickhouse.rows.tables import LlmCall
headers, url = json.loads(sys.argv[1]), sys.argv[2]
client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
with record() as recorded, turnspan.extract(headers):
    client.chat.completions.create(model="far", messages=[{"role": "user", "content": "q"}])
(call,) = recorded.rows(LlmCall)
print(json.dumps([call.consortium_id, call.consortium_role, call.attributes.texts()]))
"""


def test_over_processes(server: ModelServer) -> None:
    """Headers bring run, role, iteration and member along."""
    mine = turnspan.consortium("q", id="run-of-mine")
    with record(), mine as run, run.member("far", iteration=3) as member:
        carrier = json.dumps(turnspan.inject())
    done = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE, carrier, server.url],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    run_id, role, attributes = json.loads(done.stdout.splitlines()[-1])
    assert (run_id, role) == (run.id, 0) == ("run-of-mine", 0)
    assert attributes[semconv.CONSORTIUM_MEMBER] == member.id
    assert attributes[ITERATION] == "3"


def test_a_forked_child_does_not_end_its_parent_s_run() -> None:
    """It may unwind the blocks that it was forked in: their end is the parent's to tell."""
    with record() as recorded, turnspan.consortium("q") as run:
        with run.member("m") as member:
            child = os.fork()
            if not child:
                try:
                    member.answered("of the child")
                    member.__exit__(None, None, None)
                    run.__exit__(None, None, None)
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            member.answered("of the parent")
        run.final("x")

    assert [one.answer for one in recorded.rows(ConsortiumMember)] == ["of the parent"]
    assert the_run(recorded).status == "finished"


def test_a_member_that_is_a_run_itself(gpt: openai.OpenAI) -> None:
    """Its calls are the inner run's; the outer run knows what that came to, as the member's."""
    with record() as recorded, turnspan.consortium("q", name="outer") as outer:
        with outer.member("panel") as member:
            with turnspan.consortium("q", name="inner") as inner:
                with inner.member("a"):
                    ask(gpt, "a")
                assert turnspan.consortium.current() is inner
                ask(gpt, "between")
                inner.final("from within")
            ask(gpt, "panel")
        outer.final("x")

    assert turnspan.consortium.current() is None
    rows = {row.name: row for row in recorded.rows(Consortium)}
    assert (rows["inner"].outer_id, rows["inner"].outer_member) == (outer.id, member.id)
    assert rows["outer"].outer_id == ""
    answers = {one.model: one.answer for one in recorded.rows(ConsortiumMember)}
    assert answers == {"a": "", "panel": "from within"}
    assert [whose(call)[:2] for call in recorded.rows(LlmCall)] == [
        (inner.id, 0),
        (inner.id, None),
        (outer.id, 0),
    ]


def test_inside_an_attempt_and_around_one(gpt: openai.OpenAI) -> None:
    """The ids of both go on."""
    trying = turnspan.experiment("camp").lineage("A").rollout(1)
    jury = turnspan.consortium("q")
    with record() as recorded, trying.attempt() as attempt, jury as run, run.member("m"):
        ask(gpt, "m")
        with trying.attempt() as inner:
            ask(gpt, "m")

    calls = recorded.rows(LlmCall)
    assert [(c.consortium_id, c.consortium_role) for c in calls] == [(run.id, 0)] * 2
    assert [c.attempt_id for c in calls] == [attempt.id, inner.id]


def test_decorators(gpt: openai.OpenAI) -> None:
    """Each call of a function is a run, a member or an arbiter; what it returns is what it came
    to. Generators and coroutines as well."""

    @turnspan.consortium(name="jury")
    def jury(question: str) -> str:
        run = turnspan.consortium.current()
        assert run is not None
        member, arbiter = run.member("m"), run.arbiter(model="judge")

        @member
        def answer(text: str) -> str:
            return f"{text}!"

        @run.member("lazy")
        def stream() -> Iterator[str]:
            ask(gpt, "lazy")
            yield "piece"

        @run.member("aside")
        async def aside() -> str:
            return "from aside"

        @arbiter
        def decide() -> dict[str, Any]:
            return {"synthesis": "both", "confidence": 0.5, "unknown": 1}

        assert [answer("one"), answer("two")] == ["one!", "two!"]
        assert list(stream()) == ["piece"]
        assert asyncio.run(aside()) == "from aside"
        decide()
        return "told"

    with record() as recorded:
        assert jury("Which?") == "told"
        assert jury("Which?") == "told"

    first, second = recorded.rows(Consortium)
    assert first.consortium_id != second.consortium_id
    assert body(recorded, first.prompt) == "Which?"
    assert body(recorded, first.final_text) == "told"
    members = recorded.rows(ConsortiumMember)[:4]
    assert [(one.model, one.answer) for one in members] == [
        ("m", "one!"), ("m", "two!"), ("lazy", ""), ("aside", "from aside"),
    ]  # fmt: skip
    assert recorded.rows(LlmCall)[0].consortium_id == first.consortium_id
    decided = recorded.rows(ConsortiumIteration)[0]
    assert (decided.synthesis, decided.confidence) == ("both", 0.5)


def test_a_run_in_a_generator(gpt: openai.OpenAI) -> None:
    """What its consumer does meanwhile is not the run's; one that is left early with its answer
    said has finished."""

    @turnspan.consortium("q")
    def pieces() -> Iterator[int]:
        run = turnspan.consortium.current()
        assert run is not None
        for number in range(3):
            with run.member(f"m{number}"):
                ask(gpt, "inside")
            run.final("so far")
            yield number

    with record() as recorded:
        for _ in pieces():
            ask(gpt, "outside")
            break

    run = the_run(recorded)
    assert {c.request_model: c.consortium_id for c in recorded.rows(LlmCall)} == {
        "inside": run.consortium_id,
        "outside": "",
    }


KEY = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3"


def secretive(run: Run) -> None:
    with run.member("m", instance="i") as member:
        member.answered(f"answer {KEY}")
    with pytest.raises(ValueError), run.member("m"):
        raise ValueError(f"error {KEY}")
    with run.arbiter() as arbiter:
        arbiter.decided(
            synthesis=f"synthesis {KEY}", reasoning=f"reasoning {KEY}", ranking=[f"m {KEY}"],
            refinement_areas=[f"areas {KEY}"], raw=f"raw {KEY}",
        )  # fmt: skip
    run.final(f"final {KEY}")


def test_secrets_are_masked() -> None:
    """In every text of a run."""
    with record() as recorded, turnspan.consortium(f"prompt {KEY}", name=f"n {KEY}") as run:
        secretive(run)

    kinds = (Consortium, ConsortiumMember, ConsortiumIteration, Definition, SpanRow)
    shown = repr([recorded.rows(kind) for kind in kinds])
    assert KEY not in shown
    for word in ("answer ", "error ", "synthesis ", "reasoning ", "areas ", "raw ", "prompt "):
        assert word in shown


def test_without_content_no_text_is_anywhere() -> None:
    """Models, times, confidence and the ranking of members are told; nothing that anybody said."""
    with record(capture_content=False) as recorded, turnspan.consortium("prompt X") as run:
        secretive(run)

    assert recorded.rows(Definition) == []
    kinds = (Consortium, ConsortiumMember, ConsortiumIteration, SpanRow)
    shown = repr([recorded.rows(kind) for kind in kinds])
    for word in ("answer ", "error ", "synthesis ", "reasoning ", "areas ", "raw ", "prompt "):
        assert word not in shown, word


def test_long_texts_are_cut() -> None:
    """And the row says how long they were."""
    with record(content_limit_bytes=100) as recorded, turnspan.consortium("p" * 500) as run:
        member = run.member("m")
        with member:
            member.answered("a" * 300)

    (row,) = recorded.rows(ConsortiumMember)
    assert len(row.answer) < 200
    assert texts(row)[f"{semconv.TRUNCATED_PREFIX}answer"] == "300"
    assert texts(the_run(recorded))[f"{semconv.TRUNCATED_PREFIX}prompt"] == "500"


class Hostile:
    def __str__(self) -> str:
        raise RuntimeError("no")

    def __float__(self) -> float:
        raise RuntimeError("no")

    def __bool__(self) -> bool:
        raise RuntimeError("no")

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("no")


@pytest.mark.tests_internal_errors
def test_nothing_raises_into_the_application() -> None:
    """Whatever it says; and where nothing is recorded, nothing is done."""
    odd: Any = Hostile()
    with record() as recorded, turnspan.consortium(odd, name=odd, id=odd) as run:
        with run.member(odd, iteration=odd, instance=odd) as member:
            member.answered(odd)
        with run.arbiter(model=odd) as arbiter:
            arbiter.decided(odd, odd, odd, odd, odd, odd, odd)
        run.final(odd)
    assert len(recorded.rows(Consortium)) == 1
    errors.reset()

    config.activate(dataclasses.replace(config.active(), enabled=False))
    with turnspan.consortium("q") as quiet:
        with quiet.member("m") as member, quiet.arbiter() as arbiter:
            member.answered("x")
            arbiter.decided("x")
        quiet.final("x")
    assert quiet.id
    assert errors.counts() == {}


def test_a_run_and_a_cancelled_one_are_judged() -> None:
    """By itself, or by its id as text; one that was cancelled is interrupted."""
    with record() as recorded:
        with pytest.raises(asyncio.CancelledError), turnspan.consortium("Which?") as run:
            assert turnspan.annotate(run, score=7)
            assert not turnspan.annotate(run)
            raise asyncio.CancelledError
        assert turnspan.annotate(run.id, kind="consortium", outcome="used")
    assert the_run(recorded).status == "interrupted"
    judged = recorded.rows(Annotation)
    assert {(one.subject_kind, one.subject_id) for one in judged} == {("consortium", run.id)}
    assert [(one.kind, one.score, one.outcome) for one in judged] == [
        ("score", 7, ""),
        ("outcome", None, "used"),
    ]
