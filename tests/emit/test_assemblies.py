"""``turnspan.context_assembly``: what is recorded of it, and that nothing of it reaches the
application."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import openai
import pytest

import turnspan
from turnspan import config
from turnspan.runtime.guard import errors
from turnspan.testing import ModelServer, record
from turnspan.testing.recording import Recorded
from turnspan.tracing import assembly as assemblies
from turnspan.tracing import context_blocks
from turnspan.tracing.state import default
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.tables import (
    NO_HASH,
    ContextAssemblyRow,
    ContextItemRow,
    Definition,
    LlmCall,
)

PAGE = "The lighthouse of Cabo Norte was lit in 1887. " * 3
OTHER = "Tides at the cape reach four metres. " * 3
PROMPT = f"## Encyclopedia\n\n{PAGE}\n"


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    """What is recorded while the test runs."""
    with record() as found:
        yield found


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model that always answers."""
    with ModelServer(lambda _: "In 1887.") as server:
        yield server


@pytest.fixture
def gpt(model: ModelServer) -> Iterator[openai.OpenAI]:
    """A client of it."""
    with openai.OpenAI(base_url=model.url, api_key="any", max_retries=0) as client:
        yield client


def assembly(recorded: Recorded) -> ContextAssemblyRow:
    """The only one."""
    (row,) = recorded.rows(ContextAssemblyRow)
    return row


def items(recorded: Recorded) -> list[ContextItemRow]:
    """All items, in the order of their positions."""
    return sorted(recorded.rows(ContextItemRow), key=lambda row: row.position)


def used_by(row: LlmCall) -> str:
    """The ids of the assemblies that a call used."""
    known = row.attributes
    texts = known.texts() if isinstance(known, EncodedMap) else known
    return dict(texts).get("turnspan.context.id", "")


def ask(client: openai.OpenAI, system: str) -> None:
    client.chat.completions.create(
        model="gpt-4o",
        messages=[{"role": "system", "content": system}, {"role": "user", "content": "When?"}],
    )


def test_an_assembly_its_items_its_steps_and_its_texts_are_recorded(recorded: Recorded) -> None:
    """Kept items first, in the order in which they were kept; each text once."""
    with turnspan.session("s-1"), turnspan.agent("wiki") as turn:
        with turnspan.context_assembly("query", budget=100, entities=["Cabo Norte"]) as context:
            with context.step("fetch") as step:
                step.set(pages=2)
                context.consider(
                    "Tides", text=OTHER, section="encyclopedia", source="wiki", score=0.2, hop=1
                )
                context.consider("Cabo Norte", text=PAGE, section="encyclopedia", score=0.9)
            context.keep("Style", text="Be brief.", section="instructions", tokens=3)
            context.keep("Cabo Norte", requires_depth=1)
            context.drop("Tides", reason="budget")
            context.assembled(PROMPT, tokens=44)
        turn_id = turn.id

    row = assembly(recorded)
    assert (row.session_id, row.turn_id, row.agent_name) == ("s-1", turn_id, "wiki")
    assert (row.status, row.task_type, row.entities) == ("final", "query", ["Cabo Norte"])
    assert (row.budget, row.used, row.used_estimated) == (100, 44, False)
    assert (row.considered, row.kept, row.dropped) == (3, 2, 1)
    assert (row.step_names, row.step_errors) == (["fetch"], [""])
    assert 0 < row.step_durations[0] <= row.duration
    told = [
        (one.item_id, one.section, one.tokens, one.tokens_estimated, one.kept, one.reason, one.hop)
        for one in items(recorded)
    ]
    assert told == [
        ("Style", "instructions", 3, False, True, "", None),
        ("Cabo Norte", "encyclopedia", 35, True, True, "", None),
        ("Tides", "encyclopedia", 28, True, False, "budget", 1),
    ]
    assert [one.requires_depth for one in items(recorded)] == [None, 1, None]
    texts = {row.hash: (row.kind, row.body) for row in recorded.rows(Definition)}
    assert texts[row.context_hash] == ("context_assembled", PROMPT)
    assert [texts[one.content_hash] for one in items(recorded)] == [
        ("context_item", "Be brief."),
        ("context_item", PAGE),
        ("context_item", OTHER),
    ]


