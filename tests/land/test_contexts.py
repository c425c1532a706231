"""Context assemblies land, and are read back with their items, steps, texts and calls."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from support.landing import insert
from support.rows import T0, turn
from support.shared import REPOSITORY
from turnspan.testing import ModelServer
from turnspan_clickhouse.rows.tables import ContextAssemblyRow
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.contexts import AssembledContext, contexts
from turnspan_records.detail import detail
from turnspan_records.lookup import RecordRef, find

pytestmark = [pytest.mark.with_schema, pytest.mark.both_kinds(False)]

PAGE = "The lighthouse of Cabo Norte was lit in 1887. " * 3
TIDES = "Tides at the cape reach four metres. " * 3


@pytest.fixture
def recording(store_dsn: Dsn) -> Iterator[None]:
    """The application records into the store."""
    with open_store(store_dsn) as opened:
        migrate(opened)
    turnspan.configure(
        project="wiki",
        store=str(store_dsn),
        exporters=["turnspan"],
        tracer_provider=TracerProvider(),
    )
    yield
    turnspan.shutdown()


@pytest.fixture
def gpt() -> Iterator[openai.OpenAI]:
    turnspan.instrument()
    with (
        ModelServer(lambda _: "In 1887.") as server,
        openai.OpenAI(base_url=server.url, api_key="any", max_retries=0) as client,
    ):
        yield client
    turnspan.uninstrument()


def landed(dsn: Dsn) -> Store:
    opened = open_store(dsn)
    migrate(opened)
    ship(opened, spool=Spool(dsn.spool))
    return opened


def ask(client: openai.OpenAI, system: str) -> None:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": "When?"}]
    client.chat.completions.create(model="gpt-4o", messages=messages)  # type: ignore[arg-type]


def wiki(client: openai.OpenAI) -> tuple[str, str]:
    """A turn with an assembly, as an application has it; their ids."""
    with turnspan.session("s-1"), turnspan.agent("wiki") as running:
        with turnspan.context_assembly("query", budget=100, entities=["Cabo Norte"]) as context:
            with context.step("fetch"):
                context.consider("Cabo Norte", text=PAGE, section="encyclopedia", score=0.75)
                context.consider("Tides", text=TIDES, section="encyclopedia", hop=1)
            context.keep("Cabo Norte")
            context.drop("Tides", reason="budget")
            context.assembled(f"## Encyclopedia\n{PAGE}")
        ask(client, f"## Encyclopedia\n{PAGE}")
        ask(client, "Without it.")
    return context.id, running.id


def one(store: Store, id_: str) -> AssembledContext:
    (found,) = find(store, id_)
    (context,) = contexts(store, found)
    return context


def test_an_assembly_is_read_back_by_any_id(
    store_dsn: Dsn, recording: None, gpt: openai.OpenAI
) -> None:
    """Its own, its turn's, its session's, its trace's, a call's that used it; no other call's."""
    assembly_id, turn_id = wiki(gpt)
    wiki(gpt)  # another turn of the session
    assert turnspan.flush(local=True).ok
    with landed(store_dsn) as store:
        context = one(store, assembly_id)
        assert one(store, turn_id) == context
        of_session = contexts(store, find(store, "s-1")[0])
        assert (of_session[0], len(of_session)) == (context, 2)
        assert one(store, context.trace_id) == context
        assert one(store, context.id[:9]) == context
        (call,) = context.calls
        assert one(store, call) == context
        calls = store.query(
            "SELECT span_id, hex(context_assembled) != repeat('0', 32) FROM llm_call"
            f" WHERE turn_id = '{turn_id}' ORDER BY start_time"
        ).rows
        assert [tuple(row) for row in calls] == [(call, True), (calls[1][0], False)]
        assert contexts(store, find(store, str(calls[1][0]))[0]) == []
        full = store.query(
            f"SELECT context_assembled FROM llm_call_full WHERE span_id = '{call}'"
        ).rows
        assert full == [(context.text,)]

        assert (context.project, context.session_id, context.turn_id) == ("wiki", "s-1", turn_id)
        assert (context.status, context.task_type, context.entities) == (
            "final",
            "query",
            ["Cabo Norte"],
        )
        assert (context.budget, context.used, context.used_estimated) == (100, 35, True)
        assert context.text == f"## Encyclopedia\n{PAGE}"
        assert [(step.name, step.error_type) for step in context.steps] == [("fetch", "")]
        assert 0 < context.steps[0].duration < 60
        assert [(i.id, i.kept, i.reason, i.score, i.hop, i.text) for i in context.items] == [
            ("Cabo Norte", True, "", 0.75, None, PAGE),
            ("Tides", False, "budget", None, 1, TIDES),
        ]
        (section,) = context.sections
        assert sum(one.tokens for one in context.sections) == context.used
        assert (section.name, section.kept, section.tokens) == ("encyclopedia", 1, 35)
        assert (section.dropped, section.dropped_tokens) == (1, 28)
        texts = store.query("SELECT kind, count() FROM definition GROUP BY kind ORDER BY kind").rows
        assert ("context_item", 2) in texts and ("context_assembled", 1) in texts

        shown = detail(store, find(store, assembly_id)[0])
        assert shown.facts["budget"] == 100 and shown.texts["text"] == context.text
        assert [row[0] for row in shown.tables["items"].rows] == ["Cabo Norte", "Tides"]


