"""The frame of imports: what every kind of log is imported by."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import pytest

from turnspan import semconv
from turnspan.tracing.content_store import Judgment
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.importing import ids
from turnspan_records.importing.running import import_log, position_of
from turnspan_records.importing.sources import Part, Problem, SourceLogError
from turnspan_records.importing.spans import resource_of, scope_of, span_of

BEGAN = 1_500_000_000 * 10**9  # further back than a receiver takes
WEEK = 7 * 86_400 * 10**9
PROJECT = "old logs"
SCOPE = scope_of("made")
RESOURCE = resource_of("made")


def words(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def conversation(number: int) -> Part:
    """Two calls of a conversation, with a judgment of the first."""
    part = Part(
        position=str(number), seen=Counter({("talk", "calls"): 2, ("note", "judgments"): 1})
    )
    for place in range(2):
        asked = [{"role": "user", "parts": [{"type": "text", "content": f"ask {n} of {number}"}]}
                 for n in range(place + 1)]  # fmt: skip
        start = BEGAN + number * WEEK + place * 10**9
        part.spans.append(
            span_of(
                "chat made-1",
                trace_id=ids.trace_id("made", number),
                span_id=ids.span_id("made", number, place),
                start_time=start,
                end_time=start + 10**8,
                attributes={
                    semconv.OPERATION_NAME: "chat",
                    semconv.REQUEST_MODEL: "made-1",
                    semconv.CONVERSATION_ID: f"talk {number}",
                    semconv.INPUT_MESSAGES: json.dumps(asked),
                    semconv.OUTPUT_MESSAGES: words("assistant", f"answer {place} of {number}"),
                },
                resource=RESOURCE,
                scope=SCOPE,
            )
        )
    part.facts.append(
        Judgment(
            resource=RESOURCE.attributes,
            subject_kind="call",
            subject_id=f"{ids.span_id('made', number, 0):016x}",
            kind="comment",
            annotation_id=ids.hex_id("made", number),
            comment="fine",
            author="import",
            created_at=BEGAN,
        )
    )
    return part


@dataclass
class Made:
    """A log of so many conversations, which can stop in the middle."""

    conversations: int
    stops_at: int | None = None
    kind: str = "made"
    identity: str = "the one"

    def total(self, after: str) -> int:
        return 3 * (self.conversations - int(after or "0"))

    def parts(self, after: str) -> Iterator[Part]:
        for number in range(int(after or "0") + 1, self.conversations + 1):
            if number == self.stops_at:
                raise SourceLogError("The source went away.")
            yield conversation(number)


Run = Callable[[Made], Any]


@pytest.fixture
def run(store: Store) -> Run:
    def opened() -> AbstractContextManager[Store]:
        return nullcontext(store)

    return lambda log: import_log(opened, Spool(store.dsn.spool), log, project=PROJECT)


def tables(store: Store) -> dict[str, Any]:
    return {
        table: store.query(
            f"SELECT * EXCEPT (written_at, {more}) FROM {table} FINAL ORDER BY ALL"
        ).rows
        for table, more in (
            ("llm_call", "writer"), ("turn_summary", "writer"), ("span", "writer"),
            ("message", "first_seen"), ("annotation", "created_at"),
        )
    }  # fmt: skip


def test_what_a_log_says_is_in_the_store(store: Store, run: Run) -> None:
    report = run(Made(130))

    assert report.seen == {("talk", "calls"): 260, ("note", "judgments"): 130}
    assert (report.problem_count, report.waiting, report.resumed) == (0, "", False)
    found = store.query(
        "SELECT count(), uniqExact(session_id), uniqExact(toMonday(start_time)), any(project),"
        " any(scope_name), sum(length(input_messages)), countIf(request_model = 'made-1')"
        " FROM llm_call"
    ).rows
    assert found == [(260, 130, 130, PROJECT, "turnspan.import.made", 390, 260)]
    assert store.query("SELECT count() FROM turn_summary").rows == [(260,)]
    assert store.query("SELECT count(), any(comment) FROM annotation").rows == [(130, "fine")]


def test_an_import_that_stopped_goes_on_and_comes_to_the_same(store: Store, run: Run) -> None:
    run(Made(6))
    at_once = tables(store)
    for table in (*at_once, "import_position", "definition"):
        store.command(f"TRUNCATE TABLE {table}")

    with pytest.raises(SourceLogError, match="went away"):
        run(Made(6, stops_at=4))
    assert position_of(store, "made", "the one", PROJECT) == ("3", 9)
    rest = run(Made(6))

    assert rest.resumed
    assert rest.source_rows == 9
    assert tables(store) == at_once
    assert position_of(store, "made", "the one", PROJECT) == ("6", 18)


def test_what_is_imported_again_takes_its_own_place(store: Store, run: Run) -> None:
    run(Made(3))
    before = tables(store)

    assert run(Made(3)).source_rows == 0  # nothing new
    import_log(
        lambda: nullcontext(store), Spool(store.dsn.spool), Made(3), project=PROJECT, again=True
    )

    assert tables(store) == before


def test_a_report_names_so_many_problems_and_counts_the_rest(run: Run) -> None:
    class Odd(Made):
        def parts(self, after: str) -> Iterator[Part]:
            del after
            yield Part(problems=[Problem(f"row {n}", "odd") for n in range(1_500)])

    report = run(Odd(1))

    assert (len(report.problems), report.problem_count) == (1_000, 1_500)