def test_it_is_a_span_with_a_span_for_each_step(recorded: Recorded) -> None:
    """Its id is its span's."""
    with turnspan.agent("wiki"), turnspan.context_assembly("query", budget=9) as context:
        with context.step("plan"):
            pass
        context.bypass("obviously a query")
    span = recorded.span(name="context_assembly query")
    assert recorded.span(name="plan").parent_id == span.id == context.id
    assert span.attributes["turnspan.context.id"] == context.id
    assert span.attributes["turnspan.context.budget"] == "9"
    assert span.attributes["turnspan.context.bypass_reason"] == "obviously a query"
    row = assembly(recorded)
    assert (row.assembly_id, row.bypassed, row.bypass_reason) == (
        context.id,
        True,
        "obviously a query",
    )
    assert (row.used, row.considered) == (None, 0)


def test_a_call_that_sends_the_text_used_it(recorded: Recorded, gpt: openai.OpenAI) -> None:
    """Inside the block or after it, around other text, and again with the next call's history; a
    call of the turn that does not send it did not."""
    with turnspan.agent("wiki"):
        with turnspan.context_assembly("query") as context:
            ask(gpt, "Plan.")
            context.assembled(PROMPT)
            ask(gpt, f"You write.\n\n{PROMPT.strip()}\n\nAnswer:")
        ask(gpt, PROMPT)
        ask(gpt, "Something else.")
        gpt.responses.create(model="gpt-4o", instructions=PROMPT, input="When?")
        gpt.chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "user", "content": [{"type": "text", "text": PROMPT}]}],
        )
    calls = recorded.rows(LlmCall)
    assert [used_by(row) == context.id for row in calls] == [False, True, True, False, True, True]
    hashed = {row.context_assembled for row in calls}
    assert hashed == {NO_HASH, assembly(recorded).context_hash}
    assert [row.context_assembled != NO_HASH for row in calls] == [
        used_by(row) != "" for row in calls
    ]


def test_it_is_found_in_every_form_of_a_request(recorded: Recorded, model: ModelServer) -> None:
    """Blocks of a system prompt, parts of a message, what a tool gave back."""
    with (
        anthropic.Anthropic(base_url=model.url, api_key="any", max_retries=0) as claude,
        turnspan.agent("wiki"),
    ):
        with turnspan.context_assembly("query") as context:
            context.assembled(PROMPT)
        asked: dict[str, Any] = {"role": "user", "content": "When?"}
        tool: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
        found = {"type": "tool_result", "tool_use_id": "t1", "content": PROMPT}
        blocks = [{"type": "text", "text": "Be brief."}, {"type": "text", "text": PROMPT}]
        part = {"type": "text", "text": f"{PROMPT} When?"}
        history: list[dict[str, Any]] = [
            asked,
            {"role": "assistant", "content": [tool]},
            {"role": "user", "content": [found]},
        ]
        requests: list[dict[str, Any]] = [
            {"system": blocks, "messages": [asked]},
            {"messages": [{"role": "user", "content": [part]}]},
            {"messages": history},
            {"system": "Be brief.", "messages": [asked]},
        ]
        create: Any = claude.messages.create
        for request in requests:
            create(model="claude-sonnet-5", max_tokens=9, **request)
    calls = recorded.rows(LlmCall)
    assert [used_by(row) == context.id for row in calls] == [True, True, True, False]


def test_a_sub_agents_call_may_use_it_and_another_turns_may_not(
    recorded: Recorded, gpt: openai.OpenAI
) -> None:
    """By the trace; a turn that begins apart has the text from somewhere else."""
    with turnspan.agent("wiki"):
        with turnspan.context_assembly("query") as context:
            context.assembled(PROMPT)
        with turnspan.agent("writer"):
            ask(gpt, PROMPT)
    with turnspan.agent("wiki"):
        ask(gpt, PROMPT)
    assert [used_by(row) for row in recorded.rows(LlmCall)] == [context.id, ""]


def test_outside_of_turns_a_long_text_is_proof_and_a_short_one_is_not(
    recorded: Recorded, gpt: openai.OpenAI
) -> None:
    """Undecorated code has no turn in common with its call."""
    with turnspan.context_assembly("query") as context:
        context.assembled(PROMPT)
    with turnspan.context_assembly("query") as short:
        short.assembled("Be brief.")
    ask(gpt, f"Be brief. {PROMPT}")
    assert used_by(recorded.rows(LlmCall)[0]) == context.id