def test_undecorated_code_is_joined_by_the_text(
    store_dsn: Dsn, recording: None, gpt: openai.OpenAI
) -> None:
    """No turn and no session in common: the call still leads to the assembly, and back."""
    with turnspan.context_assembly("query") as context:
        context.assembled(PAGE)
    ask(gpt, PAGE)
    assert turnspan.flush(local=True).ok
    with landed(store_dsn) as store:
        loaded = one(store, context.id)
        assert (loaded.session_id, loaded.turn_id, loaded.text) == ("", "", PAGE)
        (call,) = loaded.calls
        assert one(store, call) == loaded
        (derived,) = store.query("SELECT turn_id FROM turn_summary").rows
        (found,) = [each for each in find(store, str(derived[0])) if each.kind == "turn"]
        assert contexts(store, found) == [loaded]


def test_one_that_was_killed_is_interrupted_with_its_turn(store: Store) -> None:
    """The row from its beginning is all there is of it."""
    common: dict[str, Any] = {"project": "shop", "session_id": "s1", "written_at": T0}
    insert(
        store,
        turn("a" * 16, status="interrupted", stop_reason=""),
        ContextAssemblyRow(
            **common, turn_id="a" * 16, assembly_id="b" * 16, start_time=T0, status="running"
        ),
        ContextAssemblyRow(
            **common, turn_id="c" * 16, assembly_id="d" * 16, start_time=T0, status="running"
        ),
    )
    assert one(store, "b" * 16).status == "interrupted"
    assert one(store, "d" * 16).status == "running"
    assert contexts(store, RecordRef("turn", "e" * 16, "shop", "s1", "", "e" * 16)) == []


KILLED = """
import os, signal, sys, time
import turnspan
turnspan.configure(service_name="wiki", store=sys.argv[1], flush_interval=0.05)
with turnspan.agent("wiki"):
    with turnspan.context_assembly("query", budget=7) as context:
        context.keep("a", text="A.")
        time.sleep(1.5)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_inside_leaves_a_row(embedded_dsn: Dsn) -> None:
    """From its beginning; whoever ships next says that its turn was interrupted."""
    run = [sys.executable, "-c", KILLED, str(embedded_dsn)]
    assert subprocess.run(run, check=False, timeout=60, capture_output=True).returncode == -9
    with landed(embedded_dsn) as store:
        (row,) = store.query("SELECT assembly_id, status, budget FROM context_assembly").rows
        assert tuple(row[1:]) == ("running", 7)
        (turns,) = store.query("SELECT status FROM turn_summary").rows
        assert one(store, str(row[0])).status == turns[0] == "interrupted"


def test_the_example_of_the_page(embedded_dsn: Dsn, tmp_path: Path) -> None:
    """It runs as it stands, and is recorded as the page says."""
    text = (REPOSITORY / "docs" / "context-assembly.md").read_text(encoding="utf-8")
    script = tmp_path / "example.py"
    script.write_text(text.split("```python\n", 1)[1].split("```\n", 1)[0], encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | {"TURNSPAN_STORE": str(embedded_dsn)},
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("In 1887.\n", "", 0)
    with landed(embedded_dsn) as store:
        (row,) = store.query("SELECT assembly_id FROM context_assembly").rows
        context = one(store, str(row[0]))
    assert [(item.id, item.kept, item.reason) for item in context.items] == [
        ("Cabo Norte", True, ""),
        ("Tides", False, "budget"),
    ]
    assert [step.name for step in context.steps] == ["search", "trim"]