def test_of_two_texts_in_a_call_the_column_has_the_longer(
    recorded: Recorded, gpt: openai.OpenAI
) -> None:
    """The attribute names both."""
    with turnspan.agent("wiki"):
        with turnspan.context_assembly("query") as first:
            first.assembled(OTHER)
        with turnspan.context_assembly("query") as second:
            second.assembled(PROMPT)
        ask(gpt, OTHER + PROMPT)
    (row,) = recorded.rows(LlmCall)
    assert used_by(row) == f"{first.id},{second.id}"
    hashes = {one.assembly_id: one.context_hash for one in recorded.rows(ContextAssemblyRow)}
    assert row.context_assembled == hashes[second.id]


def test_what_the_application_says_beats_what_is_found(
    recorded: Recorded, gpt: openai.OpenAI
) -> None:
    """``attached`` names the assembly whatever the request looks like; the session stays."""
    with turnspan.session("s-1", user_id="ada"), turnspan.agent("wiki"):
        with turnspan.context_assembly("query") as context:
            context.assembled(PROMPT)
        with context.attached():
            ask(gpt, PROMPT.upper())
        ask(gpt, PROMPT.upper())
    first, second = recorded.rows(LlmCall)
    assert (used_by(first), used_by(second)) == (context.id, "")
    assert (first.session_id, first.context_assembled) == ("s-1", assembly(recorded).context_hash)


def test_inside_an_attempt_a_call_that_is_said_to_use_one_is_the_attempts(
    recorded: Recorded, gpt: openai.OpenAI
) -> None:
    """What puts the assembly's id on spans leaves on them what was there before."""
    with (
        turnspan.session("s"),
        turnspan.experiment("camp").lineage("A").rollout(1).attempt() as attempt,
    ):
        with turnspan.context_assembly("query") as context:
            context.assembled("a text")
        with context.attached():
            ask(gpt, "Something else")
    (call,) = recorded.rows(LlmCall)
    assert (call.attempt_id, call.session_id) == (attempt.id, "s")
    assert used_by(call) == context.id


def test_an_item_of_which_nothing_was_said_is_kept_if_its_text_was(recorded: Recorded) -> None:
    """What the assembled text has in it was kept."""
    with turnspan.context_assembly() as context:
        context.consider("Cabo Norte", text=PAGE)
        context.consider("Tides", text=OTHER)
        context.assembled(PROMPT)
    assert [(one.item_id, one.kept) for one in items(recorded)] == [
        ("Cabo Norte", True),
        ("Tides", False),
    ]
    assert assembly(recorded).task_type == "unknown"


def test_meta_is_json_and_the_same(recorded: Recorded) -> None:
    """Also while it goes on, and after it."""
    with turnspan.context_assembly("query", budget=50) as context:
        with context.step("plan"):
            context.set(task="edit_page", entities=("Cabo Norte", "Tides"), budget=60)
            running = context.meta()
        context.keep("Style", text="Be brief.", score=float("nan"))
        context.drop("Tides", reason="duplicate")
    assert running["steps"][0]["seconds"] is None
    meta = json.loads(json.dumps(context.meta()))
    assert (meta["task"], meta["budget"], meta["used"]) == ("edit_page", 60, 3)
    assert meta["entities"] == ["Cabo Norte", "Tides"]
    assert [(one["id"], one["kept"], one["reason"], one["score"]) for one in meta["items"]] == [
        ("Style", True, "", None),
        ("Tides", False, "duplicate", None),
    ]
    assert meta["steps"][0]["name"] == "plan" and meta["steps"][0]["seconds"] > 0
    assert not meta["bypassed"] and meta["assembly_id"] == context.id
    row = assembly(recorded)
    assert (row.task_type, row.budget, row.entities) == ("edit_page", 60, meta["entities"])


def test_without_a_recorder_it_does_nothing_but_meta() -> None:
    """The application gets its facts whether they are recorded or not."""
    settings = config.of_process()
    config.activate(config.resolve({}, {"OTEL_SDK_DISABLED": "true"}))
    try:
        with turnspan.context_assembly("query") as context:
            with context.step("plan"):
                context.keep("Style", text="Be brief.")
            context.assembled("Be brief.")
    finally:
        config.activate(settings)
    assert [one["id"] for one in context.meta()["items"]] == ["Style"]
    assert len(context.id) == 16


def test_content_is_left_out_where_it_is_not_captured(gpt: openai.OpenAI) -> None:
    """Texts and entities; ids, numbers and reasons stay."""
    with record(capture_content=False) as recorded, turnspan.agent("wiki"):
        with turnspan.context_assembly("query", entities=["Ada"]) as context:
            context.keep("Cabo Norte", text=PAGE, section="encyclopedia")
            context.assembled(PROMPT)
        with context.attached():
            ask(gpt, PROMPT)
    row = assembly(recorded)
    assert (row.context_hash, row.entities, row.used) == (NO_HASH, [], 35)
    (item,) = items(recorded)
    assert (item.item_id, item.content_hash, item.tokens) == ("Cabo Norte", NO_HASH, 35)
    assert recorded.rows(Definition) == []
    (call,) = recorded.rows(LlmCall)
    assert (call.context_assembled, used_by(call)) == (NO_HASH, context.id)


def test_every_text_is_redacted(gpt: openai.OpenAI) -> None:
    """By the application's hook, and by the masks; two ids that become one stay two."""
    secret = "sk-ant-api03-" + "a1B2" * 23 + "-abcdefAA"
    seen: set[str] = set()

    def hook(text: str, where: str) -> str:
        seen.add(where)
        return text.replace("Edith", "[name]").replace("Ingrid", "[name]")

    with record(redact=hook) as recorded, turnspan.agent("wiki"):
        with turnspan.context_assembly("for Edith", entities=["Edith"]) as context:
            with context.step("Edith's step"):
                context.keep("Edith", text=f"Edith has {secret}.", section="Edith", source="Edith")
            context.drop("Ingrid", reason="Ingrid")
            context.assembled(f"Edith has {secret}, and so on and so on.")
        ask(gpt, f"Edith has {secret}, and so on and so on.")
    row = assembly(recorded)
    said = repr((row, items(recorded), recorded.rows(Definition), recorded.rows(LlmCall)))
    assert "Edith" not in said and "Ingrid" not in said and secret not in said
    assert [one.item_id for one in items(recorded)] == ["[name]", "[name]#2"]
    assert recorded.rows(LlmCall)[0].context_assembled == row.context_hash != NO_HASH
    assert {"context", "context:id", "context:section", "context:source", "context:reason",
            "context:entity", "context:step", "context:task"} <= seen  # fmt: skip


def test_an_exception_goes_on_and_is_recorded(recorded: Recorded) -> None:
    """With what had been done until then."""
    with (
        pytest.raises(KeyError),
        turnspan.context_assembly("query") as context,
        context.step("fetch"),
    ):
        context.consider("Cabo Norte", text=PAGE)
        raise KeyError("no such page")
    row = assembly(recorded)
    assert (row.status, row.error_type, row.step_errors) == ("final", "KeyError", ["KeyError"])
    assert recorded.span(name="context_assembly query").status == "ERROR"
    assert [one.item_id for one in items(recorded)] == ["Cabo Norte"]


def test_while_it_runs_it_is_running(recorded: Recorded) -> None:
    """A row from the beginning, which the final one replaces."""
    with turnspan.context_assembly("query", budget=7):
        row = assembly(recorded)
        assert (row.status, row.budget, row.duration) == ("running", 7, 0.0)
    assert assembly(recorded).status == "final"


def test_nested_ones_are_each_their_own(recorded: Recorded) -> None:
    """The spans say which was inside which; one object may be entered again inside itself."""
    again = turnspan.context_assembly("inner")
    with turnspan.context_assembly("outer") as outer, again as one, again as two:
        outer.keep("a", text="A.")
        one.keep("b", text="B.")
        two.keep("c", text="C.")
    found = {row.assembly_id: row for row in recorded.rows(ContextAssemblyRow)}
    assert found[one.id].parent_span_id == outer.id
    assert found[two.id].parent_span_id == one.id
    assert {(item.assembly_id, item.item_id) for item in items(recorded)} == {
        (outer.id, "a"),
        (one.id, "b"),
        (two.id, "c"),
    }


def test_a_recorder_of_its_own_records_its_own(recorded: Recorded) -> None:
    """Steps and items go where the assembly goes."""
    judge = turnspan.Recorder()
    with record(judge) as judged:
        with judge.context_assembly("judge") as context, context.step("read"):
            context.keep("a", text="A.")
        with turnspan.context_assembly("other"):
            pass
    assert assembly(judged).task_type == "judge"
    assert judged.span(name="read").parent_id == context.id
    assert [one.item_id for one in items(judged)] == ["a"]
    assert assembly(recorded).task_type == "other"


def test_threads_and_tasks_add_to_one_and_have_their_own(recorded: Recorded) -> None:
    """Nothing is lost, and nothing gets into another's."""

    async def own(number: int) -> str:
        async with turnspan.context_assembly(f"task {number}") as context:
            async with context.step("wait"):
                await asyncio.sleep(0)
            context.keep(str(number))
            async with context.attached():
                await asyncio.sleep(0)
        return context.id

    async def several() -> list[str]:
        return await asyncio.gather(*(own(number) for number in range(20)))

    ids = asyncio.run(several())
    with turnspan.context_assembly("shared") as context, ThreadPoolExecutor(8) as pool:
        list(pool.map(context.consider, map(str, range(500))))
    found = {(row.assembly_id, row.item_id) for row in items(recorded)}
    assert found == {(ids[n], str(n)) for n in range(20)} | {
        (context.id, str(n)) for n in range(500)
    }


@pytest.mark.tests_internal_errors
def test_misuse_is_counted_and_not_raised(recorded: Recorded) -> None:
    """Values that are no numbers are none; what cannot be looked at costs itself; what comes after
    the end is told."""

    class Hostile:
        def __str__(self) -> str:
            raise RuntimeError("no")

        def __float__(self) -> float:
            raise RuntimeError("no")

        def __iter__(self) -> Any:
            raise RuntimeError("no")

    hostile: Any = Hostile()
    with turnspan.context_assembly(hostile, budget=hostile, entities=hostile) as context:
        context.consider("numbers", tokens=-1, score=float("inf"), hop=True)
        context.consider(hostile, text=hostile, tokens=hostile)
        context.set(entities=hostile)
        context.keep("never considered")
        context.drop("neither", reason=hostile)
        context.bypass(hostile)
        context.assembled(hostile)
        with context.step(hostile):
            pass
    context.keep("late")
    context.assembled("late")
    told = errors.counts()
    assert told["context.late"] == 2 and told["context.add"] == 2 and told["context.arguments"] == 1
    errors.reset()
    row = assembly(recorded)
    assert (row.task_type, row.budget, row.step_names, row.bypassed) == (
        "unknown",
        None,
        ["step"],
        True,
    )
    assert [(one.item_id, one.kept, one.tokens, one.score, one.hop) for one in items(recorded)] == [
        ("never considered", True, None, None, None),
        ("numbers", False, None, None, None),
        ("neither", False, None, None, None),
    ]


def test_more_items_than_there_may_be_are_counted(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An assembly in an endless loop takes no endless memory."""
    monkeypatch.setattr(context_blocks, "MAX_NOTES", 3)
    with turnspan.context_assembly() as context:
        for number in range(5):
            context.consider(str(number))
    assert len(items(recorded)) == 3
    assert default.stand_in is not None
    assert default.stand_in.content.dropped["context_items_full"] == 2


def test_what_the_application_changes_later_does_not_show(recorded: Recorded) -> None:
    """A list of entities is copied."""
    entities = ["a"]
    with turnspan.context_assembly(entities=entities) as context:
        entities.append("b")
        context.set(entities=entities)
        entities.clear()
    assert assembly(recorded).entities == ["a", "b"]


def test_a_forked_child_lands_nothing_of_its_parents(recorded: Recorded) -> None:
    """It unwinds the block without another record of it."""
    child = 0
    with turnspan.context_assembly("query") as context:
        context.keep("before")
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            context.keep("after")
    if not child:
        os._exit(0)
    assert [one.item_id for one in items(recorded)] == ["before", "after"]


def test_a_step_left_running_by_a_thread_counts_until_the_end(recorded: Recorded) -> None:
    """Its duration is that of the rest of the assembly."""
    go_on, begun = threading.Event(), threading.Event()

    def work(context: turnspan.ContextAssembly) -> None:
        with context.step("slow"):
            begun.set()
            go_on.wait(20)

    with turnspan.context_assembly() as context:
        thread = threading.Thread(target=work, args=(context,))
        thread.start()
        begun.wait(20)
    row = assembly(recorded)
    go_on.set()
    thread.join()
    assert 0 < row.step_durations[0] <= row.duration


def test_a_text_without_a_count_is_estimated() -> None:
    """A token for four letters, rounded up."""
    assert [assemblies.estimate("x" * length) for length in (0, 1, 4, 5)] == [0, 1, 1, 2]
